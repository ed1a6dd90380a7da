import { describe, expect, it } from "vitest";
import { type EvalStore, type PredictionRecord, uploadEval } from "../../../src/evaluators/benchmark/store.ts";

const RECORD = { run_id: "r", benchmark_id: null, step: 50, metrics: { mean_reward: 1 } };
async function* rows(eval_id: string): AsyncGenerator<PredictionRecord> {
  for (let at = 0; at < 5; at += 1) {
    yield {
      kind: "eval",
      eval_id,
      task_id: `${at}`,
      sample_index: 0,
      step: 50,
      instruction: "?",
      expected: "!",
      reward: 1,
      completion_token_ids: null,
      metadata: {},
    };
  }
}
async function uploaded(store: EvalStore): Promise<readonly string[]> {
  const warnings: string[] = [];
  await uploadEval(store, RECORD, rows, (line) => warnings.push(line));
  return warnings;
}

describe("what an evaluation is kept by", () => {
  it("has the evaluation first, and then its rows under its id, in bulk where it can", async () => {
    const kept: string[] = [];
    const createEval = async () => "e1";
    expect(await uploaded({ createEval, addPrediction: async ({ task_id, eval_id }) => kept.push(`${eval_id}/${task_id}`) })).toEqual([]);
    expect(kept).toEqual(["e1/0", "e1/1", "e1/2", "e1/3", "e1/4"]);
    const batches: number[] = [];
    expect(await uploaded({ createEval, addPredictions: async (batch) => batches.push(batch.length) })).toEqual([]);
    expect(batches).toEqual([5]);
  });

  it("gets no rows where it raises at creation or gives no id, and what it raises at a row ends the upload and nothing else", async () => {
    const kept: string[] = [];
    const addPrediction = async ({ task_id }: PredictionRecord): Promise<void> => {
      if (kept.length === 2) throw new Error("full");
      kept.push(task_id);
    };
    expect(await uploaded({ createEval: () => Promise.reject(new Error("down")), addPrediction })).toEqual(["the store failed after 0 rows: down"]);
    expect(await uploaded({ createEval: async () => null, addPrediction })).toEqual([expect.stringContaining("no id")]);
    expect(kept).toEqual([]);
    expect(await uploaded({ createEval: async () => "e", addPrediction })).toEqual(["the store failed after 2 rows: full"]);
    expect(kept).toEqual(["0", "1"]);
  });
});
