import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparability, comparedFacts } from "../../../src/metrics/comparison/comparability.ts";
import { compareRuns, type ComparedRun } from "../../../src/metrics/comparison/compare-runs.ts";
import { compareTables, type MetricComparison } from "../../../src/metrics/comparison/compare-tables.ts";
import { holm } from "../../../src/metrics/comparison/holm.ts";
import { joinTables } from "../../../src/metrics/comparison/join.ts";
import { discordant, mcnemar } from "../../../src/metrics/comparison/mcnemar.ts";
import { pairedDifference } from "../../../src/metrics/comparison/paired-difference.ts";
import { detectableDifference, neededExamples, plannedStderr } from "../../../src/metrics/comparison/power.ts";
import { type ScoreTable, ScoreTableBuilder } from "../../../src/metrics/comparison/score-table.ts";
import { signFlipTest } from "../../../src/metrics/comparison/sign-flips.ts";
import { unpairedDifference } from "../../../src/metrics/comparison/unpaired-difference.ts";
import { varianceComponents } from "../../../src/metrics/comparison/variance-components.ts";
import { normalUpperTail } from "../../../src/metrics/distributions/normal.ts";

type Row = Readonly<Record<string, unknown>>;

const row = (example_id: number, reward: number, rest: Row = {}): Row => ({
  example_id,
  prompt: `question ${example_id}`,
  answer: "a",
  reward,
  error: null,
  metrics: {},
  ...rest,
});

function tableOf(rows: readonly Row[], trusted = true): ScoreTable {
  const builder = new ScoreTableBuilder({ trusted });
  for (const [i, one] of rows.entries()) builder.add(one, i + 1);
  return builder.table();
}

/** Single attempts of two runs by how often both passed, only the first, only the second, and neither. */
function passes(both: number, onlyA: number, onlyB: number, neither: number): readonly [Float64Array, Float64Array] {
  const of = (...counts: readonly (readonly [number, number])[]): Float64Array =>
    Float64Array.from(counts.flatMap(([value, count]) => Array.from({ length: count }, () => value)));
  return [of([1, both], [1, onlyA], [0, onlyB], [0, neither]), of([1, both], [0, onlyA], [1, onlyB], [0, neither])];
}

const compared = (a: ScoreTable, b: ScoreTable, unpaired = false) => {
  const [comparison] = compareTables(a, [b], { range: [0, 1], unpaired, shown: 3 });
  if (comparison === undefined) throw new Error("nothing compared");
  return comparison;
};
const rewardOf = (metrics: readonly MetricComparison[]): MetricComparison => metrics.find(({ metric }) => metric === "reward") as MetricComparison;

describe("runs with a key for groups of examples", () => {
  it("that are compared over examples are so with a warning", () => {
    const facts = (cluster_by?: string) => comparedFacts({ env_id: "e", edgewise: { env_digest: `v2:${"a".repeat(64)}`, status: "COMPLETED", cluster_by } });
    expect(comparability(facts(), facts(), false).warnings).toEqual([]);
    for (const [a, b] of [
      [facts("passage"), facts()],
      [facts(), facts("passage")],
    ] as const)
      expect([comparability(a, b, false, true).warnings, comparability(a, b, false).warnings]).toEqual([
        [],
        [expect.stringContaining('examples share "passage", and are taken for independent here')],
      ]);
  });
});

