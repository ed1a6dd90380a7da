import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
const EXAMPLES = 60;
const ATTEMPTS = 4;
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202ejavascript:alert(1)`;
const LONG = 7_000_000;

let place: DashboardPlace;
/** A pushed run of `EXAMPLES` with `ATTEMPTS` each: example 7 lacks its last attempt, and the first attempt at every tenth failed. */
let big = "";

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  const samples = Array.from({ length: EXAMPLES * ATTEMPTS }, (_, row) => sample(Math.floor(row / ATTEMPTS), row % ATTEMPTS));
  big = await push(
    "big",
    samples.filter(({ example_id, attempt }) => example_id !== 7 || attempt < ATTEMPTS - 1),
  );
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

const sample = (example_id: number, attempt: number) => ({
  ...{ example_id, attempt, answer: String(example_id * 2), info: { level: `level ${example_id % 3}` } },
  prompt: [{ role: "user", content: `What is twice ${example_id}?` }],
  completion: [{ role: "assistant", content: `It is ${example_id * 2}, by attempt ${attempt}.` }],
  ...{ reward: example_id / 100, metrics: { exact: attempt % 2, "length ratio": (example_id * ATTEMPTS + attempt) / 1_000 } },
  ...(example_id % 10 === 0 && attempt === 0 ? { error: { error: "timeout", error_chain_repr: "it took too long", error_chain_str: "it took too long" } } : {}),
});

async function push(name: string, samples: readonly object[]): Promise<string> {
  const body = { name, environments: [{ id: "elsewhere" }], model_name: "m" };
  const { evaluation_id: id } = await place.ask<{ evaluation_id: string }>("/evaluations/", { method: "POST", body });
  if (samples.length > 0) await place.ask(`/evaluations/${id}/samples`, { method: "POST", body: { samples } });
  await place.ask(`/evaluations/${id}/finalize`, { method: "POST", body: {} });
  await place.settled(id);
  return id;
}

/** What stands in a column of the rows that are drawn, from the first row of the list on. */
async function column({ page }: OpenedDashboard, title: string): Promise<readonly string[]> {
  const titles = (await page.getByRole("columnheader").allTextContents()).map((text) => text.replace(/ [↑↓]$/, ""));
  const rows = await page.evaluate<readonly (readonly [number, ...string[]])[]>(
    `[...document.querySelectorAll(".grid-rows [role=row]")].map((row) => [Number(row.getAttribute("aria-rowindex")), ...[...row.children].map((cell) => cell.textContent ?? "")])`,
  );
  return rows.toSorted(([a], [b]) => Number(a) - Number(b)).map((cells) => String(cells[1 + titles.indexOf(title)]));
}
const examples = (dashboard: OpenedDashboard): Promise<readonly string[]> => column(dashboard, "Example");
const count = ({ page }: OpenedDashboard): Promise<string> => page.locator(".page-head .count").textContent().then(String);
const parameter = ({ page }: OpenedDashboard, name: string): string | null => new URL(page.url()).searchParams.get(name);
const active = ({ page }: OpenedDashboard): Promise<string> =>
  page.evaluate<string>(
    `document.getElementById(document.activeElement?.getAttribute("aria-activedescendant") ?? "")?.closest("[role=row]")?.firstChild?.textContent ?? "none"`,
  );

describe.skipIf(browserPath === null)(`the page of samples ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };
  const open = async (query = "", id = big, options = {}): Promise<OpenedDashboard> => await place.open(`evaluations/${id}/samples${query}`, options);

  it("shows every rollout with its texts, numbers and errors, and what is missing", () =>
    closing(async () => {
      const dashboard = await open();
      await expect.poll(() => count(dashboard)).toBe(`${EXAMPLES * ATTEMPTS - 1} rollouts (1 missing)`);
      expect((await examples(dashboard)).slice(0, 5)).toEqual(["0 · 0", "0 · 1", "0 · 2", "0 · 3", "1 · 0"]);
      await expect.poll(() => column(dashboard, "Prompt").then(([first]) => first)).toBe("What is twice 0?");
      expect((await column(dashboard, "Completion"))[5]).toBe("It is 2, by attempt 1.");
      expect((await column(dashboard, "Answer"))[4]).toBe("2");
      expect((await column(dashboard, "Error")).slice(0, 2)).toEqual(["✕ environment_error", ""]);
      expect((await column(dashboard, "exact"))[1]).toMatch(/1$/);
      // Both rows say 0; one of them was never scored.
      expect((await column(dashboard, "Reward")).slice(0, 2)).toEqual(["–", expect.stringMatching(/0$/)]);
      expect((await column(dashboard, "Turns"))[1]).toBe("1");
      const grid = dashboard.page.getByRole("grid", { name: "Rollouts" });
      expect(await grid.getAttribute("aria-rowcount")).toBe(String(EXAMPLES * ATTEMPTS));
      expect(await dashboard.page.title()).toBe("Samples of big · Edgewise");
    }));

  it("filters by numbers, errors, texts and info, says how many it found, and keeps the filter in the address", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      const filter = page.getByRole("combobox", { name: "Filter" });
      const found = (text: string, says: string): Promise<void> => filter.fill(text).then(() => expect.poll(() => count(dashboard)).toBe(says));
      const all = `${EXAMPLES * ATTEMPTS - 1} rollouts (1 missing)`;
      await found("error = any", `6 found of ${all}`);
      await found("reward >= 0.5 and exact = 1", `20 found of ${all}`);
      await found('"twice 17"', `4 found of ${all}`);
      await found('info.level = "level 0" reward < 0.1', `16 found of ${all}`);
      await found("not completion ~ attempt exact = 0", `0 found of ${all}`);
      await page.getByText("No rollout is like that.").waitFor();
      expect(parameter(dashboard, "filter")).toBe("not completion ~ attempt exact = 0");
      await filter.fill("answer = 34");
      await expect.poll(() => examples(dashboard)).toEqual(["17 · 0", "17 · 1", "17 · 2", "17 · 3"]);
      await page.reload();
      await expect.poll(() => examples(dashboard)).toEqual(["17 · 0", "17 · 1", "17 · 2", "17 · 3"]);
    }));

  it("says where a filter is wrong and what may stand there, and completes what is typed", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await expect.poll(() => count(dashboard)).toMatch(/rollouts/);
      await page.keyboard.press("/");
      await page.keyboard.type("rewrd > 1");
      await page.getByText("At character 1: “rewrd” is no column of this run.").waitFor();
      expect(await page.locator(".filter-fault").textContent()).toContain('"length ratio"');
      await page.getByRole("combobox", { name: "Filter" }).fill("");
      await page.keyboard.type("len");
      await page.getByRole("option", { name: '"length ratio"' }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.type("< 0.005 and err");
      await page.getByRole("option", { name: "error" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.keyboard.type("= no");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      expect(await page.getByRole("combobox", { name: "Filter" }).inputValue()).toBe('"length ratio" < 0.005 and error = none ');
      await expect.poll(() => examples(dashboard)).toEqual(["0 · 1", "0 · 2", "0 · 3", "1 · 0"]);
      await page.getByRole("combobox", { name: "Filter" }).fill("info.");
      await page.getByRole("option", { name: "info.level" }).waitFor();
    }));

  it("sorts by any number, and shows what is chosen in tall and compact rows; the way back undoes it", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await page.getByRole("button", { name: "length ratio" }).click();
      await expect.poll(() => examples(dashboard).then(([first]) => first)).toBe(`${EXAMPLES - 1} · 3`);
      expect(await page.getByRole("columnheader", { name: "length ratio" }).getAttribute("aria-sort")).toBe("descending");
      await page.getByRole("button", { name: "length ratio" }).click();
      await expect.poll(() => examples(dashboard).then(([first]) => first)).toBe("0 · 0");
      await page.goBack();
      await expect.poll(() => examples(dashboard).then(([first]) => first)).toBe(`${EXAMPLES - 1} · 3`);
      const height = (): Promise<number> => page.evaluate<number>(`document.querySelector(".grid-rows [role=row]").getBoundingClientRect().height`);
      expect(await height()).toBe(30);
      await page.getByRole("button", { name: "Tall rows" }).click();
      await expect.poll(height).toBe(88);
      await page.keyboard.press("c");
      const picker = page.getByRole("dialog", { name: "Columns" });
      await picker.getByRole("checkbox", { name: "Prompt" }).uncheck();
      await picker.getByRole("checkbox", { name: "info.level" }).check();
      await page.keyboard.press("Escape");
      await picker.waitFor({ state: "detached" });
      await expect.poll(() => column(dashboard, "info.level").then(([first]) => first)).toBe(`level ${(EXAMPLES - 1) % 3}`);
      expect(await page.getByRole("columnheader").allTextContents()).not.toContain("Prompt");
      expect(parameter(dashboard, "cols")).toMatch(/info\.level$/);
    }));

  it("shows the attempts at one example beside each other, a missing one as such", () =>
    closing(async () => {
      const dashboard = await open("?filter=example+%3E%3D+6+example+%3C+9");
      const { page } = dashboard;
      await expect.poll(() => examples(dashboard)).toHaveLength(11);
      await page.keyboard.press("f");
      await expect.poll(() => examples(dashboard)).toEqual(["6", "7", "8"]);
      expect(await page.getByRole("columnheader").allTextContents()).toEqual(["Example ↑", "Prompt", "Attempt 0", "Attempt 1", "Attempt 2", "Attempt 3"]);
      expect((await column(dashboard, "Attempt 3")).map((text) => text.replace(/^[▁▂▄▆█]/, ""))).toEqual(["0.060", "–", "0.080"]);
      await page.keyboard.press("t");
      await page.getByText("It is 14, by attempt 2.").waitFor();
      await page.keyboard.press("j");
      for (let at = 0; at < 4; at++) await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/samples\/6\/2\?/);
    }));

  it("is used by keys alone, opens a rollout with the list in its address, and comes back to where it was", () =>
    closing(async () => {
      const dashboard = await open("?filter=reward+%3C+0.5&sort=reward&order=desc");
      const { page } = dashboard;
      await expect.poll(() => examples(dashboard).then(([first]) => first)).toBe("49 · 0");
      await page.keyboard.press("Shift+G");
      await expect.poll(() => active(dashboard)).toBe("0 · 3");
      await page.keyboard.press("p");
      await expect.poll(() => active(dashboard)).toBe("0 · 0");
      await page.keyboard.press("p");
      await expect.poll(() => active(dashboard)).toBe("10 · 0");
      await page.keyboard.press("k");
      await page.keyboard.press("x");
      await page.getByText("1 row marked.").waitFor();
      await expect.poll(() => active(dashboard)).toBe("11 · 3");
      const scrolled = (): Promise<number> => page.evaluate<number>(`document.querySelector("[role=grid]").scrollTop`);
      const top = await scrolled();
      expect(top).toBeGreaterThan(1_000);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/samples\/11\/3\?/);
      expect([parameter(dashboard, "filter"), parameter(dashboard, "sort"), parameter(dashboard, "order")]).toEqual(["reward < 0.5", "reward", "desc"]);
      await page.goBack();
      await expect.poll(() => active(dashboard)).toBe("11 · 3");
      expect(await scrolled()).toBe(top);
      await page.reload();
      await expect.poll(() => active(dashboard)).toBe("11 · 3");
      await page.keyboard.press("g");
      await page.keyboard.press("g");
      await expect.poll(() => active(dashboard)).toBe("49 · 0");
      await page.keyboard.press("?");
      expect(await page.getByRole("dialog", { name: "Keys" }).textContent()).toContain("Attempts at an example beside each other");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await page.waitForURL(new RegExp(`/dashboard/evaluations/${big}$`));
    }));

  it("grows with a run that goes on, keeps the row it is at, and says of an empty run that it is", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 1_000 });
      const id = await place.create({ name: "growing", examples: 10, rollouts: 2 });
      const dashboard = await open("", id);
      const { page } = dashboard;
      await expect.poll(() => count(dashboard).catch(() => ""), { timeout: PATIENCE_MS }).toMatch(/^[1-9]\d* rollouts? of 20/);
      await page.evaluate("window.sameDocument = true");
      await page.keyboard.press("j");
      const at = await active(dashboard);
      place.model.setScript({ answer: "reverse" });
      await expect.poll(() => count(dashboard), { timeout: PATIENCE_MS }).toBe("20 rollouts");
      expect([await active(dashboard), await page.evaluate("window.sameDocument")]).toEqual([at, true]);
      await expect.poll(() => column(dashboard, "Completion").then((all) => all.filter((text) => text.length > 1).length)).toBe(20);
      const empty = await open("", await push("empty", []));
      await empty.page.getByText("This run has no rollouts.").waitFor();
      expect(await barriersIn(empty.page)).toEqual([]);
    }));

  it("runs nothing of what rows, metrics and info say, and stays usable with seven megabytes in one", () =>
    closing(async () => {
      const samples = [0, 1].map((example_id) => ({
        ...{ example_id: `${HOSTILE} ${example_id}`, answer: HOSTILE, reward: example_id, metrics: { [HOSTILE]: example_id }, info: { [HOSTILE]: HOSTILE } },
        prompt: [{ role: "user", content: HOSTILE }],
        completion: [{ role: "assistant", content: example_id === 0 ? HOSTILE.repeat(LONG / HOSTILE.length) : HOSTILE }],
        error: { error: HOSTILE, error_chain_repr: HOSTILE, error_chain_str: HOSTILE },
      }));
      const id = await push(HOSTILE, samples);
      const dashboard = await open("?tall=1", id);
      const { page } = dashboard;
      await expect.poll(() => column(dashboard, "Prompt").then(([first]) => first), { timeout: PATIENCE_MS }).toContain("<script>");
      expect((await column(dashboard, "Completion"))[0]?.length).toBeLessThan(1_000);
      await page.keyboard.press("c");
      await page.getByRole("dialog", { name: "Columns" }).getByRole("checkbox", { name: "info.<img" }).check();
      await page.keyboard.press("Escape");
      await expect.poll(() => page.getByRole("columnheader", { name: "info.<img" }).count()).toBe(1);
      await page.keyboard.press("/");
      await page.keyboard.type("imgsrc");
      await page.getByRole("combobox", { name: "Filter" }).fill("onerror");
      await page.locator("[role=option]").first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.type("= 1");
      await expect.poll(() => count(dashboard)).toBe("1 found of 2 rollouts");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.evaluate<string>("document.body.innerText")).not.toContain("\u202e");
      expect(await page.title()).toContain("<script>");
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1_280);
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const query = width === 820 ? "?attempts=1&tall=1" : width === 390 ? "?filter=rewrd+%3E+1" : "?at=0/0&sort=reward";
          const { page } = await open(query, big, { colorScheme, viewport: { width, height: 800 } });
          await page
            .locator(width === 390 ? ".filter-fault" : ".grid-rows .one-line, .grid-rows .some-lines")
            .first()
            .waitFor();
          expect(await barriersIn(page), `${colorScheme} ${width}`).toEqual([]);
          expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${width}`).toBeLessThanOrEqual(width);
        }
    }));

  it("says what a refused question was refused for, and tries again", () =>
    closing(async () => {
      const dashboard = await place.open("nowhere", {}, /503|404/);
      const { page } = dashboard;
      await page.goto(`${place.service}/dashboard/evaluations/00000000/samples`);
      await page.getByRole("alert").waitFor();
      await page.route("**/columns*", (route) => route.fulfill({ status: 503, json: { detail: "It rests.", code: "internal", hint: "Wait." } }));
      await page.goto(`${place.service}/dashboard/evaluations/${big}/samples`);
      await page.getByRole("alert").getByText("It rests.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.unroute("**/columns*");
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => count(dashboard)).toMatch(/^239 rollouts/);
    }));
});
