import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { RolloutErrorCode } from "../../../src/errors/codes.ts";
import { type Aggregates, Aggregator } from "../../../src/metrics/aggregates.ts";
import { passAllK, passAtK } from "../../../src/metrics/pass-at-k.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";

type Row = Readonly<Record<string, unknown>>;

function aggregatesOf(units: readonly (readonly RolloutSummary[])[], rolloutsPerExample = 1, passThreshold = 0.5): Aggregates {
  const aggregator = new Aggregator({ rolloutsPerExample, passThreshold });
  for (const unit of units) aggregator.addUnit(unit);
  return aggregator.result();
}
const ofRows = (...rows: Row[]): Aggregates => aggregatesOf(rows.map((row) => [summaryOfRow(row)]));

const rollout = (reward: number, rest: Partial<RolloutSummary> = {}): RolloutSummary => ({
  reward,
  error: null,
  input_tokens: 0,
  output_tokens: 0,
  truncated: false,
  metrics: {},
  ...rest,
});
const failed = (error: RolloutErrorCode, reward = 0): RolloutSummary => rollout(reward, { error });

/** `c` passes and `n - c` failures. */
const passes = (c: number, n: number): RolloutSummary[] => Array.from({ length: n }, (_, i) => rollout(i < c ? 1 : 0));
// Cases of tests/test_save_utils.py: the metric classes.
describe("averages over rows", () => {
  it("of the reward take every row, a missing one as 0", () => {
    expect(ofRows({ reward: 0.3 }, { reward: 0.7 }).avg_reward).toBeCloseTo(0.5, 14);
    expect(ofRows({}).avg_reward).toBe(0);
    expect(ofRows({ reward: true }, { reward: false }).avg_reward).toBe(0.5);
  });
  it("of errors count every non-null one", () => {
    expect(ofRows({ error: "some error" }, {}, { error: null }, { error: "another" }).avg_error).toBe(0.5);
  });
  it("of tokens skip rows that report none", () => {
    const { usage } = ofRows({ token_usage: { input_tokens: 100, output_tokens: 50 } }, {}, { token_usage: { input_tokens: 200, output_tokens: 100 } });
    expect(usage).toEqual({ input_tokens: 150, output_tokens: 75 });
  });
  it("of the final context stand beside them, over the rows that know it", () => {
    const { usage } = ofRows(
      { token_usage: { input_tokens: 450, output_tokens: 75, final_output_tokens: 75, final_input_tokens: 155 } },
      { token_usage: { input_tokens: 600, output_tokens: 120, final_output_tokens: 120, final_input_tokens: 0 } },
      { token_usage: { input_tokens: 6, output_tokens: 3 } },
    );
    expect(usage).toEqual({ input_tokens: 352, output_tokens: 66, final_input_tokens: 77.5, final_output_tokens: 97.5 });
  });
  it("of a metric take the rows that have it", () => {
    const { avg_metrics } = ofRows({ metrics: { accuracy: 1, f1: 0.8 } }, { metrics: { accuracy: 0 } }, { metrics: { accuracy: 0, f1: 0.4 } });
    expect(avg_metrics.accuracy).toBeCloseTo(1 / 3, 14);
    expect(avg_metrics.f1).toBeCloseTo(0.6, 14);
  });
  it("of metrics skip what is no number, and count booleans as numbers", () => {
    expect(ofRows({ metrics: { a: "high", b: true, c: null } }, { metrics: { b: false } }).avg_metrics).toEqual({ b: 0.5 });
  });
  it("list metrics as they first appear", () => {
    expect(Object.keys(ofRows({ metrics: { z: 1, a: 1 } }, { metrics: { m: 1, a: 1 } }).avg_metrics)).toEqual(["z", "a", "m"]);
  });
  it("of nothing are zeros, and null where zero would be a statement", () => {
    expect(aggregatesOf([])).toEqual({
      rollouts: 0,
      avg_reward: 0,
      avg_metrics: {},
      avg_error: 0,
      pass_at_k: {},
      pass_all_k: {},
      pass_at_k_ci95: {},
      pass_all_k_ci95: {},
      metric_estimates: {},
      corpus: null,
      error_bounds: null,
      usage: null,
      n_clusters: 0,
      reward_stderr: null,
      reward_ci95: null,
      errored_rollouts: 0,
      truncated_rollouts: 0,
      errors: {},
      reward_without_errors: null,
      tokens_total: { input_tokens: 0, output_tokens: 0 },
      costs: null,
      judges_total: null,
      cache_total: null,
      other_prompts: 0,
    });
  });
  it("count what judges took apart from the model's tokens", () => {
    const judges = { requests: 2, input_tokens: 80, output_tokens: 3 };
    const { tokens_total, judges_total, usage } = aggregatesOf([[{ ...rollout(1), judges }, rollout(0)], [{ ...rollout(1), judges }]]);
    expect(judges_total).toEqual({ requests: 4, input_tokens: 160, output_tokens: 6 });
    expect([tokens_total, usage]).toEqual([aggregatesOf([[rollout(1), rollout(0), rollout(1)]]).tokens_total, aggregatesOf([[rollout(1)]]).usage]);
  });
  it("count how calls were answered, the cached ones' tokens among the run's", () => {
    const cache = { calls: 2, cached: 1, input_tokens: 80, output_tokens: 3, judges: { calls: 1, cached: 1, input_tokens: 5, output_tokens: 1 } };
    const { cache_total, tokens_total } = aggregatesOf([[{ ...rollout(1), cache }, rollout(0)], [{ ...rollout(1), cache }]]);
    expect(cache_total).toEqual({
      calls: 4,
      cached: 2,
      input_tokens: 160,
      output_tokens: 6,
      judges: { calls: 2, cached: 2, input_tokens: 10, output_tokens: 2 },
    });
    expect(tokens_total).toEqual(aggregatesOf([[rollout(1), rollout(0), rollout(1)]]).tokens_total);
  });
  it("have neither pass@k nor an interval where attempts at one example have different prompts", () => {
    const units = [
      [rollout(1), rollout(0)],
      [rollout(1), { ...rollout(1), other_prompt: true as const }],
      [rollout(0), rollout(0)],
    ];
    expect(aggregatesOf(units)).toMatchObject({ pass_at_k: {}, pass_all_k: {}, reward_stderr: null, reward_ci95: null, other_prompts: 1, avg_reward: 0.5 });
  });
  it("are those of a plain sum over the rows in order, digit by digit", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 4 }), { minLength: 1 }), (units) => {
        let sum = 0;
        for (const reward of units.flat()) sum += reward;
        expect(aggregatesOf(units.map((unit) => unit.map((reward) => rollout(reward)))).avg_reward).toBe(sum / units.flat().length);
      }),
    );
  });
});