describe("published comparisons", () => {
  // Recomputed from real transcripts by other code; discordant counts and marginals as printed.
  it.each([
    ["wiki-search, mini against gpt-4.1", [77, 1, 11, 11], 0.1, 0.033333, 0.052915, 26 / 4096],
    ["GSM8K, 6b_verification against 175b_verification", [436, 79, 306, 498], 0.1721, 0.014106, 0.019165, 1.24e-32],
    ["GSM8K, 175b_finetuning against 6b_verification", [306, 152, 209, 652], 0.043215, 0.014361, undefined, 0.003151],
  ] as const)("%s", (_, [both, onlyA, onlyB, neither], difference, stderr, unpaired, p) => {
    const [a, b] = passes(both, onlyA, onlyB, neither);
    const found = pairedDifference(a, b, [0, 1]);
    expect(Math.abs(found.difference - difference)).toBeLessThan(5.01e-7 + (difference === 0.1721 ? 5e-5 : 0));
    expect(Math.abs((found.stderr ?? 0) - stderr)).toBeLessThan(5.01e-7);
    // The printed one takes each run's error by itself.
    if (unpaired !== undefined) expect(Math.abs((found.unpaired_stderr ?? 0) - unpaired)).toBeLessThan(5.01e-7);
    const exact = mcnemar(discordant(a, b, 1));
    expect(Math.abs(exact / p - 1)).toBeLessThan(p < 1e-10 ? 5e-3 : 2e-4);
  });

  // The ends of Tango's interval are solved for by another way in the tests of gates.
  it.each([
    ["wiki-search", [77, 1, 11, 11], [0.0393, 0.1782]],
    ["GSM8K", [436, 79, 306, 498], [0.1446, 0.2]],
    ["GSM8K, fine-tuned", [306, 152, 209, 652], [0.0151, 0.0715]],
    ["hardly a pair that differs", [199, 1, 0, 0], [-0.0278, 0.0139]],
  ] as const)(
    "%s: the interval shown is the score interval of matched pairs, which a gate decides by, beside McNemar's p",
    (_, [both, onlyA, onlyB, neither], shown) => {
      const runs = passes(both, onlyA, onlyB, neither).map((rewards) => tableOf([...rewards].map((reward, i) => row(i, reward)))) as [ScoreTable, ScoreTable];
      const [at5, at1] = [0.05, 0.01].map((alpha) => compareTables(runs[0], [runs[1]], { range: [0, 1], unpaired: false, shown: 0, alpha })[0]?.metrics[0]);
      expect(at5).toMatchObject({ test: "mcnemar", p: mcnemar({ only_baseline: onlyA, only_candidate: onlyB }), interval: at5?.ci95 });
      expect(at5?.ci95?.map((end) => end.toFixed(4))).toEqual(shown.map((end) => end.toFixed(4)));
      expect([at1?.ci95, (at1?.interval?.[1] ?? 0) > shown[1]]).toEqual([at5?.ci95, true]);
    },
  );

  it("lm-evaluation-harness #3831: p is 0.008 paired and 0.080 unpaired, over 220 examples", () => {
    // Only the two p values and the number of examples are published. Of all counts that have them there are three, and those with passes and failures
    // exchanged; these are the ones with most examples that differ.
    const [a, b] = passes(68, 12, 30, 110);
    const { difference, unpaired_stderr } = pairedDifference(a, b, [0, 1]);
    expect(mcnemar(discordant(a, b, 1)).toFixed(3)).toBe("0.008");
    expect((2 * normalUpperTail(difference / (unpaired_stderr ?? 1))).toFixed(3)).toBe("0.080");
  });
});

describe("a paired difference", () => {
  it("has the variance of both less what they share, and t's interval", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 3, maxLength: 60 }),
        (pairs) => {
          const [a, b] = [Float64Array.from(pairs.map(([x]) => x)), Float64Array.from(pairs.map(([, y]) => y))];
          const { n, stderr, unpaired_stderr, correlation, difference, ci95 } = pairedDifference(a, b, [0, 1]);
          const back = pairedDifference(b, a, [0, 1]);
          expect(back.difference).toBeCloseTo(-difference, 12);
          if (stderr === null || unpaired_stderr === null) return;
          const [seA, seB] = [a, b].map((values) => {
            const mean = values.reduce((sum, value) => sum + value, 0) / n;
            return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) / n);
          }) as [number, number];
          expect(unpaired_stderr ** 2).toBeCloseTo(seA ** 2 + seB ** 2, 12);
          expect(stderr ** 2).toBeCloseTo(seA ** 2 + seB ** 2 - 2 * seA * seB * (correlation ?? 0), 10);
          expect(ci95?.[0]).toBeLessThanOrEqual(difference);
          expect(ci95?.[1]).toBeGreaterThanOrEqual(difference);
        },
      ),
    );
  });

  it("of runs that agree everywhere is 0 with an interval that is not", () => {
    const [a] = passes(30, 0, 0, 70);
    const { difference, stderr, ci95, t_p } = pairedDifference(a, a, [0, 1]);
    expect([difference, stderr, t_p]).toEqual([0, null, null]);
    expect(ci95?.[1]).toBeCloseTo(0.03699, 4);
    expect(pairedDifference(a, a, null).ci95).toBeNull();
    const [none, all] = passes(0, 0, 50, 0);
    expect(pairedDifference(none, all, [0, 1])).toMatchObject({ difference: 1, ci95: [expect.closeTo(0.9286, 3), 1] });
  });

  it("never leaves what a difference can be", () => {
    expect(pairedDifference(Float64Array.of(0, 0, 0.5), Float64Array.of(1, 1, 1), [0, 1]).ci95?.[1]).toBe(1);
  });
});

