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

  it("are paused, gone on with, and begin the evaluations of a checkpoint now, by buttons and by keys", () =>
    closing(async () => {
      const { page } = await place.open("evaluators/loop");
      await page.getByText("step 150, once a trainer posts it").waitFor();
      await page.getByText("npx edgewise evaluator run loop --step 149 -m MODEL").waitFor();
      await page.getByText("what it calls 149 is step 150 here").waitFor();
      await page.keyboard.press("p");
      await page.getByLabel("Why, for others").fill(HOSTILE);
      await page.getByRole("dialog", { name: "Pause this evaluator?" }).getByRole("button", { name: "Pause" }).press("Enter");
      await page.getByText("nothing while it is paused").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await step(150, "ckpt-150");
      const { page: list } = await place.open("evaluators");
      await list.getByText(/Paused: .*<script>/).waitFor();
      await page.keyboard.press("b");
      const asked = page.getByRole("dialog", { name: "Evaluate a checkpoint now?" });
      expect(await asked.getByLabel("Step, as the series has it").inputValue()).toBe("150");
      await asked.getByLabel("Step, as the series has it").fill("0");
      await asked.getByRole("button", { name: "Run now" }).click();
      await asked.getByText("The step must be a whole number, 1 or more.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await asked.getByLabel("Step, as the series has it").fill("120");
      await asked.getByLabel("Model, as it is called where it is served").fill("ckpt-120");
      await asked.getByRole("button", { name: "Run now" }).click();
      await page.getByText("Step 120: texts is about to begin.").waitFor();
      await evaluated(3);
      const { data } = await place.ask<{ data: { records: readonly { step: number }[] } }>("/evaluators/loop");
      expect(data.records.map((each) => each.step)).toEqual([50, 100, 120]);
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("dialog", { name: "Resume this evaluator?" }).getByRole("button", { name: "Resume" }).click();
      await page.getByText("step 150, once a trainer posts it").waitFor();
      expect(await page.title()).not.toBe("taken");
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
      expect((await place.ask<{ total: number }>("/evaluations/")).total).toBe(3);
    }));
});
