import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixed } from "../../../src/report/text/format.ts";
import { intervalText } from "../../../src/report/statistics/uncertainty.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
/** What somebody may call a run, and a model may write. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202ejavascript:alert(1)`;

interface Answer {
  readonly comparisons: readonly {
    readonly joined: number;
    readonly worse: number;
    readonly metrics: readonly { readonly metric: string; readonly baseline: number; readonly candidate: number; readonly ci95: [number, number] | null }[];
    readonly regressions: readonly { readonly example_id: number }[];
  }[];
}

let place: DashboardPlace;
/** Runs over the same examples. */
let good: string;
let worse: string;
let other: string;
let hostile: string;

const made = async (name: string, script: Parameters<DashboardPlace["model"]["setScript"]>[0]): Promise<string> => {
  place.model.setScript(script);
  const id = await place.create({ name, examples: 12 });
  await place.settled(id);
  return id;
};
const compared = async (...runs: readonly string[]) => {
  const { comparisons } = await place.ask<Answer>("/comparisons", { method: "POST", body: { runs, show: 100 } });
  const [first] = comparisons;
  if (first === undefined) throw new Error("nothing was compared");
  return { ...first, all: comparisons };
};
const open = (query = "", options = {}, expected?: RegExp): Promise<OpenedDashboard> =>
  place.open(`compare${query === "" ? "" : `?${query}`}`, options, expected);
