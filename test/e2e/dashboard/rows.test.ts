import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
const TEXTS = ["what is 12 + 5?", "a short walk along the river at noon"];

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

/** Pages of rows that no conversation of a chat is: each kind is made by the service itself. */
describe.skipIf(browserPath === null)(`samples and rollouts of other kinds of runs ${NEEDS_BROWSER}`, { timeout: 4 * PATIENCE_MS }, () => {
  it("are read where a base model's likelihood of texts was measured: the text, its numbers, and what was scored", async () => {
    writeFileSync(join(place.workplace.folder, "texts.jsonl"), TEXTS.map((body) => `${JSON.stringify({ body })}\n`).join(""));
    const args = '{"dataset": "texts.jsonl", "column": "body"}';
    const made = await place.workplace.run(["eval", "run", "perplexity", "-m", "edgewise/tiny", "-p", "embedded", "-a", args, "-C", "scored"]);
    expect(made.code, made.stderr).toBe(0);
    const id = /Results: \S*\/([^/\s]+)/.exec(made.stdout)?.[1] ?? "";
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open(`evaluations/${id}/samples`);
      const row = page.locator(".grid-rows .grid-row", { hasText: TEXTS[0] ?? "" });
      await row.waitFor();
      await page.getByText("2 rollouts", { exact: true }).waitFor();
      await row.getByRole("link").first().click();
      await page.getByRole("heading", { name: "Example 0, rollout 0" }).waitFor();
      await page
        .locator("article", { hasText: TEXTS[0] ?? "" })
        .first()
        .waitFor();
      await page.getByRole("tab", { name: "Scores" }).click();
      await page.locator(".scores tbody tr").nth(1).waitFor();
      await page.getByRole("tab", { name: "Info" }).click();
      await page.locator(".own-fields", { hasText: "scored" }).getByText("logprobs").waitFor();
    });
    expect(faults).toEqual([]);
  });

  it("draw the first of many fields, say how many there are, and lead to the rest; on a phone the chosen tab is in sight", async () => {
    const { evaluation_id: id } = await place.ask<{ evaluation_id: string }>("/evaluations/", {
      method: "POST",
      body: { name: "many fields", model_name: "elsewhere", environments: [{ id: "elsewhere" }] },
    });
    const fields = Object.fromEntries(Array.from({ length: 250 }, (_, number) => [`field_${number}`, `value ${number}`]));
    const row = { example_id: 0, reward: 1, prompt: [{ role: "user", content: "q" }], completion: [{ role: "assistant", content: "a" }], ...fields };
    await place.ask(`/evaluations/${id}/samples`, { method: "POST", body: { samples: [row] } });
    await place.ask(`/evaluations/${id}/finalize`, { method: "POST", body: {} });
    await place.settled(id);
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open(`evaluations/${id}/samples/0/0?tab=json`, { viewport: { width: 330, height: 800 } });
      const tab = page.getByRole("tab", { name: "JSON" });
      await tab.waitFor();
      const right = async (): Promise<number> => {
        const box = await tab.boundingBox();
        return (box?.x ?? Number.NaN) + (box?.width ?? Number.NaN);
      };
      await expect.poll(right, { timeout: PATIENCE_MS }).toBeLessThanOrEqual(330);
      await page.getByRole("tab", { name: "Info" }).click();
      const some = page.locator(".some-of");
      await expect.poll(() => some.textContent(), { timeout: PATIENCE_MS }).toMatch(/^100 of 2\d\d fields/);
      expect(await page.getByText("field_249").count()).toBe(0);
      await some.getByRole("button").click();
      await some.getByRole("button").click();
      await page.getByText("field_249").waitFor();
      expect(await some.count()).toBe(0);
    });
    expect(faults).toEqual([]);
  });

  it("say of a run that was scored again where its rollouts are from, and show them with their new scores", async () => {
    const source = await place.create({ name: "the first scores", examples: 2, rollouts: 2 });
    await place.settled(source);
    const { evaluation_id: id } = await place.ask<{ evaluation_id: string }>("/hosted-evaluations", {
      method: "POST",
      body: { environment_ids: ["reverse-text"], rescore: { run_id: source } },
    });
    await place.settled(id);
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open(`evaluations/${id}`);
      expect(await page.getByRole("link", { name: `run ${source}` }).getAttribute("href")).toBe(`/dashboard/evaluations/${source}`);
      await page.getByRole("link", { name: "Samples", exact: true }).click();
      await page.getByText("4 rollouts", { exact: true }).waitFor();
      const link = page.locator(".grid-rows .grid-row").first().getByRole("link");
      await link.click();
      await page.getByRole("heading", { name: "Example 0, rollout 0" }).waitFor();
      await page.locator("article.role-assistant").waitFor();
      await page.getByRole("tab", { name: "Scores" }).click();
      await page.locator(".scores tbody tr", { hasText: "similarity" }).waitFor();
      expect(await page.locator(".scores tbody tr", { hasText: "reward" }).locator("td").first().textContent()).toBe("1");
    });
    expect(faults).toEqual([]);
  });
});