describe("tests", () => {
  it("of flipped signs are exact for few pairs, and drawn the same each time for many", () => {
    expect(signFlipTest(Float64Array.of(1, 1, 1, 1, 1))).toBe(2 / 32);
    expect(signFlipTest(Float64Array.of(1, -1, 0, 0))).toBe(1);
    expect(signFlipTest(Float64Array.of(0.3, 0.1, -0.2))).toBe(6 / 8);
    expect(signFlipTest(new Float64Array(0))).toBe(1);
    const many = Float64Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? -0.5 : 0.5));
    expect(signFlipTest(many)).toBe(signFlipTest(many));
    // 26 of 40 to one side: the binomial says 0.0807.
    expect(Math.abs(signFlipTest(many) - 0.0807)).toBeLessThan(0.006);
  });

  it("of McNemar is that of flipped signs, where both are exact", () => {
    fc.assert(
      fc.property(fc.nat({ max: 9 }), fc.nat({ max: 9 }), (b, c) => {
        const [one, two] = passes(2, b, c, 1);
        expect(mcnemar({ only_baseline: b, only_candidate: c })).toBeCloseTo(signFlipTest(two.map((value, i) => value - (one[i] ?? 0))), 12);
      }),
    );
  });

  it("are adjusted by Holm: the smallest by all of them, never below one before it", () => {
    expect(holm([0.01, 0.04, null, 0.03])).toEqual([0.03, 0.06, null, 0.06]);
    expect(holm([0.6, 0.7])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });

  it("over samples of two are Welch's", () => {
    // As scipy.stats.ttest_ind has it with equal_var=False.
    const found = unpairedDifference({ means: Float64Array.of(1, 2, 3, 4), clusters: null }, { means: Float64Array.of(2, 4, 6, 8, 4), clusters: null }, null);
    expect(found.difference).toBeCloseTo(2.3, 12);
    expect(found.stderr).toBeCloseTo(Math.sqrt(1.25 / 3 + 5.2 / 5), 12);
    expect(found.t_p).toBeCloseTo(0.10184766, 7);
  });
});

describe("power", () => {
  it("finds the difference that the formula says, and the examples that it takes", () => {
    expect(detectableDifference(0.01, 1_000_000)).toBeCloseTo(0.01 * (1.959964 + 0.841621), 6);
    // Miller 2024: w^2 = 1/9, sA = sB = 1/6, d = 0.03 asks for 969 questions at one attempt.
    const variances = { between: 1 / 9, withinA: 0, withinB: 0 };
    expect(neededExamples(variances, 0.03)).toBe(969);
    expect(neededExamples({ between: 0.05, withinA: 0.1, withinB: 0.1 }, 0.03, { attemptsA: 2, attemptsB: 2 })).toBeLessThan(
      neededExamples({ between: 0.05, withinA: 0.1, withinB: 0.1 }, 0.03),
    );
    expect(plannedStderr({ between: 0.04, withinA: 0.08, withinB: 0.08 }, 100, 2, 2)).toBeCloseTo(Math.sqrt(0.12 / 100), 12);
  });

  it("knows what examples differ by from what attempts do", () => {
    // Means 0.5, 0.5: all spread is that of attempts, 2 x 0.5 over 2 degrees of freedom.
    expect(varianceComponents(Float64Array.of(0.5, 0.5), { squares: 1, freedom: 2, inverse: 1 })).toEqual({ between: 0, within: 0.5 });
    expect(varianceComponents(Float64Array.of(0, 1), { squares: 0, freedom: 2, inverse: 1 })).toEqual({ between: 0.5, within: 0 });
    expect(varianceComponents(Float64Array.of(0, 1), { squares: 0, freedom: 0, inverse: 2 })).toEqual({ between: 0.5, within: null });
  });
});

