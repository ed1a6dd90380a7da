import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusteredDifference } from "../../../src/metrics/comparison/clustered-difference.ts";
import type { ComparedRun } from "../../../src/metrics/comparison/compare-runs.ts";
import { compareTables, type MetricComparison } from "../../../src/metrics/comparison/compare-tables.ts";
import { pairedDifference } from "../../../src/metrics/comparison/paired-difference.ts";
import { type ScoreTable, ScoreTableBuilder } from "../../../src/metrics/comparison/score-table.ts";
import { signFlipTest } from "../../../src/metrics/comparison/sign-flips.ts";
import { unpairedDifference } from "../../../src/metrics/comparison/unpaired-difference.ts";
import { type GateWish, gateRun } from "../../../src/metrics/gate/gate.ts";
import { RowKeys } from "../../../src/metrics/one-run/row-keys.ts";

/** Example i has this reward, and shares its passage with others. */
function tableOf(rewards: readonly number[], passage: (i: number) => unknown, trusted = true): ScoreTable {
  const builder = new ScoreTableBuilder({ trusted, clusterBy: "passage" });
  for (const [i, reward] of rewards.entries())
    builder.add({ example_id: i, prompt: `${i}`, answer: "", reward, error: null, metrics: {}, info: { passage: passage(i) } }, i + 1);
  return builder.table();
}
const rewardOf = (a: ScoreTable, b: ScoreTable, unpaired = false): MetricComparison =>
  compareTables(a, [b], { range: [0, 1], unpaired, shown: 0, alpha: 0.05 })[0]?.metrics[0] as MetricComparison;
const numbers = (length: number, value: (i: number) => number): number[] => Array.from({ length }, (_, i) => value(i));

describe("a difference over groups of examples", () => {
  it("has the standard error of as many means where groups are of one size, and that of pairs where each is its own", () => {
    const score = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(score, score), { minLength: 3, maxLength: 3 }), { minLength: 3, maxLength: 20 }), (groups) => {
        const pairs = groups.flat();
        const runs = [0, 1].map((run) => Float64Array.from(pairs, (pair) => pair[run] ?? 0)) as [Float64Array, Float64Array];
        const found = pairedDifference(...runs, [0, 1]);
        const means = [0, 1].map((run) => Float64Array.from(groups, (group) => group.reduce((sum, pair) => sum + (pair[run] ?? 0), 0) / 3)) as [
          Float64Array,
          Float64Array,
        ];
        const ofMeans = pairedDifference(...means, [0, 1]);
        const grouped = clusteredDifference(
          found,
          runs,
          Float64Array.from(pairs, (_, i) => Math.floor(i / 3)),
          [0, 1],
        );
        expect(grouped.clusters).toBe(groups.length);
        expect(grouped.stderr ?? 0).toBeCloseTo(ofMeans.stderr ?? 0, 10);
        expect(grouped.ci95?.[0] ?? 0).toBeCloseTo(ofMeans.ci95?.[0] ?? 0, 8);
        const alone = clusteredDifference(
          found,
          runs,
          Float64Array.from(pairs, (_, i) => i),
          [0, 1],
        );
        expect(alone.stderr ?? 0).toBeCloseTo(found.stderr ?? 0, 10);
      }),
    );
  });

  it("is tested by flipping the signs of whole groups where there are few, by t beyond, and never by pairs that are not independent", () => {
    // Six passages of ten questions, of which one run has the whole passage or nothing.
    const a = tableOf(
      numbers(60, () => 1),
      (i) => Math.floor(i / 10),
    );
    const b = tableOf(
      numbers(60, (i) => (i < 30 ? 0 : 1)),
      (i) => Math.floor(i / 10),
    );
    const few = rewardOf(a, b);
    expect(few).toMatchObject({ test: "sign_flips", n: 60, clusters: 6, difference: -0.5, p: signFlipTest(Float64Array.of(1, 1, 1, 0, 0, 0)) });
    expect(few.p).toBe(0.25);
    expect(few.interval).toEqual(few.ci95);
    const ungrouped = { ...a, clusters: null };
    expect(rewardOf(ungrouped, { ...b, clusters: null })).toMatchObject({ test: "mcnemar", p: expect.closeTo(2 / 2 ** 30, 12) });
    const many = (value: (i: number) => number) => tableOf(numbers(240, value), (i) => i % 120);
    expect(
      rewardOf(
        many((i) => i % 2),
        many((i) => (i % 3 === 0 ? 0 : 1)),
      ),
    ).toMatchObject({ test: "t", clusters: 120 });
  });

  it("of other examples is Welch's over the groups of either run", () => {
    const means = Float64Array.from([0, 0, 1, 1, 0, 1]);
    const halves = Float64Array.from([0, 0, 1, 1, 2, 2]);
    const { stderr } = unpairedDifference({ means, clusters: halves }, { means, clusters: halves }, [0, 1]);
    // Means of the groups are 0, 1 and 0.5: variance 0.25 over three of them, twice.
    expect(stderr).toBeCloseTo(Math.sqrt((2 * 0.25) / 3), 12);
    const table = tableOf([...means], (i) => Math.floor(i / 2));
    expect(rewardOf(table, table, true)).toMatchObject({ test: "welch", clusters: 3, stderr });
  });

  it("stays with the examples of a file that names them wrongly", () => {
    // Row i is of example i mod 4, and its id is i / 2.
    const builder = new ScoreTableBuilder({ trusted: false, clusterBy: "passage" });
    for (let i = 0; i < 8; i++)
      builder.add({ id: Math.floor(i / 2), prompt: `${i % 4}`, answer: "", reward: 1, metrics: {}, info: JSON.stringify({ passage: (i % 4) % 2 }) }, i + 1);
    const { examples, clusters } = builder.table();
    expect([examples, new Set(clusters).size, clusters?.[0] === clusters?.[2]]).toEqual([4, 2, true]);
  });
});

