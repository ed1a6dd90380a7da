import { evictDurableObject, reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { defineEnvironment, type EnvironmentDefinition } from "../../../src/environments/definition/definition.ts";
import { environmentDigest, registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, expectNumbersOfRows, type ResultRow, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, run, service, setVars, QUICK, STEADY } from "../support/service.ts";

type Score = (context: RewardContext) => number;

/** The same environment with other code. */
const slips = (source: string, score: Score, together = false): EnvironmentDefinition =>
  defineEnvironment({
    id: "slips",
    version: "1",
    source,
    description: "Numbers, scored with a slip.",
    args: z.object({}),
    load: () =>
      new SingleTurnEnv({
        dataset: Array.from({ length: 12 }, (_, n) => ({ question: `number ${n}`, answer: String(n) })),
        rubric: new Rubric([
          { name: "read", fn: score },
          ...(together ? [{ name: "group", fn: groupReward(({ states }) => states.map((_, index) => index)) }] : []),
        ]),
      }),
  });
const fails: Score = ({ answer }) => {
  if (Number(answer) % 2 === 0) throw new Error("a slip");
  return 1;
};

let fleet: Fleet;
let model: ScriptedModel;
beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model" });
});
afterEach(async () => {
  await fleet.close();
  await reset();
});
afterAll(() => registerEnvironments([]));

async function settled(before: EnvironmentDefinition, changes: Partial<RunConfig> = {}): Promise<RunConfig> {
  registerEnvironments([before]);
  model = new ScriptedModel();
  fleet = new Fleet({ model });
  const config = await createRun({ env_id: "slips", env_version: "1", num_examples: 12, rollouts_per_example: 2, ...changes });
  await fleet.settled(config.run_id);
  await fleet.close();
  return config;
}

async function resumed({ run_id }: RunConfig, after: EnvironmentDefinition, options: Partial<FleetOptions> = {}) {
  registerEnvironments([after]);
  fleet = new Fleet({ model, ...options });
  return await run(run_id).resume({ ...NOTHING_NEW, env_digest: await environmentDigest(after, {}) });
}

const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;
const generated = (row: ResultRow): unknown[] => [
  row.prompt,
  row.completion,
  row.token_usage,
  row.stop_condition,
  (row.timing as { generation_ms: number }).generation_ms,
];

describe("a run whose reward function failed for some of its rollouts", () => {
  it("has them scored from their segments once the code is mended, through dead executors and a Run that starts anew; the model is not asked", async () => {
    setVars(QUICK);
    const config = await settled(slips("slip", fails));
    const before = await expectComplete(config);
    expect(before.filter((row) => codeOf(row) === "scorer_error")).toHaveLength(12);
    const asked = model.total;
    let puts = 0;
    const mended = slips("mended", ({ answer: n }) => Number(n) / 10 + 1);
    const answer = await resumed(config, mended, {
      onStore: async (call) => {
        const sent = await call.send();
        if (call.method !== "create" || ++puts > 2) return sent;
        // The segment is there, its commit is not.
        if (puts === 1) call.by.kill();
        else await evictDurableObject(rawRun(config.run_id));
        return sent;
      },
      budget: { requests: 4 },
    });
    expect(answer).toMatchObject({ ok: true, value: { owed_rollouts: 12, owed_scores: 12 } });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(puts).toBeGreaterThan(1);
    expect(model.total).toBe(asked);
    expect(rows.filter((row) => codeOf(row) !== null)).toEqual([]);
    for (const [at, row] of rows.entries()) {
      const old = before[at] as ResultRow;
      expect(generated(row)).toEqual(generated(old));
      const even = row.example_id % 2 === 0;
      expect(row.env_digest).toBe(even ? await environmentDigest(mended, {}) : undefined);
      expect(row.reward).toBe(even ? row.example_id / 10 + 1 : 1);
      if (!even) expect(row).toEqual(old);
    }
  });

  it("has whole groups scored again where a function judges them together", async () => {
    const config = await settled(slips("slip", fails, true), { num_examples: 4, rollouts_per_example: 3 });
    const asked = model.total;
    expect(
      await resumed(
        config,
        slips("mended", () => 10, true),
      ),
    ).toMatchObject({ value: { owed_scores: 6 } });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(model.total).toBe(asked);
    expect(rows.map(({ reward }) => reward)).toEqual([10, 11, 12, 1, 2, 3, 10, 11, 12, 1, 2, 3]);
  });

  it("keeps the rows that lack what the mended function reads, and says what that is", async () => {
    const config = await settled(slips("slip", fails), { num_examples: 2 });
    const before = await rowsOf(config);
    await resumed(
      config,
      slips("mended", ({ state }) => Number(state.board)),
    );
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({ status: "COMPLETED", totals: { errors: { scorer_error: 2 } } });
    expect(await rowsOf(config)).toEqual(before);
    const log = await run(config.run_id).logTail(10);
    expect(log?.map(({ message }) => message).join("\n")).toMatch(/2 rollouts could not be scored again, since the reward functions read state\.board/);
    await expectNumbersOfRows(config);
  });

  it("is left alone by the code that failed, which would fail again", async () => {
    const config = await settled(slips("slip", fails), { num_examples: 2 });
    expect(await resumed(config, slips("slip", fails))).toMatchObject({
      ok: true,
      value: { owed_rollouts: 0, warnings: [expect.stringContaining("has not changed")] },
    });
    expect(await viewOf(config.run_id)).toMatchObject({ phase: "settled" });
  });
});
