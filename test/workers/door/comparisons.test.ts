import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { comparedExamplesAnswer, comparisonAnswer } from "../../../src/api/comparisons/comparison-schemas.ts";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, setVars, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
let fleet: Fleet | null = null;

beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { EDGEWISE_TOKEN: "right" });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  delete (service as { EDGEWISE_TOKEN?: string }).EDGEWISE_TOKEN;
  await reset();
});

/** A settled run of 60 examples, which pass where `passes` says. */
async function settledRun(passes: (example: number) => boolean): Promise<string> {
  const lineOf = (unit: number): string => {
    const reward = passes(unit) ? "1.0" : "0.0";
    return `{"example_id":${unit},"prompt":[{"role":"user","content":"${unit}?"}],"completion":[{"role":"assistant","content":"a"}],"reward":${reward},"error":null,"metrics":{},"rollout_index":0}\n`;
  };
  const config = await storedRun(60, { lineOf });
  fleet ??= new Fleet({ model: new ScriptedModel() });
  await run(config.run_id).poke();
  await fleet.settled(config.run_id);
  return config.run_id;
}

const ask = async (path: string, body: object) =>
  await app.request(
    `https://edgewise.example/api/v1/comparisons${path}`,
    { method: "POST", headers: { authorization: "Bearer right", "content-type": "application/json" }, body: JSON.stringify(body) },
    service,
  );
const compare = (runs: readonly string[]) => ask("", { runs, show: 2 });

it("runs that have settled are compared from what is stored of them", { timeout: 60_000 }, async () => {
  const [a, b] = [await settledRun((i) => i < 40), await settledRun((i) => i >= 15 && i < 40)];
  const response = await compare([a, b]);
  const body: unknown = await response.json();
  expect([response.status, body]).toEqual([200, comparisonAnswer.parse(body)]);
  expect(body).toMatchObject({
    baseline: { run: a, examples: 60, rollouts: 60, errored: 0 },
    comparisons: [
      {
        candidate: { run: b },
        joined: 60,
        worse: 15,
        better: 0,
        metrics: [{ metric: "reward", test: "mcnemar", difference: expect.closeTo(-0.25, 12), discordant: { only_baseline: 15, only_candidate: 0 } }],
        regressions: [
          { example_id: 0, rows: [1, 1] },
          { example_id: 1, rows: [2, 2] },
        ],
      },
    ],
  });
  expect((await compare([a, "0000cccc"])).status).toBe(404);
  const page = await ask("/examples", { runs: [a, b], only: "worse", offset: 13, limit: 10 });
  const examples: unknown = await page.json();
  expect([page.status, examples]).toEqual([200, comparedExamplesAnswer.parse(examples)]);
  expect(examples).toMatchObject({
    total: 15,
    worse: 15,
    equal: 45,
    examples: [13, 14].map((id) => [1, 0].map((mean) => ({ example_id: id, mean, row: id + 1, rows: 1 }))),
  });
  const row = await app.request(
    `https://edgewise.example/api/v1/evaluations/${b}/samples?page=14&limit=1`,
    { headers: { authorization: "Bearer right" } },
    service,
  );
  expect(await row.json()).toMatchObject({ samples: [{ example_id: 13, reward: 0 }] });
  expect((await ask("/examples", { runs: [a, "0000cccc"] })).status).toBe(404);
});
