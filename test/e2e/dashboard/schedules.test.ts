import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { until } from "../../support/cli/cli-process.ts";

const browserPath = findBrowser();
/** What somebody may write into a schedule, and a model's server may be called. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
const WIDTHS = [390, 820, 1_440];

interface Told {
  readonly paused: { readonly reason: string } | null;
  readonly drift: { readonly baseline_runs: readonly string[] } | null;
  readonly series: readonly {
    readonly run_id: string | null;
    readonly status: string | null;
    readonly reward_ci95: readonly number[] | null;
    readonly drift: { readonly verdict: string } | null;
  }[];
}

let place: DashboardPlace;
const told = async (name = "nightly"): Promise<Told> => (await place.ask<{ data: Told }>(`/schedules/${name}`)).data;
const put = (name: string, change: object = {}): Promise<unknown> =>
  place.ask(`/schedules/${name}`, {
    method: "PUT",
    body: {
      ...{ every: "30d", drift: { first: 1 } },
      eval: {
        ...{ env_id: "reverse-text", model: "scripted", api_base_url: place.model.url, api_key_var: "PRIME_API_KEY" },
        ...{ num_examples: 6, rollouts_per_example: 1, ...change },
      },
    },
  });
/** Until the series has so many runs that ended and were compared. */
const played = (count: number): Promise<void> =>
  until(
    async () => {
      const { series } = await told();
      return series.length === count && series.every(({ status, drift }) => status !== null && drift !== null && drift.verdict !== "waiting");
    },
    PATIENCE_MS,
    () => `${count} runs of the schedule`,
  );

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  place.model.setScript({ answer: "reverse", accuracy: 0.6 });
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the pages of schedules ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("say that there is none yet and how to make one, and that there is none of a name", () =>
    closing(async () => {
      const { page } = await place.open("schedules");
      await page.getByText("No schedule yet.").waitFor();
      expect(await page.locator("pre").textContent()).toContain("npx edgewise schedule add nightly");
      expect(await barriersIn(page)).toEqual([]);
      const { page: other } = await place.open(`schedules/${encodeURIComponent(HOSTILE)}`, {}, /4(04|22)/);
      await other.getByRole("alert").waitFor();
      expect(await other.getByRole("heading", { level: 1 }).textContent()).toContain("<script>");
      expect(await other.title()).not.toBe("taken");
    }));

  it("begin a run now after a question that says what it costs, and follow it to its score", () =>
    closing(async () => {
      await put("nightly");
      const { page } = await place.open("schedules/nightly");
      await page.getByRole("button", { name: "Run now" }).click();
      const asked = page.getByRole("dialog", { name: "Begin a run now?" });
      expect(await asked.textContent()).toContain("costs as much");
      await asked.getByRole("button", { name: "Cancel" }).click();
      expect((await told()).series).toEqual([]);
      await page.getByRole("button", { name: "Run now" }).click();
      await asked.getByRole("button", { name: "Run now" }).click();
      await page.getByText(/The run is about to begin\.|Run [0-9a-f]{8} is at work\./).waitFor();
      await played(1);
      const [entry] = (await told()).series;
      const row = page.getByRole("row", { name: entry?.run_id ?? "" }).first();
      await row.getByText("Completed").waitFor();
      const [low, high] = (entry?.reward_ci95 ?? []).map((each) => each.toFixed(3));
      await row.getByText(`${low} to ${high}`).waitFor();
      await page.getByRole("link", { name: "Schedules" }).first().click();
      const listed = page.getByRole("row", { name: "nightly" });
      await listed.getByText(`${low} to ${high}`).waitFor();
      expect(await listed.textContent()).toMatch(/every 30d.*UTC.*Waits/);
    }));

  it("pause with a reason and go on again, and show why to everybody", () =>
    closing(async () => {
      const { page } = await place.open("schedules/nightly");
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByLabel("Why, for others").fill(HOSTILE);
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
      await page.getByText("Paused.", { exact: true }).waitFor();
      expect((await told()).paused?.reason).toBe(HOSTILE);
      await page.getByText("Nothing is due while it is paused.").waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      const { page: list } = await place.open("schedules");
      await list.getByText("<script>").waitFor();
      await page.keyboard.press("p");
      await page.getByRole("dialog", { name: "Resume this schedule?" }).getByRole("button", { name: "Resume" }).click();
      await page.getByText("Resumed.", { exact: true }).waitFor();
      expect((await told()).paused).toBeNull();
      expect(await page.locator(".dues time").count()).toBe(5);
      expect(await page.title()).toBe("nightly · Edgewise");
    }));

  it("draw the series with intervals and marks of what changed, with a table behind it, and its runs as links", () =>
    closing(async () => {
      await place.ask("/schedules/nightly/run", { method: "POST", body: {} });
      await played(2);
      await put("nightly", { num_examples: 8 });
      await place.ask("/schedules/nightly/run", { method: "POST", body: {} });
      await played(3);
      const { page } = await place.open("schedules/nightly");
      const chart = page.getByRole("img", { name: /Mean reward\. 3 runs, the newest/ });
      await chart.locator("canvas").waitFor();
      expect(await chart.getAttribute("aria-label")).toContain("2 changes are marked.");
      await page.getByRole("figure").getByText("Table", { exact: true }).click();
      const table = page.getByRole("region", { name: "Mean reward: table" });
      await expect.poll(() => table.locator("tbody tr").count()).toBe(3);
      expect(await table.locator("tbody tr").first().textContent()).toMatch(/UTC.*0\.\d{3} to [01]/);
      expect(await table.textContent()).toMatch(/Other definition.*New baseline|New baseline.*Other definition/);
      await page.getByLabel("Shown").selectOption("difference");
      await page.getByRole("img", { name: /Difference to the baseline\. One run,/ }).waitFor();
      expect(new URL(page.url()).searchParams.get("metric")).toBe("difference");
      await page.reload();
      await page.getByRole("img", { name: /Difference to the baseline/ }).waitFor();
      await page.locator("select").filter({ hasText: "All runs" }).selectOption("All runs");
      expect(new URL(page.url()).searchParams.get("last")).toBe("all");
    }));

  it("are used by keys alone: to the list, into a schedule, two runs chosen and compared, help, and back", () =>
    closing(async () => {
      const { page } = await place.open("");
      // Keys are heard once the page is drawn, which is after it was loaded.
      await page.getByRole("searchbox").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      await page.getByRole("link", { name: "nightly", exact: true }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "nightly" }).waitFor();
      await page
        .getByRole("row", { name: /Completed/ })
        .first()
        .waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("Choose another run to compare them.").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      const [newest, before] = (await told()).series;
      const link = page.getByRole("link", { name: "Compare these two" });
      expect(new URL((await link.getAttribute("href")) ?? "", place.service).searchParams.get("runs")).toBe(`${before?.run_id},${newest?.run_id}`);
      await page.keyboard.press("?");
      expect(await page.getByRole("dialog", { name: "Keys" }).textContent()).toContain("Pause or resume the schedule");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("b");
      await page.getByRole("dialog", { name: "Begin a run now?" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await page.waitForURL(/\/dashboard\/schedules$/);
    }));

  it("pause, go on and begin a run in the list too, by buttons and by keys on the row that has the focus", () =>
    closing(async () => {
      const { page } = await place.open("schedules");
      await page.getByRole("link", { name: "nightly", exact: true }).waitFor();
      // No row has the focus: no schedule is meant.
      await page.keyboard.press("p");
      await page.keyboard.press("j");
      expect(await page.getByRole("dialog").count()).toBe(0);
      await page.keyboard.press("p");
      const pause = page.getByRole("dialog", { name: "Pause this schedule?" });
      await pause.getByText("nightly").waitFor();
      await pause.getByRole("button", { name: "Pause" }).press("Enter");
      await page.getByText("Paused.", { exact: true }).waitFor();
      expect((await told()).paused).not.toBeNull();
      await page.getByRole("button", { name: "Resume: nightly" }).click();
      await page.getByRole("dialog", { name: "Resume this schedule?" }).getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause: nightly" }).waitFor();
      expect((await told()).paused).toBeNull();
      await page.getByRole("link", { name: "nightly", exact: true }).focus();
      await page.keyboard.press("b");
      await page.getByRole("dialog", { name: "Begin a run now?" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await page.getByRole("navigation", { name: "Pages" }).locator("[aria-current]").allTextContents()).toEqual(["Schedules"]);
    }));

  it("tell due times in their own zone beside one's own and UTC, and events without moments that only a machine reads", () =>
    closing(async () => {
      await place.ask("/schedules/zoned", {
        method: "PUT",
        body: {
          ...{ cron: "30 9 * * *", time_zone: "Asia/Kathmandu", drift: { first: 1 } },
          eval: { env_id: "reverse-text", model: "scripted", api_base_url: place.model.url, api_key_var: "PRIME_API_KEY", num_examples: 1 },
        },
      });
      const { page } = await place.open("schedules/zoned");
      const dues = page.locator(".dues li");
      await dues.first().waitFor();
      for (const text of await dues.allTextContents()) expect(text).toMatch(/09:30 Asia\/Kathmandu.*03:45 UTC/);
      await page.getByText("in the schedule's, Asia/Kathmandu, and in UTC").waitFor();
      await page.getByRole("link", { name: "Schedules" }).first().click();
      await page.getByRole("row", { name: /zoned/ }).getByText("Asia/Kathmandu").last().waitFor();
      const nightly = await place.open("schedules/nightly");
      const events = nightly.page.getByRole("region", { name: "Events of the schedule: table" });
      await events.getByRole("row").nth(1).waitFor();
      expect(await events.textContent()).not.toMatch(/\d{4}-\d\d-\d\dT\d\d:/);
      await place.ask("/schedules/zoned", { method: "DELETE" });
    }));

  it("have no barriers in both themes and at three widths, and stay within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const address of ["schedules", "schedules/nightly"]) {
          const { page } = await place.open(address, { colorScheme });
          await page.getByText("nightly").first().waitFor();
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            expect(await barriersIn(page), `${address}, ${colorScheme}, ${width}`).toEqual([]);
            expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${address} at ${width}`).toBeLessThanOrEqual(width);
          }
        }
    }));

  it("ask before the comparisons begin anew, and before a schedule is deleted", () =>
    closing(async () => {
      const { page } = await place.open("schedules/nightly");
      await page.getByRole("button", { name: "Reset drift" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Reset drift" }).click();
      await page.getByText("The comparisons begin anew.").waitFor();
      expect((await told()).drift?.baseline_runs).toEqual([]);
      await page.getByRole("button", { name: "Delete" }).click();
      expect(await page.getByRole("dialog").textContent()).toContain("Its runs stay.");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("No schedule yet.").waitFor();
      expect((await place.ask<{ total: number }>("/evaluations/")).total).toBe(3);
    }));
});
