import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { segmentPrefix } from "../../../r2-layout/keys.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import type { State } from "../../../src/rollouts/types.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, rowsOf, viewOf } from "../support/runs.ts";
import { neverAnswer, ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, STEADY_LAPSE_MS, until } from "../support/service.ts";

/** How often a rollout was set up, over all tests. */
let setups = 0;

class Talk extends MultiTurnEnv {
  override async setupState(state: State): Promise<void> {
    setups++;
    state.said = 0;
  }
  override envResponse(_messages: unknown, state: State): string {
    state.said = Number(state.said) + 1;
    return `go on ${state.said}`;
  }
}

const talk = defineEnvironment({
  id: "talk",
  version: "1.0.0",
  description: "Goes on for many turns.",
  args: z.object({ turns: z.int().default(40), examples: z.int().default(1) }),
  load: ({ turns, examples }) =>
    new Talk({
      dataset: Array.from({ length: examples }, () => ({ question: "begin" })),
      maxTurns: turns,
      rubric: new Rubric([
        groupReward(function longest({ states }) {
          const turnsOf = states.map(({ trajectory }) => trajectory.length);
          return turnsOf.map((count) => count / Math.max(...turnsOf));
        }),
      ]),
    }),
});

let fleet: Fleet;
let model: ScriptedModel;
function begin(options: Partial<FleetOptions> = {}): void {
  model = new ScriptedModel({ reply: () => "yes" });
  fleet = new Fleet({ model, ...options });
}
beforeEach(() => {
  registerEnvironments([talk]);
  setVars(STEADY);
  setups = 0;
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});
afterAll(() => registerEnvironments([]));

const settings = { env_id: "talk", num_examples: 1, max_concurrent: 1, state_columns: ["said"] };

describe("a rollout that takes longer than an executor", () => {
  it("of 48 turns of a minute crosses five slices of 12, and has one row, with its own time and usage", { timeout: 60_000 }, async () => {
    // A minute is 60 ms here, and a slice has ten of them or fewer, as the machine is fast; the wall is further away than it would be, so that a
    // machine which stands still for a moment cuts nobody off. Whoever comes after another executor comes an hour later.
    const seen = new Set<string>();
    begin({
      executors: 1,
      budget: { requests: 1, slice: 12 * 60 * 0.8, wall: 5_000, unitDeadline: 4_500, keepTurns: 10 },
      onRun: async ({ by, method, send }) => {
        const answer = await send();
        if (method === "claim") seen.add(by.id);
        if (method === "leave") skip(3_600_000);
        return answer;
      },
    });
    model.options = { latencyMs: 60, reply: () => "yes" };
    const turns = 48;
    const config = await createRun({ ...settings, env_args: { turns } });
    await fleet.settled(config.run_id, 40_000);
    const rows = await rowsOf(config);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ error: null, stop_condition: "max_turns_reached", said: turns - 1, reward: 1, num_turns: turns });
    expect(rows[0]?.completion).toHaveLength(2 * turns - 1);
    expect(seen.size).toBeGreaterThanOrEqual(5);
    // Nothing was asked twice, set up twice, or given up.
    expect([model.total, setups]).toEqual([turns, 1]);
    const { timing, token_usage: usage } = rows[0] as unknown as {
      timing: { generation_ms: number };
      token_usage: { output_tokens: number; input_tokens: number };
    };
    expect(timing.generation_ms).toBeGreaterThan(turns * 50);
    expect(timing.generation_ms).toBeLessThan(3_600_000);
    expect(usage.output_tokens).toBeGreaterThan(0);
    expect(usage.output_tokens % turns).toBe(0);
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0, status: "COMPLETED" });
  });

  it("that hangs in one turn ends with a timeout row, after the turns before were kept", { timeout: 60_000 }, async () => {
    begin({ executors: 1, budget: { requests: 1, slice: 900, wall: 1_500, unitDeadline: 600, keepTurns: 10 } });
    model.options = { latencyMs: 60, reply: ({ attempt }) => (attempt > 20 ? neverAnswer() : "yes") };
    const config = await createRun({ ...settings });
    await fleet.settled(config.run_id, 40_000);
    expect(await rowsOf(config)).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: "timeout" }) })]);
  });
});

describe("executors that are killed", () => {
  it("lose the call in flight where each turn is kept, and no more: rollouts of several turns, scored as a group", { timeout: 60_000 }, async () => {
    begin({ executors: 2, budget: { requests: 4, keepTurns: 0 } });
    model.options = { latencyMs: 30, reply: () => "yes" };
    const config = await createRun({ ...settings, env_args: { turns: 12, examples: 3 }, num_examples: 3, rollouts_per_example: 3, max_concurrent: 8 });
    let lost = 0;
    for (let kills = 0; kills < 4; kills++) {
      const before = model.total;
      await until("calls", async () => model.total > before + 12 || (await viewOf(config.run_id)).phase === "settled");
      lost += model.inFlight;
      for (const executor of fleet.living) executor.kill();
      // What they had sent has arrived; then their leases are over, and nobody else's.
      await viewOf(config.run_id);
      skip(STEADY_LAPSE_MS);
      await run(config.run_id).poke();
    }
    await fleet.settled(config.run_id, 40_000);
    const rows = await rowsOf(config);
    expect(rows.map(({ said, reward, error }) => [said, reward, error])).toEqual(Array.from({ length: 9 }, () => [11, 1, null]));
    // What was in flight at each kill, and the answers whose segment was on its way.
    expect(model.total).toBeLessThanOrEqual(9 * 12 + 2 * lost);
    expect(setups).toBeLessThanOrEqual(9 + lost);
    const segments = await service.BUCKET.list({ prefix: segmentPrefix(config.run_id) });
    expect(segments.objects.length).toBeGreaterThan(0);
  });
});