describe("examples of two runs", () => {
  const rows = Array.from({ length: 30 }, (_, i) => row(i, i % 2));

  it("are joined whatever the order of rows", () => {
    const shuffled = rows.toReversed().map((one) => ({ ...one, reward: 1 }));
    const { joined, only_baseline, metrics, better, worse } = compared(tableOf(rows), tableOf(shuffled));
    expect([joined, only_baseline, better, worse]).toEqual([30, 0, 15, 0]);
    expect(rewardOf(metrics)).toMatchObject({ test: "mcnemar", difference: 0.5, discordant: { only_baseline: 0, only_candidate: 15 } });
  });

  it("under other ids are the same where they ask the same, once", () => {
    const renamed = rows.map((one, i) => ({ ...one, example_id: 1_000 + i }));
    expect(joinTables(tableOf(rows), tableOf(renamed)).a).toHaveLength(30);
    const twice = [...rows.slice(0, 2), { ...rows[0], example_id: 77 }];
    expect(joinTables(tableOf(twice), tableOf(renamed)).a).toHaveLength(1);
    expect(joinTables(tableOf(twice), tableOf(twice)).a).toHaveLength(3);
  });

  it("are the same where a prompt is a text, and where it is the message that a text is read as", () => {
    const messages = rows.map((one) => ({ ...one, prompt: [{ role: "text", content: one.prompt, tool_calls: null }] }));
    expect(compared(tableOf(rows), tableOf(messages))).toMatchObject({ joined: 30, differing: 0 });
  });

  it("with one id and another prompt or answer are told, and not compared", () => {
    const other = rows.map((one, i) => (i < 4 ? { ...one, prompt: "something else" } : i < 6 ? { ...one, answer: "b" } : one));
    const { joined, differing, only_candidate, warnings } = compared(tableOf(rows), tableOf(other));
    expect([joined, differing, only_candidate]).toEqual([24, 6, 6]);
    expect(warnings.join("\n")).toContain("6 examples have the same id and another prompt or answer");
  });

  it("are told apart by what they ask where a file names them wrongly", () => {
    // Row i is of example i mod 5, and its id is i / 2.
    const wrong = Array.from({ length: 10 }, (_, i) => ({ id: Math.floor(i / 2), prompt: `question ${i % 5}`, answer: "a", reward: 1, metrics: {} }));
    const table = tableOf(wrong, false);
    expect(table.wrongIds).toBe(true);
    expect([table.examples, table.single]).toEqual([5, false]);
  });

  it("without prompts are joined by id, with a warning", () => {
    const bare = rows.map(({ prompt: _, ...one }) => one);
    const { joined, warnings } = compared(tableOf(bare), tableOf(rows));
    expect(joined).toBe(30);
    expect(warnings.join("\n")).toContain("joined by their ids alone");
  });

  it("have no score where every rollout ended in an error, and only that of the others where some did", () => {
    const failed = { error: { error: "TimeoutError", code: "timeout" }, reward: 0 };
    const table = tableOf([row(0, 1), row(0, 0, failed), row(1, 0, failed), ...rows.slice(2)]);
    const { unscored, metrics, warnings } = compared(table, tableOf(rows));
    expect(unscored).toBe(1);
    expect(rewardOf(metrics)).toMatchObject({ n: 29, baseline: expect.closeTo(15 / 29, 12) });
    expect(warnings.join("\n")).toContain("6.5 % of the rollouts of the baseline ended in an error");
  });

  it("that lost most come first, with where their rows are", () => {
    const a = tableOf([row(0, 1), row(1, 0.5), row(2, 0), row(3, 1)]);
    const b = tableOf([row(3, 1), row(2, 0.75), row(1, 0.25), row(0, 0)]);
    const { regressions, improvements, worse, better, equal } = compared(a, b);
    expect([worse, better, equal]).toEqual([2, 1, 1]);
    expect(regressions.map(({ example_id, rows: at, difference }) => [example_id, at, difference])).toEqual([
      [0, [1, 4], -1],
      [1, [2, 3], -0.25],
    ]);
    expect(improvements.map(({ example_id }) => example_id)).toEqual([2]);
  });

  it("are compared by the mean of their attempts", () => {
    const several = (rewards: readonly number[]): Row[] => rewards.flatMap((reward, i) => [row(i, reward), row(i, 0)]);
    const { metrics } = compared(tableOf(several([1, 1, 1, 0, 1, 1])), tableOf(several([0, 0, 0, 0, 0, 0])));
    expect(rewardOf(metrics)).toMatchObject({ test: "sign_flips", difference: expect.closeTo(-5 / 12, 12), p: 2 / 32 });
  });

  it("pay for every metric that is compared, but not for the reward under another name, nor for one that nothing changes", () => {
    const with_ = (value: number, other: number) =>
      rows.map((one, i) => ({ ...one, reward: i % 2, metrics: { correct: i % 2, safe: i < other ? value : 1, num_turns: 1 } }));
    const { metrics } = compared(tableOf(with_(0, 12)), tableOf(with_(0, 2)));
    expect(metrics.map(({ metric, test, p, p_holm }) => [metric, test, p === null ? null : p > 0.5, p_holm === null])).toEqual([
      ["reward", "mcnemar", true, false],
      ["safe", "mcnemar", false, false],
      ["num_turns", "sign_flips", true, false],
    ]);
    expect(metrics[1]?.p_holm).toBeGreaterThan(metrics[1]?.p ?? 1);
  });
});

