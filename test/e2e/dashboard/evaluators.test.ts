import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { until } from "../../support/cli/cli-process.ts";

const browserPath = findBrowser();
/** What somebody may call a checkpoint. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
const WIDTHS = [390, 820, 1_440];

let place: DashboardPlace;
const step = (at: number, model: string): Promise<unknown> => place.ask("/evaluators/loop/steps", { method: "POST", body: { step: at - 1, model } });
const evaluated = (count: number): Promise<void> =>
  until(
    async () => {
      const { data } = await place.ask<{ data: { records: readonly { outcome: string }[] } }>("/evaluators/loop");
      return data.records.filter(({ outcome }) => outcome === "evaluated").length === count;
    },
    PATIENCE_MS,
    () => `${count} steps to be evaluated`,
  );

beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the pages of evaluators ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("say that there is none yet, and how to begin one", () =>
    closing(async () => {
      const { page } = await place.open("evaluators");
      await page.getByText("No evaluator yet.").waitFor();
      expect(await page.locator("pre").textContent()).toBe("npx edgewise evaluator apply evaluators.toml");
    }));

  it("show each metric by step with its interval and a table behind it, what to keep, and follow a step that is posted", () =>
    closing(async () => {
      const evaluation = { env_id: "reverse-text", num_examples: 6, rollouts_per_example: 1, api_base_url: place.model.url, api_key_var: "PRIME_API_KEY" };
      await place.ask("/evaluators/loop", { method: "PUT", body: { run_every: 50, evaluations: [{ name: "texts", eval: evaluation }] } });
      place.model.setScript({ answer: "reverse" });
      await step(50, "ckpt-50");
      await evaluated(1);
      place.model.setScript({ answer: "reverse", accuracy: 0.5 });
      const { page } = await place.open("evaluators");
      await page.getByRole("link", { name: "loop", exact: true }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "loop" }).waitFor();
      await page.getByText("50 (ckpt-50): 1").waitFor();
      await step(100, HOSTILE);
      await page.getByRole("row", { name: /100.*<script>.*Evaluated/ }).waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      const chart = page.getByRole("img", { name: /val\/texts\/mean_reward\. 2 steps, the newest .* The best is 1 at step 50\./ });
      await chart.locator("canvas").waitFor();
      await page.getByRole("figure").getByText("Table", { exact: true }).click();
      const rows = page.getByRole("region", { name: "val/texts/mean_reward: table" }).locator("tbody tr");
      await expect.poll(() => rows.count()).toBe(2);
      expect(await rows.first().textContent()).toMatch(/^501.* to 1/);
      await page.getByLabel("Metric").selectOption("val/texts/pass_rate");
      await page.getByRole("img", { name: /val\/texts\/pass_rate/ }).waitFor();
      expect(new URL(page.url()).searchParams.get("metric")).toBe("val/texts/pass_rate");
    }));

  it("have no barriers in both themes and at three widths, and stay within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const address of ["evaluators", "evaluators/loop"]) {
          const { page } = await place.open(address, { colorScheme });
          await page.getByText("Evaluated").first().waitFor();
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            expect(await barriersIn(page), `${address}, ${colorScheme}, ${width}`).toEqual([]);
            await expect
              .poll(() => page.evaluate<number>("document.documentElement.scrollWidth"), { message: `${address} at ${width}` })
              .toBeLessThanOrEqual(width);
          }
        }
    }));

  it("ask before an evaluator is deleted, and keep its runs", () =>
    closing(async () => {
      const { page } = await place.open("evaluators/loop");
      await page.getByRole("button", { name: "Delete" }).click();
      expect(await page.getByRole("dialog").textContent()).toContain("Its runs stay.");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("No evaluator yet.").waitFor();
      expect((await place.ask<{ total: number }>("/evaluations/")).total).toBe(2);
    }));
});
