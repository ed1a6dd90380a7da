import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, GONE, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202ejavascript:alert(1)`;

let place: DashboardPlace;
/** Ids of runs that several tests look at. */
let done = "";
let broken = "";

interface Told {
  readonly status: string;
  readonly edgewise: { readonly settled: boolean; readonly suspended: boolean; readonly done_rollouts: number; readonly reward_ci95: [number, number] };
}
const told = (id: string): Promise<Told> => place.ask<Told>(`/evaluations/${id}`);
const openRun = (id: string, query = "", ...more: [options?: object, expected?: RegExp]): Promise<OpenedDashboard> =>
  place.open(`evaluations/${id}${query}`, ...more);
const button = ({ page }: OpenedDashboard, name: string) => page.locator(".run-buttons").getByRole("button", { name, exact: true });
const dialogButton = ({ page }: OpenedDashboard, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const status = ({ page }: OpenedDashboard, text: string) => page.locator(".run-head .status", { hasText: text });
const shown = async ({ page }: OpenedDashboard): Promise<string> => (await page.locator("main").textContent()) ?? "";

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  done = await place.create({ name: "all went well", examples: 4, rollouts: 2 });
  await place.settled(done);
  // One answer is refused in words that are hostile, which stays; two are broken, which a resume makes again.
  place.model.setScript({
    answer: "reverse",
    faults: [
      { when: { nth: 2 }, fault: { kind: "status", status: 400, message: HOSTILE } },
      { when: { nth: [4, 5] }, fault: { kind: "malformed_json" } },
    ],
  });
  broken = await place.create({ name: HOSTILE, examples: 3, rollouts: 2, config: { max_retries: 0, max_concurrent: 1 } });
  await place.settled(broken);
  place.model.setScript({ answer: "reverse" });
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the page of a run ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("is opened from the list without being loaded again, and says what came of the run", () =>
    closing(async () => {
      const dashboard = await place.open();
      const { page } = dashboard;
      await page.evaluate("window.sameDocument = true");
      await page.getByRole("link", { name: "all went well" }).click();
      await status(dashboard, "Completed").waitFor();
      expect(await page.evaluate("window.sameDocument")).toBe(true);
      expect(await page.title()).toBe("all went well: Completed · Edgewise");
      const { edgewise } = await told(done);
      const [low, high] = edgewise.reward_ci95.map((each) => each.toFixed(3));
      await page.getByRole("img", { name: /^Rewards of rollouts/ }).waitFor();
      const text = await shown(dashboard);
      for (const each of [`95 % interval ${low} to ${high}`, "8 of 8 rollouts", "not known: nobody said what the model costs", "pass@k"])
        expect(text).toContain(each);
      await page.goBack();
      await page.getByRole("link", { name: "all went well" }).waitFor();
    }));

  it("follows a run to its end without being loaded again", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 400 });
      const id = await place.create({ name: "watched", examples: 8 });
      const dashboard = await openRun(id);
      const { page } = dashboard;
      await status(dashboard, "Running").waitFor();
      await page.evaluate("window.sameDocument = true");
      const progress = page.getByRole("progressbar");
      await expect.poll(() => progress.getAttribute("value").then(Number), { timeout: PATIENCE_MS }).toBeGreaterThan(2);
      await page.getByText(/rollouts a minute .* left/).waitFor();
      place.model.setScript({ answer: "reverse" });
      await status(dashboard, "Completed").waitFor();
      await page.getByText("16 of 16 rollouts").waitFor();
      await button(dashboard, "Delete").waitFor();
      expect(await page.evaluate("window.sameDocument")).toBe(true);
    }));

  it("says when the service is gone, keeps what it shows, and is mended when the service is back", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 3_000 });
      const id = await place.create({ name: "through a kill", examples: 3 });
      const dashboard = await openRun(id, "", {}, GONE);
      await status(dashboard, "Running").waitFor();
      const port = await place.kill();
      await dashboard.page.getByText(/^Connection lost: this run is as it was/).waitFor();
      expect(await shown(dashboard)).toContain("through a kill");
      place.model.setScript({ answer: "reverse" });
      await place.serveAgain(port);
      await dashboard.page.getByText(/^Connection lost/).waitFor({ state: "detached" });
      await status(dashboard, "Completed").waitFor();
    }));

  it("groups errors by code with the first example of each, which runs nothing, and makes them again when asked", () =>
    closing(async () => {
      const dashboard = await openRun(broken);
      const { page } = dashboard;
      await page.getByRole("tab", { name: "Errors 3" }).click();
      expect(new URL(page.url()).searchParams.get("tab")).toBe("errors");
      const row = (code: string) => page.locator(".error-table tbody tr", { hasText: code });
      await row("malformed_response").waitFor();
      expect(await row("malformed_response").textContent()).toMatch(/a resume makes these again[\s\S]*2\s*of 6/);
      expect(await row("bad_request").textContent()).toMatch(/a resume does not draw these again[\s\S]*1\s*of 6[\s\S]*<script>/);
      expect(await row("bad_request").getByRole("link").getAttribute("href")).toMatch(new RegExp(`^/dashboard/evaluations/${broken}/samples/\\d+/\\d+$`));
      expect(await page.locator("main img[src], main script").count()).toBe(0);
      expect(await page.title()).not.toBe("taken");
      expect(await shown(dashboard)).not.toContain("\u202e");
      await page.getByRole("tabpanel").getByRole("button", { name: "Retry errors" }).click();
      await page.getByRole("dialog").getByText("2 rollouts are made again: they ended in errors of the infrastructure.").waitFor();
      await dialogButton(dashboard, "Retry errors").click();
      await row("malformed_response").waitFor({ state: "detached" });
      await page.getByRole("tab", { name: "Errors 1" }).waitFor();
      expect((await told(broken)).edgewise.done_rollouts).toBe(6);
    }));

  it("pauses, continues, interrupts, resumes, stops and deletes a run, each after it was said what happens", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 1_500 });
      const id = await place.create({ name: "steered", examples: 40, config: { tags: ["nightly"] } });
      // What an interrupt gives up may still be ending when the resume is asked for; a part of the page may be asked for while the run is deleted.
      const dashboard = await openRun(id, "", {}, /409|404/);
      const { page } = dashboard;
      await status(dashboard, "Running").waitFor();
      expect(await page.getByRole("link", { name: "nightly" }).getAttribute("href")).toBe("/dashboard/?tag=nightly");
      await button(dashboard, "Pause").click();
      await page.getByText(/^paused since/).waitFor();
      await button(dashboard, "Continue").click();
      await button(dashboard, "Pause").waitFor();
      await page.getByRole("tab", { name: "Limits" }).click();
      await page.getByRole("spinbutton", { name: "Requests at once" }).fill("5");
      await page.keyboard.press("Enter");
      await page.getByText("5 requests at once").waitFor();
      await button(dashboard, "Interrupt").click();
      await page
        .getByRole("dialog")
        .getByText(/What is open is given up/)
        .waitFor();
      await dialogButton(dashboard, "Cancel").click();
      expect((await told(id)).edgewise.suspended).toBe(false);
      await button(dashboard, "Interrupt").click();
      await dialogButton(dashboard, "Interrupt").click();
      await page.getByText("It waits to be resumed.", { exact: true }).waitFor();
      await button(dashboard, "Resume").click();
      await dialogButton(dashboard, "Resume").click();
      await button(dashboard, "Pause").waitFor();
      await page.keyboard.press("s");
      await page
        .getByRole("dialog")
        .getByText(/The run ends as Cancelled/)
        .waitFor();
      await dialogButton(dashboard, "Stop").click();
      await status(dashboard, "Cancelled").waitFor();
      await button(dashboard, "Keep").click();
      await button(dashboard, "Keep no more").waitFor();
      await button(dashboard, "Share").click();
      await dialogButton(dashboard, "Share").click();
      const link = (await page.locator(".shared-link").textContent()) ?? "";
      expect(await (await fetch(link)).text()).toContain("steered");
      await page.keyboard.press("Escape");
      await button(dashboard, "Take the link back").click();
      await dialogButton(dashboard, "Take the link back").click();
      await button(dashboard, "Take the link back").waitFor({ state: "detached" });
      expect((await fetch(link)).status).toBe(404);
      await button(dashboard, "Delete").click();
      await dialogButton(dashboard, "Delete").click();
      await page.waitForURL(/\/dashboard\/$/);
      await expect(told(id)).rejects.toThrow("404");
      place.model.setScript({ answer: "reverse" });
    }));

  it("has no mean and no course of rewards where every rollout ended in an error, and says that errors are in the others", () =>
    closing(async () => {
      place.model.setScript({ faults: [{ when: { every: 1 }, fault: { kind: "malformed_json" } }] });
      const id = await place.create({ name: "nothing scored", config: { max_retries: 0 } });
      await place.settled(id);
      place.model.setScript({ answer: "reverse" });
      const { page } = await openRun(id, "?tab=metrics");
      await page.locator(".metrics-table").waitFor();
      expect((await page.locator(".metrics-table tbody tr").first().locator("td").allTextContents()).slice(0, 2)).toEqual(["–", "none"]);
      await page.locator(".run-columns").getByText("No rollout was scored: all of them ended in errors.").waitFor();
      await page.getByRole("tab", { name: "Summary" }).click();
      await page.getByText("pass@k: none, as no rollout was scored.").waitFor();
      await page.getByText("Reward so far: none, as no rollout was scored.").or(page.getByText("Reward so far: there is too little of it to draw.")).waitFor();
      const mixed = await openRun(broken, "?tab=metrics");
      await mixed.page.getByText("where an error is a 0").waitFor();
      const list = await place.open();
      await list.page.locator("tr", { hasText: broken }).getByText("errors counted in").waitFor();
    }));

  it("says that a run which somebody else deletes is gone, and why one is not there", () =>
    closing(async () => {
      const id = await place.create({ name: "to go" });
      await place.settled(id);
      const dashboard = await openRun(id, "", {}, /404/);
      const { page } = dashboard;
      await status(dashboard, "Completed").waitFor();
      await place.ask(`/evaluations/${id}`, { method: "DELETE" });
      await button(dashboard, "Keep").click();
      await page.getByText("This run was deleted.").waitFor();
      await page.goto(`${place.service}/dashboard/evaluations/0000abcd`);
      await page.getByRole("alert").waitFor();
      await page.getByRole("heading", { name: "Run 0000abcd" }).waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.getByRole("alert").getByRole("link", { name: "Runs" }).click();
      await page.getByRole("heading", { name: "Runs" }).waitFor();
    }));

  it("shows the log by level and words, with a link to each line", () =>
    closing(async () => {
      const dashboard = await openRun(broken, "?tab=log");
      const { page } = dashboard;
      await page.getByText(/of \d+ lines$/).waitFor();
      const lines = page.locator(".log-line");
      const all = await lines.count();
      expect(all).toBeGreaterThan(3);
      await page.getByLabel("Level").selectOption("WARNING");
      await expect.poll(() => lines.count()).toBeLessThan(all);
      await expect.poll(() => lines.count()).toBeGreaterThan(0);
      for (const each of await lines.allTextContents()) expect(each).toMatch(/ - (WARNING|ERROR) - /);
      await page.getByLabel("Level").selectOption("DEBUG");
      await page.getByRole("heading", { level: 1 }).click();
      await page.keyboard.press("/");
      await page.keyboard.type("PINNED");
      await expect.poll(() => lines.count()).toBeLessThan(all);
      expect(new URL(page.url()).searchParams.get("q")).toBe("PINNED");
      await page.locator(".log-number").first().click();
      await page.locator(".log-line.is-chosen").waitFor();
      await page.reload();
      await page.locator(".log-line.is-chosen").waitFor();
      expect(await page.locator("main img[src], main script").count()).toBe(0);
    }));

  it("is used by keys alone: tabs, items, help, JSON, the run's id", () =>
    closing(async () => {
      const dashboard = await openRun(done, "", { permissions: ["clipboard-read", "clipboard-write"] });
      const { page } = dashboard;
      await page.getByRole("tab", { name: "Summary" }).waitFor();
      await page.keyboard.press("ArrowRight");
      await page.getByRole("tab", { name: /Metrics/, selected: true }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).searchParams.get("metric")).not.toBeNull();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      await page.getByRole("tab", { name: "Files", selected: true }).waitFor();
      await page.keyboard.press("c");
      await page.getByText("Copied").waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(done);
      await page.keyboard.press("r");
      await page.getByRole("dialog", { name: `GET /api/v1/evaluations/${done}` }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      expect(await page.getByRole("dialog").textContent()).toContain("Stop the run (asks first)");
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const dashboard = await openRun(done, "", { colorScheme, viewport: { width, height: 800 } });
          const { page } = dashboard;
          await page.getByRole("img", { name: /^Rewards of rollouts/ }).waitFor();
          for (const tab of width === 820 ? ["Summary", "Log"] : ["Summary", "Metrics", "Errors", "Limits", "Settings", "Log", "Files"]) {
            await page.getByRole("tab", { name: tab }).click();
            await page.getByText(/loading…|Reading the log/).waitFor({ state: "detached" });
            if (tab === "Summary") for (const each of await page.locator(".chart summary").all()) await each.click();
            expect(await barriersIn(page), `${colorScheme} ${width} ${tab}`).toEqual([]);
            expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${width} ${tab}`).toBeLessThanOrEqual(width);
          }
          await dashboard.close();
        }
    }));
});