describe("a gate over groups of examples", () => {
  const run = (name: string, rewards: readonly number[], table = tableOf(rewards, (i) => i % 5)): ComparedRun => ({
    name,
    model: "m",
    metadata: {},
    range: [0, 1],
    table,
  });
  const wish: GateWish = { maxDrop: 0.02, min: null, metric: "reward", alpha: 0.05, unpaired: false, accepted: false, clusterBy: "passage" };

  it("decides by what is independent: 400 examples of five passages are five observations", () => {
    const good = run(
      "good",
      numbers(400, (i) => (i % 10 < 7 ? 1 : 0)),
    );
    // A tenth of the examples, all of one passage.
    const worse = run(
      "worse",
      numbers(400, (i) => (i % 10 < 7 && i % 10 !== 1 ? 1 : 0)),
    );
    const outcome = gateRun(worse, good, wish);
    if (outcome.kind === "refused") throw new Error("refused");
    expect(outcome.report).toMatchObject({ verdict: "undecided", cluster_by: "passage", checks: [{ n: 400, clusters: 5, value: expect.closeTo(-0.1, 12) }] });
    const mean = gateRun(good, null, { ...wish, maxDrop: null, min: 0.65 });
    if (mean.kind === "refused") throw new Error("refused");
    expect(mean.report.checks[0]).toMatchObject({ n: 400, clusters: 5, verdict: "undecided" });
    const single = gateRun(
      run(
        "good",
        [],
        tableOf(
          numbers(400, (i) => (i % 10 < 7 ? 1 : 0)),
          (i) => i,
        ),
      ),
      null,
      { ...wish, maxDrop: null, min: 0.65 },
    );
    if (single.kind === "refused") throw new Error("refused");
    expect(single.report.checks[0]).toMatchObject({ clusters: 400, verdict: "pass" });
  });

  it("asks for as many more examples as observations are missing where no group differs", () => {
    const same = run(
      "same",
      numbers(50, (i) => i % 2),
    );
    const outcome = gateRun(same, same, wish);
    if (outcome.kind === "refused") throw new Error("refused");
    // 189 observations, of ten examples each.
    expect(outcome.report.checks[0]?.if_equal?.examples).toBeGreaterThan(1_870);
  });
});

describe("a key that rows are grouped by", () => {
  it("is unknown where no row has it, and then those that rows have are named", () => {
    const keys = new RowKeys("passsage");
    expect(keys.unknown()).toBeNull();
    keys.add({ example_id: 1, prompt: "long", info: '{"passage": 3, "deep": {"er": 1}}', reward: 0.5, error: null });
    expect(keys.unknown()).toEqual({ key: "passsage", known: ["example_id", "reward", "passage"] });
    keys.add({ info: { passsage: null } });
    expect(keys.unknown()).not.toBeNull();
    keys.add({ info: { passsage: 0 } });
    expect(keys.unknown()).toBeNull();
  });
});