describe("runs that differ in more than their answers", () => {
  const metadata = (own: Row = {}, rest: Row = {}): Row => ({
    env_id: "gsm8k",
    model: "m",
    env_args: {},
    ...rest,
    edgewise: { status: "COMPLETED", env_digest: `v2:${"a".repeat(64)}`, ...own },
  });
  const verdict = (a: Row, b: Row, accepted = false) => comparability(comparedFacts(a), comparedFacts(b), accepted);
  const run = (name: string, rows: readonly Row[], facts: Row = metadata()): ComparedRun => ({
    name,
    model: "m",
    metadata: facts,
    range: [0, 1],
    table: tableOf(rows),
  });
  const wish = { unpaired: false, accepted: false, shown: 0 };

  it("are refused where another scorer made the scores, with what would make them comparable", () => {
    const other = metadata({ env_digest: `v2:${"b".repeat(64)}` });
    expect(verdict(metadata(), metadata())).toEqual({ refusals: [], warnings: [] });
    expect(verdict(metadata(), other).refusals[0]).toMatchObject({
      reason: expect.stringContaining("code of environment gsm8k is not the same"),
      hint: expect.stringContaining("--accept-code-change"),
    });
    expect(verdict(metadata(), metadata({}, { env_id: "math" })).refusals[0]?.reason).toContain("gsm8k and math");
    expect(verdict(metadata(), other, true)).toMatchObject({ refusals: [], warnings: [expect.stringContaining("(accepted)")] });
  });

  it("are compared with a warning where it is not known, or arguments differ", () => {
    expect(verdict(metadata(), { env_id: "gsm8k", model: "m" }).warnings).toEqual(["whether both were scored by the same code is not known"]);
    expect(verdict(metadata(), metadata({ env_digest: `v2:${"b".repeat(64)}` }, { env_args: { judge: "x" } }))).toMatchObject({
      refusals: [],
      warnings: [expect.stringContaining("(judge)")],
    });
    expect(verdict(metadata(), metadata({ status: "RUNNING" })).warnings.join()).toContain("has not ended");
  });

  it("are refused where no example is in both, unless they are compared as two samples", () => {
    const [a, b] = [
      [row(0, 1), row(1, 0), row(2, 1)],
      [row(10, 1), row(11, 0), row(12, 0)],
    ];
    expect(compareRuns([run("A", a), run("B", b)], wish)).toMatchObject({
      kind: "refused",
      refusals: [{ reason: "A and B: no example of the one is in the other", hint: expect.stringContaining("--unpaired") }],
    });
    const outcome = compareRuns([run("A", a), run("B", b)], { ...wish, unpaired: true });
    expect(outcome).toMatchObject({ kind: "compared", comparisons: [{ paired: false, metrics: [{ test: "welch", difference: expect.closeTo(-1 / 3, 12) }] }] });
  });

  it("are adjusted together: three runs against one baseline cost more than one", () => {
    const rows = Array.from({ length: 40 }, (_, i) => row(i, i < 20 ? 1 : 0));
    const better = rows.map((one, i) => ({ ...one, reward: i < 30 ? 1 : 0 }));
    const alone = compareRuns([run("A", rows), run("B", better)], wish);
    const three = compareRuns([run("A", rows), run("B", better), run("C", better), run("D", better)], wish);
    if (alone.kind === "refused" || three.kind === "refused") throw new Error("refused");
    const [one, many] = [alone, three].map(({ comparisons }) => comparisons[0]?.metrics[0]);
    expect(one?.p_holm).toBe(one?.p);
    expect(many?.p_holm).toBeCloseTo(3 * (many?.p ?? 0), 12);
  });
});
