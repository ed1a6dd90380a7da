import { describe, expect, test } from "vitest";
import { TaskTable } from "../../../src/metrics/named/task-table.ts";
import { breakdownOf, metadataOfKeys } from "../../../src/training/breakdown-values.ts";
import { definitionOf, definitionSchema } from "../../../src/training/definition-schema.ts";
import { mlflowKey } from "../../../src/training/mlflow.ts";

/** Tasks with one attempt each, whose rows have this as `info`. */
function tasksOf(infos: readonly unknown[], keys: readonly string[]) {
  const table = new TaskTable(metadataOfKeys(keys));
  for (const [at, info] of infos.entries()) table.add({ example_id: at, reward: at % 2, error: null, info }, at + 1);
  return table.tasks;
}
const breakdown = (infos: readonly unknown[], keys: readonly string[], metrics = ["mean_reward", "acc"], independent = true) =>
  breakdownOf(metrics, keys, tasksOf(infos, keys), independent);

describe("breakdowns of a step", () => {
  test("are the metrics over rewards for the tasks of each value, of a benchmark's metadata or of what rows carry", () => {
    const { values, missing } = breakdown([{ level: { n: 1 } }, { level: { n: 1 } }, { level: { n: 2 }, more: "x".repeat(1_000) }, {}], ["level.n"]);
    expect(values).toEqual({
      "mean_reward[level.n=1]": { value: 0.5, ci95: expect.any(Array) },
      "mean_reward[level.n=2]": { value: 0 },
      "mean_reward[level.n=__missing__]": { value: 1 },
    });
    expect(missing).toEqual([]);
    expect(breakdown([{ a: 1 }, { a: 1 }], ["a"], undefined, false).values).toEqual({ "mean_reward[a=1]": { value: 0.5 } });
    const task = { task_id: "t", instruction: "?", verifier: { kind: "e2b" }, metadata: { kind: "a]b" } };
    expect(Object.keys(breakdown([task], ["kind", "task_id"]).values)).toEqual(["mean_reward[kind=a\\]b]", "mean_reward[task_id=__missing__]"]);
    expect(tasksOf([{ level: { n: 2 }, more: "x".repeat(1_000) }], ["level.n"])[0]?.metadata).toEqual({ "level.n": "2" });
  });

  test("of a key with more values than a step keeps, or longer ones, are named as missing", () => {
    const many = Array.from({ length: 101 }, (_, at) => ({ id: at, half: at % 2, text: "x".repeat(60) }));
    const { values, missing } = breakdown(many, ["half", "id", "text"]);
    expect(Object.keys(values)).toEqual(["mean_reward[half=0]", "mean_reward[half=1]"]);
    expect(missing).toEqual(["mean_reward[id]", "mean_reward[text]"]);
    expect(Object.keys(breakdown(many.slice(0, 100), ["id"]).values)).toHaveLength(100);
    expect(breakdown(many.slice(0, 100), ["id"], ["mean_reward", "pass_rate"]).values).toEqual({});
  });

  test("are asked for by a definition, with a metric that is made of rewards", () => {
    const given = (more: object) => definitionSchema.safeParse({ evaluations: [{ eval: { env_id: "gsm8k" }, breakdown_keys: ["level", "level"], ...more }] });
    const parsed = given({});
    if (!parsed.success) throw new Error("was refused");
    expect(definitionOf(parsed.data).evaluations[0]?.breakdown_keys).toEqual(["level"]);
    for (const wrong of [{ metrics: ["perplexity"] }, { breakdown_keys: [] }, { breakdown_keys: ["a", "b", "c", "d", "e", "f"] }]) {
      expect(given(wrong).error?.issues).toMatchObject([{ path: ["evaluations", 0, "breakdown_keys"] }]);
    }
  });

  test("have names in MLflow that no two values share", () => {
    expect(mlflowKey("val/e/pass@1[level=1]")).toBe("val/e/pass_at_first_1/level/1");
    const names = ["a b", "a_b", "a\\=b", "a/b", "a\\]b"].map((value) => mlflowKey(`val/e/acc[k=${value}]`));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^val\/e\/acc\/k\/[\w.-]+$/);
  });
});
