import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { repairGroup } from "../../../src/environments/unit/repair-group.ts";
import { runUnit, type UnitOptions } from "../../../src/environments/unit/run-unit.ts";
import type { KeptRollout } from "../../../src/environments/unit/stored-rollout.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { rawFields } from "../../../src/rollouts/rows/raw-fields.ts";
import { summariseRow } from "../../../src/rollouts/rows/row.ts";
import type { Client, RolloutInput } from "../../../src/rollouts/types.ts";
import { type GroupRewardContext, groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

const input: RolloutInput = { example_id: 4, prompt: [{ role: "user", content: "a number" }], task: "t" };
const numbers = ({ completions }: GroupRewardContext): number[] => completions.map((completion) => Number(completion[0]?.content ?? 0));
/** How much more each says than the mean of all. */
const ahead = groupReward(function ahead(context: GroupRewardContext) {
  const said = numbers(context);
  const mean = said.reduce((sum, each) => sum + each, 0) / said.length;
  return said.map((each) => each - mean);
});
/** The same, by how often the model was called: a row holds the number of its calls, and not the calls. */
const byCalls = groupReward(function byCalls({ states }: GroupRewardContext) {
  return states.map(({ trajectory }) => trajectory.map(({ response }) => Number(response.message.content)).reduce((sum, each) => sum + each, 0));
});

const env = (fn: typeof ahead) => new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([fn]) });

/** A model that says these one after another; null = it fails. */
function model(...says: (string | null)[]): Client & { calls: number } {
  return {
    type: "scripted",
    calls: 0,
    async getResponse({ onBegin }) {
      onBegin?.();
      const content = says[this.calls++] ?? null;
      if (content === null) throw new EdgewiseError("provider_error", "down");
      const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, reasoning_tokens: 0 };
      return { id: "r", created: 0, model: "m", usage, message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null } };
    },
  };
}

const options = (client: Client, changes: Partial<UnitOptions> = {}): UnitOptions => ({
  unit: 0,
  rollouts: [0, 1, 2],
  kept: [],
  rolloutsPerExample: 3,
  client,
  model: "m",
  sampling_args: { max_tokens: null },
  maxRetries: 0,
  independent: false,
  stateColumns: ["advantage"],
  signal: new AbortController().signal,
  deadlineMs: null,
  now: Date.now,
  sleep,
  random: () => 0.5,
  ...changes,
});
const rowsOf = (lines: readonly string[]): JsonObject[] => lines.map((line) => JSON.parse(line) as JsonObject);

/** A run of three of which the second failed; the rows of the others. */
async function failed(environment: SingleTurnEnv): Promise<{ lines: readonly string[]; kept: KeptRollout[] }> {
  const { lines } = await runUnit(inProcess(environment), input, options(model("3", null, "9")));
  const kept = [0, 2].map((index) => {
    const line = lines[index] ?? "";
    return { index, line, summary: summariseRow(JSON.parse(line) as JsonObject) };
  });
  return { lines, kept };
}

const SCORES = ["reward", "metrics", "ahead", "timing", "advantage", "scored_anew"];

describe("an example whose rollouts are judged together", () => {
  it("has only those drawn again that failed, and all scored anew; what the others said is there byte for byte", async () => {
    const { lines: before, kept } = await failed(env(ahead));
    expect(rowsOf(before).map(({ reward }) => reward)).toEqual([-1, -4, 5]);
    const client = model("6");
    const { lines, summaries, fatal } = await repairGroup(inProcess(env(ahead)), input, options(client, { rollouts: [1], kept, scoredAnew: true }));
    expect(rowsOf(lines).map(({ scored_anew }) => scored_anew)).toEqual([true, true, true]);
    expect([client.calls, fatal]).toEqual([1, null]);
    expect(rowsOf(lines).map(({ rollout_index, reward, error }) => [rollout_index, reward, error])).toEqual([
      [0, -3, null],
      [1, 0, null],
      [2, 3, null],
    ]);
    expect(summaries.map(({ reward }) => reward)).toEqual([-3, 0, 3]);
    for (const at of [0, 2]) {
      const old = new Map(rawFields(before[at] ?? ""));
      for (const [name, text] of rawFields(lines[at] ?? "")) if (!SCORES.includes(name)) expect(text, name).toBe(old.get(name));
    }
  });

  it("is scored with rollouts that were generated meanwhile, without a call", async () => {
    const { kept } = await failed(env(ahead));
    const client = model("6");
    const states = new Map();
    await runUnit(
      inProcess(env(ahead)),
      input,
      options(client, { rolloutsPerExample: 1, rollouts: [0], onRollout: (_, state) => states.set(1, structuredClone({ ...state })) }),
    );
    states.get(1).client = null;
    const { lines } = await repairGroup(inProcess(env(ahead)), input, options(client, { rollouts: [1], kept, generated: states }));
    expect([client.calls, rowsOf(lines).map(({ reward }) => reward)]).toEqual([1, [-3, 0, 3]]);
  });

  it("has those drawn again too of which a function wants what no row holds, and none of what was generated for it twice", async () => {
    const { kept } = await failed(env(byCalls));
    const client = model("6", "1", "2");
    const { lines } = await repairGroup(inProcess(env(byCalls)), input, options(client, { rollouts: [1], kept }));
    expect(client.calls).toBe(3);
    expect(rowsOf(lines).map(({ reward, error }) => [reward, error])).toEqual([
      [1, null],
      [6, null],
      [2, null],
    ]);
  });
});