describe("parts of a run", () => {
  const arbitrary = fc.record({
    reward: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: -2, max: 2, noNaN: true })),
    error: fc.option(fc.constantFrom<RolloutErrorCode>("timeout", "rate_limited")),
    tokens: fc.nat({ max: 50 }),
    metric: fc.constantFrom("a", "b"),
  });
  const units = fc.array(
    fc.array(
      arbitrary.map(({ reward, error, tokens, metric }) =>
        rollout(reward, { error, input_tokens: tokens, metrics: { [metric]: reward }, ...(tokens > 25 ? { final_input_tokens: tokens } : {}) }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    { maxLength: 12 },
  );
  const close = (a: unknown, b: unknown): boolean =>
    typeof a === "number" && typeof b === "number"
      ? Math.abs(a - b) < 1e-9
      : typeof a === "object" && a !== null && typeof b === "object" && b !== null
        ? Object.keys({ ...a, ...b }).every((key) => close((a as Row)[key], (b as Row)[key]))
        : a === b;

  it("merge to what the whole would have given", () => {
    fc.assert(
      fc.property(units, units, (first, second) => {
        const part = (of: typeof first): Aggregator => {
          const aggregator = new Aggregator({ rolloutsPerExample: 2, passThreshold: 0.5 });
          for (const unit of of) aggregator.addUnit(unit);
          return aggregator;
        };
        const merged = part(first);
        merged.merge(part(second));
        const whole = part([...first, ...second]).result();
        expect(close(merged.result(), whole)).toBe(true);
      }),
    );
  });

  it("of other settings do not merge", () => {
    const other = new Aggregator({ rolloutsPerExample: 3, passThreshold: 0.5 });
    expect(() => new Aggregator({ rolloutsPerExample: 2, passThreshold: 0.5 }).merge(other)).toThrow(RangeError);
  });
});

describe("errored rollouts", () => {
  const result = aggregatesOf([
    [rollout(1, { input_tokens: 10, output_tokens: 4 }), failed("rate_limited", 0.25)],
    [failed("timeout"), failed("timeout")],
    [rollout(0.5, { input_tokens: 6, output_tokens: 2 }), rollout(0)],
  ]);
  it("stay in the mean and are told apart beside it", () => {
    expect(result.avg_reward).toBeCloseTo(1.75 / 6, 14);
    expect(result.reward_without_errors).toBe(0.5);
    expect(result.errored_rollouts).toBe(3);
    expect(result.errors).toEqual({ rate_limited: 1, timeout: 2 });
  });
  it("leave nothing to average when all failed", () => {
    expect(aggregatesOf([[failed("auth_failed")], [failed("auth_failed")]])).toMatchObject({ avg_error: 1, reward_without_errors: null });
  });
  it("without usage do not enter the token means, only the totals of the others", () => {
    expect(result.usage).toEqual({ input_tokens: 8, output_tokens: 3 });
    expect(result.tokens_total).toEqual({ input_tokens: 16, output_tokens: 6 });
  });
  it("of files without codes get one by class", () => {
    const code = (error: unknown) => summaryOfRow({ error }).error;
    expect(code({ error: "ModelError", code: "rate_limited" })).toBe("rate_limited");
    expect(code({ error: "EmptyModelResponseError" })).toBe("empty_response");
    expect(code({ error: "ModelError", code: "unheard_of" })).toBe("provider_error");
    expect(code({ error: "SandboxCreationError" })).toBe("sandbox_error");
    expect(code({ error: "constructor", code: "constructor" })).toBe("environment_error");
    expect(code("text")).toBe("environment_error");
    expect(code(undefined)).toBeNull();
  });
});

/** Published results (statistics notes, 4.6): passes of each example of `attempts`, as [passes, examples], and what was computed from the transcripts. */
interface Published {
  readonly run: string;
  readonly attempts: number;
  readonly passes: readonly (readonly [passes: number, examples: number])[];
  readonly mean: number;
  /** Clustered standard error without the factor G/(G-1), which ours has. */
  readonly clustered: number;
  readonly atK: Readonly<Record<string, number>>;
  readonly allK: Readonly<Record<string, number>>;
}

/** A list of passes that the numbers determine; where several do (AIME, GPQA), one of them. */
const PUBLISHED: readonly Published[] = [
  {
    run: "tau-bench airline, gpt-4o",
    attempts: 4,
    passes: [
      [0, 14],
      [1, 12],
      [2, 10],
      [3, 4],
      [4, 10],
    ],
    mean: 0.42,
    clustered: 0.051691,
    atK: { "2": 0.5667, "3": 0.66, "4": 0.72 },
    allK: { "1": 0.42, "2": 0.2733, "3": 0.22, "4": 0.2 },
  },
  {
    run: "AIME 2024, gpt-5",
    attempts: 64,
    passes: [
      [8, 1],
      [29, 1],
      [52, 1],
      [53, 1],
      [57, 2],
      [60, 1],
      [63, 6],
      [64, 17],
    ],
    mean: 0.928125,
    clustered: 0.033395,
    atK: { "2": 0.961905, "4": 0.977937, "8": 0.989125, "16": 0.997158, "32": 0.999921, "64": 1 },
    allK: { "2": 0.894345, "4": 0.85201, "8": 0.798199, "16": 0.736496, "32": 0.668923, "64": 0.566667 },
  },
  {
    run: "AIME 2025, gpt-5",
    attempts: 64,
    passes: [
      [7, 1],
      [12, 1],
      [48, 1],
      [53, 1],
      [60, 4],
      [61, 1],
      [62, 2],
      [63, 3],
      [64, 16],
    ],
    mean: 0.915625,
    clustered: 0.038763,
    atK: { "2": 0.948313 },
    allK: { "2": 0.882937, "64": 0.533333 },
  },
  {
    run: "GPQA, gpt-5",
    attempts: 8,
    passes: [
      [0, 11],
      [1, 7],
      [2, 6],
      [3, 6],
      [4, 7],
      [5, 5],
      [6, 3],
      [7, 12],
      [8, 141],
    ],
    mean: 0.833333,
    clustered: 0.022249,
    atK: { "2": 0.880051, "4": 0.917605, "8": 0.944444 },
    allK: { "2": 0.786616, "4": 0.74798, "8": 0.712121 },
  },
  {
    run: "SimpleQA-verified, gpt-5-mini",
    attempts: 3,
    passes: [
      [0, 766],
      [1, 73],
      [2, 51],
      [3, 110],
    ],
    mean: 0.168333,
    clustered: 0.010604,
    atK: { "3": 0.234 },
    allK: { "3": 0.11 },
  },
  {
    run: "LegalBench, gpt-4o-mini",
    attempts: 5,
    passes: [
      [0, 1],
      [1, 1],
      [2, 1],
      [3, 1],
      [5, 6],
    ],
    mean: 0.72,
    clustered: 0.117303,
    atK: { "2": 0.8, "5": 0.9 },
    allK: { "2": 0.64, "5": 0.6 },
  },
  {
    run: "vpct_1, gpt-4.1-mini",
    attempts: 3,
    passes: [
      [0, 43],
      [1, 32],
      [2, 20],
      [3, 5],
    ],
    mean: 0.29,
    clustered: 0.030057,
    atK: { "3": 0.57 },
    allK: { "3": 0.05 },
  },
];

describe("published runs", () => {
  it.each(PUBLISHED)("$run: mean, clustered standard error, pass@k and pass^k", ({ attempts, passes: counts, mean, clustered, atK, allK }) => {
    const units = counts.flatMap(([c, examples]) => Array.from({ length: examples }, () => passes(c, attempts)));
    const result = aggregatesOf(units, attempts);
    const examples = units.length;
    // As many decimals as were published.
    const digits = (value: number): number => Math.max(4, String(value).split(".")[1]?.length ?? 0);
    const overExamples = (estimate: (c: number) => number): number => counts.reduce((sum, [c, count]) => sum + count * estimate(c), 0) / examples;
    expect(result.avg_reward).toBeCloseTo(mean, 6);
    expect((result.reward_stderr ?? 0) * Math.sqrt((examples - 1) / examples)).toBeCloseTo(clustered, 6);
    for (const [k, value] of Object.entries(atK)) {
      expect(overExamples((c) => passAtK(attempts, c, Number(k)))).toBeCloseTo(value, digits(value));
      if (k in result.pass_at_k) expect(result.pass_at_k[k]).toBeCloseTo(value, digits(value));
    }
    for (const [k, value] of Object.entries(allK)) {
      expect(overExamples((c) => passAllK(attempts, c, Number(k)))).toBeCloseTo(value, digits(value));
      if (k in result.pass_all_k) expect(result.pass_all_k[k]).toBeCloseTo(value, digits(value));
    }
  });

  it("state the standard error with the factor G/(G-1)", () => {
    for (const [run, stderr] of [
      ["tau-bench", 0.052216],
      ["AIME 2024", 0.033966],
    ] as const) {
      const published = PUBLISHED.find((each) => each.run.startsWith(run));
      const units = published?.passes.flatMap(([c, examples]) => Array.from({ length: examples }, () => passes(c, published.attempts))) ?? [];
      expect(aggregatesOf(units, published?.attempts).reward_stderr).toBeCloseTo(stderr, 6);
    }
  });
});
