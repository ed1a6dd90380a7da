import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketEstimates, bucketName } from "../../../../src/metrics/named/breakdown-names.ts";
import { MetricRegistry } from "../../../../src/metrics/named/metric-registry.ts";
import { passAllK, passAtK } from "../../../../src/metrics/pass-at-k.ts";

const ALL = ["mean_reward", "avg", "pass_rate", "pass@1", "pass@3", "pass^3"];
const valuesOf = (tasks: readonly (readonly number[])[], names: readonly string[] = ALL): Readonly<Record<string, number>> =>
  Object.fromEntries([...new MetricRegistry().compute(names, tasks).estimates].map(([name, { value }]) => [name, value]));
const rewards = fc.array(fc.array(fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1.5, noNaN: true })), { maxLength: 6 }), { maxLength: 12 });
const binary = (attempts: number) => fc.array(fc.array(fc.constantFrom(0, 1), { minLength: attempts, maxLength: attempts }), { minLength: 1, maxLength: 20 });

describe("metrics by name", () => {
  it("are the first-k ones of the seed, by its own edges: no attempts, fewer than k, no tasks", () => {
    expect(valuesOf([[0, 1, 0, 1], [1, 1, 1], [0.5], [], [1, 1]])).toEqual({
      mean_reward: (0.5 + 1 + 0.5 + 1) / 4,
      avg: (0.5 + 1 + 0.5 + 1) / 4,
      pass_rate: 7 / 10,
      "pass@1": 2 / 4,
      "pass@3": 3 / 4,
      "pass^3": 2 / 4,
    });
    expect(valuesOf([])).toEqual({ mean_reward: 0, avg: 0, pass_rate: 0, "pass@1": 0, "pass@3": 0, "pass^3": 0 });
    expect(valuesOf([[]], [])).toEqual({ mean_reward: 0, pass_rate: 0 });
    expect(valuesOf([[1, 0]], [])).toEqual({ mean_reward: 0.5, pass_rate: 0.5 });
  });

  it("look at the first k attempts alone, and hold the order of any-of to all-of", () => {
    fc.assert(
      fc.property(rewards, rewards, (tasks, more) => {
        const now = valuesOf(tasks);
        expect(now.avg).toBe(now.mean_reward);
        expect(now["pass^3"]).toBeLessThanOrEqual(now["pass@1"] ?? 0);
        expect(now["pass@1"]).toBeLessThanOrEqual(now["pass@3"] ?? 0);
        const longer = valuesOf(
          tasks.map((task, at) => (task.length < 3 ? task : [...task, ...(more[at] ?? [])])),
          ["pass@1", "pass@3", "pass^3"],
        );
        expect(longer).toEqual({ "pass@1": now["pass@1"], "pass@3": now["pass@3"], "pass^3": now["pass^3"] });
      }),
    );
  });

  it("equal the unbiased ones where k is all attempts, and their mean over every order of attempts where it is not", () => {
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const passed = (task: readonly number[]): number => task.filter((each) => each === 1).length;
    fc.assert(
      fc.property(binary(3), (tasks) => {
        expect(valuesOf(tasks)["pass@3"]).toBeCloseTo(mean(tasks.map((task) => passAtK(3, passed(task), 3))), 12);
        expect(valuesOf(tasks)["pass^3"]).toBeCloseTo(mean(tasks.map((task) => passAllK(3, passed(task), 3))), 12);
      }),
    );
    const orders = ([...task]: readonly number[]): readonly number[][] =>
      task.length === 0 ? [[]] : task.flatMap((each, at) => orders(task.toSpliced(at, 1)).map((rest) => [each, ...rest]));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1), { minLength: 4, maxLength: 4 }), (task) => {
        const all = orders(task).map((order) => valuesOf([order]));
        expect(mean(all.map((each) => each["pass@3"] ?? 0))).toBeCloseTo(passAtK(4, passed(task), 3), 12);
        expect(mean(all.map((each) => each["pass^3"] ?? 0))).toBeCloseTo(passAllK(4, passed(task), 3), 12);
      }),
      { numRuns: 20 },
    );
  });

  it("say of 30 problems, of which 28 are solved in the first three attempts and 25 in each, what was published of AIME 2024", () => {
    const tasks = Array.from({ length: 30 }, (_, at) => [
      ...(at < 25 ? [1, 1, 1] : at < 28 ? [0, 1, 0] : [0, 0, 0]),
      ...Array.from({ length: 61 }, () => at % 2),
    ]);
    const { "pass@3": any, "pass^3": all } = valuesOf(tasks);
    expect([any?.toFixed(6), all?.toFixed(6)]).toEqual(["0.933333", "0.833333"]);
  });

  it("have an error by tasks, and none where attempts are of different numbers or nothing varies", () => {
    const { estimates } = new MetricRegistry().compute(ALL, [
      [1, 1],
      [0, 0],
      [1, 0],
      [0, 0],
    ]);
    expect(estimates.get("mean_reward")).toMatchObject({ value: 0.375, n: 4, stderr: expect.closeTo(Math.sqrt(0.2291666 / 4), 4) });
    expect(estimates.get("pass_rate")?.stderr).toBeCloseTo(estimates.get("mean_reward")?.stderr ?? 0, 12);
    expect(new MetricRegistry().compute(["pass_rate"], [[1], [0, 1]]).estimates.get("pass_rate")).toMatchObject({ value: 2 / 3, stderr: null, ci95: null });
  });

  it("that nobody registered are left out with a warning, and a name is registered once", () => {
    const registry = new MetricRegistry();
    const { estimates, warnings } = registry.compute(["pass@33", "avg"], [[1]]);
    expect([...estimates.keys()]).toEqual(["avg"]);
    expect(warnings).toEqual([expect.stringMatching(/no metric "pass@33".*pass@3/)]);
    registry.register("best", (tasks) => Math.max(...tasks.flat()));
    expect(registry.compute(["best"], [[0.25], [0.75]]).estimates.get("best")).toMatchObject({ value: 0.75, stderr: null });
    for (const name of ["best", "avg", "n_tasks"]) expect(() => registry.register(name, () => 0)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    registry.register("broken", () => Number.NaN);
    expect(() => registry.compute(["broken"], [[1]])).toThrow(/"broken" gave NaN/);
  });
});

describe("metrics by key", () => {
  it("are the headline's over each bucket, under names that no two buckets share", () => {
    const tasks = [
      { rewards: [1, 0], metadata: { source: { level: 5 } } },
      { rewards: [0, 0], metadata: { source: { level: 5 } } },
      { rewards: [1, 1], metadata: { source: { level: "a]=b" } } },
      { rewards: [1, 1], metadata: {} },
    ];
    const named = bucketEstimates(new MetricRegistry(), [], ["source.level"], tasks);
    expect(Object.fromEntries([...named].map(([name, { value, n }]) => [name, [value, n]]))).toEqual({
      "mean_reward[source.level=5]": [0.25, 2],
      "pass_rate[source.level=5]": [0.25, 2],
      "mean_reward[source.level=a\\]\\=b]": [1, 1],
      "pass_rate[source.level=a\\]\\=b]": [1, 1],
      "mean_reward[source.level=__missing__]": [1, 1],
      "pass_rate[source.level=__missing__]": [1, 1],
    });
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        if (a !== c || b !== d) expect(bucketName("m", a, b)).not.toBe(bucketName("m", c, d));
      }),
    );
  });
});
