import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { until } from "../../support/cli/cli-process.ts";
import { SOON } from "../../support/cli/batched-bench.ts";

const browserPath = findBrowser();
/** What a number becomes that is none. */
const NO_NUMBER = /\b(?:NaN|undefined|null|Infinity)\b/;

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath, SOON);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

const tell = (end: object): Promise<unknown> => fetch(`${place.model.controlUrl}/batches`, { method: "POST", body: JSON.stringify(end) });
const mainText = async (page: Page): Promise<string> => (await page.evaluate<string>("document.querySelector('main').innerText")).replaceAll(/\s+/g, " ");

describe.skipIf(browserPath === null)(`a run in batches of the provider ${NEEDS_BROWSER}`, { timeout: 4 * PATIENCE_MS }, () => {
  it("is followed while its batch is under way, and its rows are read as those of any run", async () => {
    place.model.setScript({ answer: "reverse", batches: { takes_ms: null } });
    const id = await place.create({ name: "in a batch", examples: 3, rollouts: 2, config: { batch: true } });
    const faults = await place.faultsOf(async () => {
      const { page: runs } = await place.open();
      const { page: run } = await place.open(`evaluations/${id}`);
      await run.getByText(/1 batch under way: 0 of 6 requests answered/).waitFor();
      expect(await mainText(run)).toMatch(/Reward – No example is done yet. 0 of 6 rollouts .* Used Tokens 0 in, 0 out Cost not known/);
      expect(await barriersIn(run)).toEqual([]);
      await run.getByRole("tab", { name: "Limits" }).click();
      await run.getByText("1 batch: 0 of 6 requests answered, 1 under way").waitFor();
      const { page: samples } = await place.open(`evaluations/${id}/samples`);
      await samples.getByText("No rollout is done yet.").waitFor();

      await until(() => place.model.batches().batches.length === 1, PATIENCE_MS);
      await tell({ to: "completed" });
      await run.getByText("6 of 6 rollouts").waitFor();
      await run.locator(".status", { hasText: "Completed" }).first().waitFor();
      await run.getByText("1 batch: 6 of 6 requests answered", { exact: true }).waitFor();
      expect(await mainText(run)).not.toMatch(NO_NUMBER);
      await run.getByRole("tab", { name: "Settings" }).click();
      await run.getByText('"batch": true').waitFor();
      await samples.getByText("6 rollouts", { exact: true }).waitFor();
      await samples.locator(".grid-rows a").nth(5).waitFor();
      await expect.poll(() => mainText(samples)).toMatch(/0 · 0 .*<reversed_text>.* 1 1 1 30 1 \d+ms 0 · 1/);
      expect(await mainText(samples)).not.toMatch(NO_NUMBER);
      await samples.locator(".grid-rows a").first().click();
      await samples.locator("article.role-assistant").waitFor();
      expect(await mainText(samples)).toMatch(/Reward 1 .*Tokens \d+ \+ \d+ Generated in \d/);
      expect(await barriersIn(samples)).toEqual([]);
      await samples.getByRole("tab", { name: "Usage" }).click();
      await samples.getByText("In all", { exact: true }).waitFor();
      await runs.getByText("6 of 6").waitFor();
      for (const page of [runs, samples]) expect(await mainText(page)).not.toMatch(NO_NUMBER);
    });
    expect(faults).toEqual([]);
  });
});