const examples = (page: Page): Promise<string[]> => page.locator("a.example-link").allTextContents();
const focused = (page: Page): Promise<string> => page.evaluate<string>("document.activeElement?.textContent ?? ''");
const parameter = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);
const transcripts = (page: Page) => page.locator(".transcripts");

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  good = await made("good", { answer: "reverse" });
  worse = await made("worse", { answer: "reverse", accuracy: 0.5 });
  other = await made("other", { answer: "reverse", accuracy: 0.8 });
  hostile = await made(HOSTILE, { answer: { text: `${HOSTILE}\n${"long ".repeat(60_000)}` } });
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the page of a comparison ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("is where runs lead that were chosen on the list, with the numbers of the API and what lost most first", () =>
    closing(async () => {
      const { page } = await place.open();
      for (const id of [good, worse]) await page.getByRole("checkbox", { name: `Choose run ${id}` }).check();
      await page.keyboard.press("c");
      await page.waitForURL(/\/dashboard\/compare\?runs=/);
      const told = await compared(good, worse);
      const [reward] = told.metrics;
      if (reward === undefined) throw new Error("no reward");
      const row = page.locator("table.metrics tbody tr").first();
      await row.waitFor();
      const cells = await row.locator("th, td").allTextContents();
      expect(cells.slice(0, 4)).toEqual(["reward", "12", fixed(reward.baseline, 3), fixed(reward.candidate, 3)]);
      expect(cells[4]).toMatch(/^↓ -0\.\d+ worse$/);
      expect(cells[5]).toBe(reward.ci95 === null ? "–" : intervalText(reward.ci95));
      await page.getByText(`joined: ${told.joined} examples`).waitFor();
      await expect.poll(() => examples(page)).toHaveLength(12);
      const regressions = told.regressions.map(({ example_id }) => String(example_id));
      expect(regressions.length).toBe(told.worse);
      expect((await examples(page)).slice(0, told.worse)).toEqual(regressions);
      await page.getByRole("combobox", { name: "Show" }).selectOption("worse");
      await expect.poll(() => examples(page)).toEqual(regressions);
      expect([parameter(page, "only"), parameter(page, "runs")]).toEqual(["worse", `${good},${worse}`]);
      expect(await page.locator(".compare-command code").textContent()).toBe(`npx edgewise compare ${good} ${worse} --show 10`);
    }));

  it("shows both transcripts of an example side by side, marks what differs, and folds what is the same", () =>
    closing(async () => {
      const { page } = await open(`runs=${good},${worse}&only=worse`);
      await page.locator("a.example-link").first().click();
      const shown = transcripts(page);
      await shown.getByText("the same in both").first().waitFor();
      // The attempt that lost: the scripted model answers each as it is drawn.
      const attempts = await shown.getByRole("combobox", { name: "Attempt" }).locator("option").count();
      expect(attempts).toBe(2);
      let marks = 0;
      for (let attempt = 0; attempt < attempts && marks === 0; attempt++) {
        await shown.getByRole("combobox", { name: "Attempt" }).selectOption(String(attempt));
        await shown.locator(".side dd").nth(1).waitFor();
        await shown.locator(".message-pairs [aria-busy=true]").waitFor({ state: "detached" });
        marks = await shown.locator("del, ins").count();
      }
      expect(marks).toBeGreaterThan(0);
      const texts = await shown.locator(".diff-block .side").allTextContents();
      expect(texts[0]).not.toBe(texts[1]);
      const asked = await shown.locator(".message-pairs .side").first().textContent();
      await shown.getByRole("link", { name: "The whole rollout" }).first().click();
      await page.waitForURL(new RegExp(`/dashboard/evaluations/${good}/samples/\\d+/\\d+$`));
      await page.getByText("assistant", { exact: false }).first().waitFor();
      expect(asked).not.toBe("");
    }));

  it("is used by keys alone: rows, regressions, both transcripts, the next example, and back to the row", () =>
    closing(async () => {
      const { page } = await open(`runs=${good},${worse}`);
      const ids = await expect
        .poll(() => examples(page))
        .toHaveLength(12)
        .then(() => examples(page));
      await page.keyboard.press("j");
      await page.keyboard.press("ArrowDown");
      expect(await focused(page)).toBe(ids[1]);
      await page.keyboard.press("k");
      expect(await focused(page)).toBe(ids[0]);
      await page.keyboard.press("n");
      expect(await focused(page)).toBe(ids[1]);
      await page.keyboard.press("p");
      await page.keyboard.press("Enter");
      await transcripts(page)
        .getByRole("heading", { name: `Example ${ids[0]}`, exact: true })
        .waitFor();
      await page.keyboard.press("ArrowRight");
      await transcripts(page)
        .getByRole("heading", { name: `Example ${ids[1]}`, exact: true })
        .waitFor();
      await page.keyboard.press("n");
      await transcripts(page)
        .getByRole("heading", { name: `Example ${ids[2]}`, exact: true })
        .waitFor();
      await page.keyboard.press("ArrowLeft");
      await transcripts(page)
        .getByRole("heading", { name: `Example ${ids[1]}`, exact: true })
        .waitFor();
      expect(parameter(page, "at")).toBe("2");
      await page.keyboard.press("Escape");
      await transcripts(page).waitFor({ state: "detached" });
      expect(await focused(page)).toBe(ids[1]);
      await page.keyboard.press("/");
      expect(await page.evaluate<string>("document.activeElement?.tagName ?? ''")).toBe("SELECT");
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("?");
      expect(await page.getByRole("dialog", { name: "Keys" }).textContent()).toContain("Next regression");
    }));

  it("holds several runs against one baseline in a matrix, whose baseline changes, and which runs are added to and taken from", () =>
    closing(async () => {
      const { page } = await open(`runs=${good},${worse}`);
      await page.getByRole("button", { name: "Add a run" }).click();
      await page.getByLabel("Search runs that have ended").fill("other");
      await page.getByRole("region", { name: "Runs to compare" }).getByRole("button", { name: "other" }).click();
      await page.locator("table.is-matrix").waitFor();
      expect(parameter(page, "runs")).toBe(`${good},${worse},${other}`);
      const told = await compared(good, worse, other);
      const rows = page.locator("table.compared tbody tr");
      await expect.poll(() => rows.nth(2).textContent()).toContain(fixed(told.all[1]?.metrics[0]?.candidate ?? Number.NaN, 3));
      expect(await page.locator("table.is-matrix thead th").allTextContents()).toEqual(["Example", "Baseline", worse, other]);
      await page.keyboard.press("l");
      await expect.poll(() => parameter(page, "against")).toBe(other);
      const ofOther = (await compared(good, other)).regressions.map(({ example_id }) => String(example_id));
      await expect.poll(async () => (await examples(page)).slice(0, ofOther.length)).toEqual(ofOther);
      await page.keyboard.press("h");
      await expect.poll(() => parameter(page, "against")).toBeNull();
      await page.getByRole("button", { name: `Make baseline: run ${worse}` }).click();
      await expect.poll(() => parameter(page, "runs")).toBe(`${worse},${good},${other}`);
      await expect.poll(() => rows.nth(1).textContent()).toMatch(/↑ \+0\.\d+ better/);
      await page.getByRole("button", { name: `Remove run ${other}` }).click();
      await expect.poll(() => parameter(page, "runs")).toBe(`${worse},${good}`);
      await page.goBack();
      await expect.poll(() => parameter(page, "runs")).toBe(`${worse},${good},${other}`);
      await page.keyboard.press("b");
      await expect.poll(() => parameter(page, "runs")).toBe(`${good},${worse},${other}`);
    }));

  it("shows all examples as points, with a table behind them that leads to each", () =>
    closing(async () => {
      const { page } = await open(`runs=${good},${worse}`);
      await page.getByText("Baseline against candidate, by example").click();
      await page.locator(".chart-place canvas").waitFor();
      const { worse: lost } = await compared(good, worse);
      await page.getByText(`${lost} below it less`).waitFor();
      await page.locator(".scatter summary", { hasText: "Table" }).click();
      const link = page.locator(".chart-table a").first();
      const id = await link.textContent();
      await link.click();
      await transcripts(page)
        .getByRole("heading", { name: `Example ${id}`, exact: true })
        .waitFor();
    }));

  it("runs nothing of what a model wrote or a run is called, and stays usable with long texts", () =>
    closing(async () => {
      const { page } = await open(`runs=${hostile},${good}&at=1`);
      const shown = transcripts(page);
      await shown.locator(".message-pairs del").first().waitFor();
      await shown
        .getByRole("button", { name: /more of [\d,]+ characters/ })
        .first()
        .click();
      expect(await shown.locator(".mark").first().textContent()).toBe("\\u{202e}");
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.title()).toBe("Compare · Edgewise");
      expect(await page.evaluate<string>("document.body.innerText")).not.toContain("\u202e");
      expect(await page.locator("table.compared").textContent()).toContain("<script>");
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => parameter(page, "at")).toBe("2");
    }));

  it("says what is missing where there is nothing to compare: no runs, one, one that goes on, one that is gone, others that mean something else", () =>
    closing(async () => {
      const expected = /the server responded with a status of 4\d\d/;
      const { page } = await open();
      await page.getByText("Which runs? The first is what the others are held against.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.getByRole("region", { name: "Runs to compare" }).getByRole("button", { name: "good" }).click();
      await page.getByText("Against which run?").waitFor();
      expect(parameter(page, "runs")).toBe(good);

      const going = await open(`runs=${good},${await running()}`, {}, expected);
      await going.page.getByText(/The results of run [0-9a-f]{8} are not complete yet/).waitFor();
      await going.page.getByRole("link", { name: /Follow run/ }).waitFor();
      expect(await barriersIn(going.page)).toEqual([]);

      const gone = await open(`runs=${good},0000dead,${worse}`, {}, expected);
      await gone.page.getByText("A run is not there.").waitFor();
      await gone.page.getByRole("button", { name: "Compare without 0000dead" }).click();
      await gone.page.locator("table.metrics").waitFor();

      const unnamed = await open(`runs=0000beef0,${worse},${good}`);
      await unnamed.page.getByText("The baseline is named “0000beef0”, which is no id of a run.").waitFor();
      expect(await unnamed.page.locator("table").count()).toBe(0);
      expect(await barriersIn(unnamed.page)).toEqual([]);
      await unnamed.page.getByRole("button", { name: `Take run ${worse} as the baseline` }).click();
      await unnamed.page.locator("table.metrics").waitFor();
      expect(parameter(unnamed.page, "runs")).toBe(`${worse},${good}`);
      const leftOut = await open(`runs=${good},x%3Cb%3E,${worse}`);
      await leftOut.page.getByText("“x<b>” is no id of a run and is left out.").waitFor();
      await leftOut.page.locator("table.metrics").waitFor();
      await leftOut.page.getByRole("button", { name: "Take it out of the address" }).click();
      await expect.poll(() => parameter(leftOut.page, "runs")).toBe(`${good},${worse}`);

      place.model.setScript({ answer: "wrong" });
      const sums = await place.create({ name: "sums", environment: "arithmetic", examples: 3 });
      await place.settled(sums);
      const unlike = await open(`runs=${good},${sums}`, {}, expected);
      await unlike.page.getByText(/not comparable: .*another scorer gave other scores/).waitFor();
      expect(await barriersIn(unlike.page)).toEqual([]);
      await unlike.page.getByRole("button", { name: "They score the same: compare" }).click();
      await unlike.page.getByText(/not comparable: .*(?:no example|examples with equal ids)/).waitFor();
      await unlike.page.getByRole("button", { name: "Compare as samples of two" }).click();
      await unlike.page.getByText("compared as samples of two").waitFor();
      await unlike.page.locator("table.metrics").waitFor();
      expect(await unlike.page.locator(".joined-warnings").textContent()).toMatch(/another scorer gave other scores \(accepted\).*unpaired/);
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const { page } = await open(`runs=${good},${worse},${other}&at=1`, { colorScheme, viewport: { width, height: 800 } });
          await transcripts(page).locator(".message-pairs").waitFor();
          await transcripts(page).locator(".message-pairs [aria-busy=true]").waitFor({ state: "detached" });
          expect(await barriersIn(page), `${colorScheme} ${width}`).toEqual([]);
          expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${colorScheme} ${width}`).toBeLessThanOrEqual(width);
        }
    }));
});

/** A run that goes on for as long as somebody looks. */
async function running(): Promise<string> {
  place.model.setScript({ answer: "reverse", latency_ms: 30_000 });
  return await place.create({ name: "going", examples: 4 });
}
