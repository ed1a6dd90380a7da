import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import type { Env } from "../../../src/env.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet, NEVER } from "../support/fleet.ts";
import { createRun, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, STEADY_LAPSE_MS, until } from "../support/service.ts";

/** Whoever scores waits for ever. */
let hangs = true;

const judged = defineEnvironment({
  id: "judged",
  version: "1.0.0",
  description: "Rollouts of an example are judged together.",
  args: z.object({}),
  load: () =>
    new SingleTurnEnv({
      dataset: [{ question: "one" }, { question: "two" }],
      rubric: new Rubric([
        groupReward(async function together({ states }) {
          return hangs ? NEVER : states.map(() => 1);
        }),
      ]),
    }),
});

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;

interface Page {
  readonly samples: readonly { readonly example_id: number; readonly rollout_index: number; readonly open?: boolean; readonly reward: number | null }[];
  readonly total: number;
}
const samples = async (id: string, query: string): Promise<Page> =>
  (await app.request(`http://localhost/api/v1/evaluations/${id}/samples${query}`, {}, local)).json();

let fleet: Fleet;
let model: ScriptedModel;
beforeEach(() => {
  registerEnvironments([judged]);
  setVars(STEADY);
  hangs = true;
  model = new ScriptedModel({ reply: () => "yes" });
  fleet = new Fleet({ model });
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});
afterAll(() => registerEnvironments([]));

describe("what is generated and not scored when its executor dies", () => {
  it("is shown as open to whoever asks, and is scored before a run that is cancelled rests, without a call of the model", { timeout: 60_000 }, async () => {
    const config = await createRun({ env_id: "judged", num_examples: 2, rollouts_per_example: 2, max_concurrent: 4 });
    const { run_id } = config;
    await until("all rollouts to be kept", async () => (await viewOf(run_id)).kept?.rollouts === 4, 30_000);
    expect(await samples(run_id, "")).toMatchObject({ total: 0, samples: [] });
    const open = await samples(run_id, "?open=true");
    const named = open.samples.map(({ example_id, rollout_index, ...sample }) => [example_id, rollout_index, sample.open, sample.reward]);
    expect([open.total, named]).toEqual([4, [0, 1].flatMap((example) => [0, 1].map((rollout) => [example, rollout, true, null]))]);
    expect((await samples(run_id, "?open=true&page=2&limit=3")).samples).toMatchObject([{ example_id: 1, rollout_index: 1, open: true }]);

    for (const executor of fleet.executors) executor.kill();
    hangs = false;
    expect(await run(run_id).cancel()).toMatchObject({ ok: true });
    skip(STEADY_LAPSE_MS);
    await run(run_id).poke();
    const view = await fleet.settled(run_id, 30_000);
    expect(view).toMatchObject({ status: "CANCELLED", units: { done: 2 } });
    expect((await rowsOf(config)).map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward])).toEqual([
      [0, 0, 1],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 1],
    ]);
    expect(model.total).toBe(4);
  });
});
