import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { BaselineScores } from "../../../durable-objects/run/stopping/stopping-store.ts";
import { PinnedOrder } from "../../../src/pinned-order.ts";
import { StopWatch } from "../../../src/metrics/sequential/stop-watch.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RuleRun, summary } from "../../support/run/rule-run.ts";
import { environmentOf, prepared, questions } from "../../support/run/prepared-run.ts";

const ALL = 500;
const SEED = 5;
/** The baseline, whose digest is not known: what it asks is compared. */
const VERSUS = { run_id: "0000beef", env_id: "e", model: "m", dataset_digest: null };
/** Of an example of the data set: no other has it. */
const gradeOf = (example: number): number => example / 1_000;
const promptOf = (example: number): JsonObject[] => [{ role: "user", content: `q${example}` }];
const rowOf = (example: number, changes: JsonObject = {}): JsonObject => ({
  example_id: example,
  prompt: promptOf(example),
  answer: "",
  reward: gradeOf(example),
  ...changes,
});
const graded = (examples: number): JsonObject[] => Array.from({ length: examples }, (_, example) => rowOf(example));

/** What a run of `count` of the questions is told of a baseline with these rows, and the example that stands at each of its positions. */
async function told(rows: readonly JsonObject[], { count = ALL, ...more }: { count?: number; shuffle_seed?: number; rollouts_per_example?: number } = {}) {
  const { report, objects } = await prepared(environmentOf(questions(ALL), new Rubric([{ name: "graded", fn: () => 1 }])), {
    count,
    more: { order_seed: SEED, stop_when: "vs 0000beef", stop_alpha: 0.05, stop_baseline: VERSUS, rollouts_per_example: 1, ...more },
    whole: true,
    inParts: true,
    rows,
  });
  const bytes = [...report.chunks]
    .sort((a, b) => a.lo - b.lo)
    .map(({ digest }) => new TextDecoder().decode(objects.get(`runs/0000abcd/inputs/${digest}.jsonl`)));
  const ids = bytes.flatMap((text) => text.trimEnd().split("\n")).map((line) => (JSON.parse(line) as { example_id: number }).example_id);
  if (report.baseline === undefined) throw new Error("no scores were told");
  return { report, ids, baseline: report.baseline };
}

describe("the scores of a baseline", () => {
  it("stand where the examples stand that they are of, in the order that was drawn", async () => {
    const { report, ids, baseline } = await told(graded(ALL));
    const order = new PinnedOrder(SEED, report.permuted ?? []);
    expect(report.permuted).toEqual([{ lo: 0, hi: ALL }]);
    expect(ids).toEqual(Array.from({ length: ALL }, (_, position) => order.rankOf(position)));
    expect(ids.filter((id, position) => id !== position).length).toBeGreaterThan(ALL / 2);
    expect(baseline).toEqual({ scores: ids.map(gradeOf), pairs: false } satisfies BaselineScores);
  });

  it("are found by the id of the example, whatever the order of its rows, and where the run is of some examples only", async () => {
    const { ids, baseline } = await told(graded(ALL).reverse(), { count: 100, shuffle_seed: 3 });
    expect(ids).toHaveLength(100);
    expect(Math.max(...ids)).toBeGreaterThan(200);
    expect(baseline.scores).toEqual(ids.map(gradeOf));
  });

  it("are the mean of an example's attempts; of those that ended in an error, the least and the most that it can be", async () => {
    const rows = graded(ALL).flatMap((row, example) => [
      { ...row, reward: 1 },
      { ...row, reward: 0 },
      example % 7 === 3 ? { ...row, reward: 0, error: { error: "TimeoutError" } } : { ...row, reward: 0.5 },
    ]);
    const { ids, baseline } = await told(rows, { rollouts_per_example: 3 });
    for (const [position, id] of ids.entries()) {
      const score = baseline.scores[position];
      if (id % 7 === 3) expect(score).toEqual([expect.closeTo(1 / 3, 9), expect.closeTo(2 / 3, 9)]);
      else expect(score).toBeCloseTo(0.5, 9);
    }
  });

  it("are pairs where all are 0 and 1 of single attempts", async () => {
    const { ids, baseline } = await told(graded(ALL).map((row, example) => ({ ...row, reward: example % 3 === 0 ? 1 : 0 })));
    expect(baseline).toEqual({ scores: ids.map((id) => (id % 3 === 0 ? 1 : 0)), pairs: true });
  });

  it("are refused where the baseline lacks an example, or asked something else there", async () => {
    const refused = { code: "not_comparable", message: expect.stringContaining("it has not 1 of the examples of this run (7)") };
    await expect(told(graded(ALL).filter((_, example) => example !== 7))).rejects.toMatchObject(refused);
    await expect(told(graded(ALL).map((row, example) => (example === 7 ? { ...row, answer: "other" } : row)))).rejects.toMatchObject(refused);
  });

  it("are those that the Run compares its examples with, one by one", async () => {
    const { report, ids, baseline } = await told(graded(ALL));
    const run = new RuleRun({ num_examples: ALL, order_seed: SEED, stop_when: "vs 0000beef", stop_alpha: 0.05, stop_baseline: VERSUS, max_concurrent: 64 });
    run.pin(ALL, { permuted: report.permuted ?? [], baseline });
    // Better by little, which a score of another example would hide.
    const scoreOf = (unit: number): number => gradeOf(ids[unit] ?? 0) + 0.35;
    run.work((unit) => [summary({ reward: scoreOf(unit) })]);
    const watch = new StopWatch({ rule: { kind: "versus", baseline: "0000beef" }, alpha: 0.05, population: ALL });
    let unit = 0;
    for (; unit < ALL && watch.decision() === null; unit++) watch.add(scoreOf(unit), gradeOf(ids[unit] ?? 0));
    expect(watch.decision()).toMatchObject({ finding: "better", examples: unit });
    expect(run.head.stopped).toMatchObject(watch.decision() ?? {});
    expect(run.head.stopped?.interval[0]).toBeGreaterThan(0);
  });
});
