import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
let place: DashboardPlace;

/** A published environment, behind its wall, whose functions ask a judge in each of the ways that there are. */
const judged = (url: string): string => `
import { defineEnvironment, JudgeRubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "judged", version: "1.0.0", description: "Judged.", args: z.object({}), keys: ["JUDGE_API_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: [{ question: "number one", answer: "**one** and only" }],
    rubric: new JudgeRubric([
      async function with_state({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0; },
      async function without_state({ judge, prompt, completion }) { return (await judge(prompt, completion, "asked without the state")).length > 0; },
      async function by_itself({ judgeClient, state }) {
        const prompt = [{ role: "system", content: "Be strict." }, { role: "user", content: "Is that fair?" }];
        return (await judgeClient.getResponse({ prompt, model: "judge", sampling_args: {}, tools: [], state })).message.content.length > 0;
      },
    ], { judgeClient: client({ base_url: ${JSON.stringify(url)}, api_key_var: "JUDGE_API_KEY" }), judgeModel: "judge" }),
  }),
});
`;

interface Row {
  readonly reward: number;
  readonly judge_usage: { readonly requests: number };
  readonly judge_response?: Readonly<Record<string, string>>;
}
const rowOf = (run: string): Promise<Row> => place.ask<Row>(`/evaluations/${run}/rollouts/0/0`);

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath, { JUDGE_API_KEY: "sk-judge-of-the-test" });
  writeFileSync(join(place.workplace.folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(place.workplace.folder, "judged.ts"), judged(place.model.url));
  const pushed = await place.workplace.run(["env", "push", "judged.ts"]);
  if (pushed.code !== 0) throw new Error(pushed.stderr);
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`a run that is judged ${NEEDS_BROWSER}`, { timeout: 4 * PATIENCE_MS }, () => {
  it("says which option keeps what its judge saw, is made again with it from there, and then shows it, however the judge was asked", async () => {
    const faults = await place.faultsOf(async () => {
      const first = await place.create({ name: "judged", environment: "edgewise/judged", examples: 1, rollouts: 1 });
      await place.settled(first);

      expect(await rowOf(first)).toMatchObject({ reward: 3, judge_usage: { requests: 3 } });
      const { page } = await place.open(`evaluations/${first}/samples/0/0?tab=scores`);
      await page.getByText("Judges were asked 3 times").waitFor();
      await page.getByText("--state-columns judge_response").waitFor();
      await page.getByRole("link", { name: "Again with changes, keeping it" }).click();
      const tick = page.getByLabel("Keep what judges saw and said");
      await tick.waitFor();
      expect(await tick.isChecked()).toBe(true);
      await page.getByText("but for 1 field that is marked").waitFor();
      await page.getByRole("button", { name: "Start the run" }).click();
      await page.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
      const second = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      await place.settled(second);
      const { judge_response: kept = {} } = await rowOf(second);
      expect(Object.keys(kept).sort()).toEqual([
        ...[expect.stringContaining("**one** and only"), expect.stringContaining("asked without the state")],
        "system: Be strict.\n\nuser: Is that fair?",
      ]);
      await page.goto(`${place.service}/dashboard/evaluations/${second}/samples/0/0`);
      await page.getByRole("tab", { name: "Scores" }).click();
      await shows(page, kept);
      expect(await barriersIn(page)).toEqual([]);
      const text = JSON.stringify([await rowOf(second), await page.content()]);
      expect(text).not.toContain("sk-judge-of-the-test");
    });
    expect(faults).toEqual([]);
  });
});

/** Whether the page draws each question with its answer. */
async function shows(page: Page, kept: Readonly<Record<string, string>>): Promise<void> {
  await page.getByText("Question 3 of 3").waitFor();
  await page.getByLabel("Raw texts").check();
  const drawn = await page.locator(".judgements > li").all();
  expect(drawn).toHaveLength(3);
  for (const [at, [shown, said]] of Object.entries(kept).entries()) {
    const [asked, answered] = [drawn[at]?.locator(".role-user pre"), drawn[at]?.locator(".role-assistant pre")];
    expect(await asked?.textContent()).toBe(shown);
    expect(await answered?.textContent()).toBe(said);
  }
}
