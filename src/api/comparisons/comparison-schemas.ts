import { z } from "zod";
import { isRunId } from "../../../r2-layout/keys.ts";
import { rowKey } from "../../config/options/option-values.ts";
import { plainText } from "../../config/plain-text.ts";
import { EXAMPLE_KINDS, EXAMPLE_ORDERS } from "../../metrics/comparison/example-page.ts";
import { REWARD } from "../../metrics/comparison/score-table.ts";

/** Runs of one comparison: each is read whole. */
const MOST_RUNS = 10;
/** Examples of either kind that an answer names. */
const MOST_SHOWN = 100;
/** Examples of one page. */
const MOST_EXAMPLES = 500;
/** Metrics of one comparison: each is a number an example in memory. */
export const MOST_METRICS = 8;

export const comparisonBody = z.strictObject({
  runs: z.array(z.string().refine(isRunId, "is no run id")).min(2).max(MOST_RUNS).describe("The baseline first."),
  metrics: z
    .array(plainText(256))
    .max(MOST_METRICS - 1)
    .optional()
    .describe(`Beside the reward; else the first ${MOST_METRICS - 1} that the runs have.`),
  cluster_by: rowKey
    .optional()
    .describe(
      "Field of rows or of their info under which examples share something: these count as one observation. Absent: that of the runs, where all were created with the same.",
    ),
  unpaired: z.boolean().default(false).describe("As two samples: the examples need not be the same."),
  accept_code_change: z.boolean().default(false).describe("Other code, or another environment, scores the same."),
  show: z.int().min(0).max(MOST_SHOWN).default(0).describe("Examples that lost most, and as many that gained most, to name."),
});

export const comparedExamplesBody = comparisonBody.omit({ unpaired: true, show: true }).extend({
  metric: plainText(256).default(REWARD).describe("Whose means are given and ordered by."),
  candidate: z
    .string()
    .refine(isRunId, "is no run id")
    .optional()
    .describe("The run that `order`, `only` and the counts hold against the baseline; else the second of `runs`."),
  order: z.enum(EXAMPLE_ORDERS).default("worst").describe("What lost most first, what gained most first, or by the baseline's ids."),
  only: z
    .enum(EXAMPLE_KINDS)
    .default("all")
    .describe("Worse, better, either of them, or every example of the baseline; those without a difference stand last then."),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(MOST_EXAMPLES).default(100),
});

const count = z.int();
const number = z.number();
const maybe = number.nullable();
const run = z.strictObject({ run: z.string(), model: z.string(), examples: count, rollouts: count, errored: count });
const components = z.strictObject({ between: number, within: maybe });
const example = z.strictObject({ example_id: number, rows: z.tuple([count, count]), baseline: number, candidate: number, difference: number });

const metric = z.strictObject({
  metric: z.string(),
  n: count,
  clusters: count.optional().describe("Values of `cluster_by`."),
  baseline: number,
  candidate: number,
  difference: number.describe("Of the candidate's mean to the baseline's."),
  stderr: maybe,
  ci95: z.tuple([number, number]).nullable(),
  t_p: maybe,
  test: z.enum(["mcnemar", "sign_flips", "t", "welch"]),
  p: maybe.describe("Two-sided, of `test`."),
  p_holm: maybe.describe("Holm's, over all metrics and runs of the answer."),
  discordant: z.strictObject({ only_baseline: count, only_candidate: count }).optional(),
  correlation: maybe,
  unpaired_stderr: maybe,
  pairing_gain: maybe.describe("So many times the examples would be needed without pairs."),
  detectable: maybe.describe("The smallest difference that this design finds four times in five."),
  variances: z.strictObject({ baseline: components, candidate: components }),
});

export const comparisonAnswer = z.strictObject({
  baseline: run,
  cluster_by: z.string().optional(),
  comparisons: z.array(
    z.strictObject({
      candidate: run,
      paired: z.boolean(),
      joined: count,
      only_baseline: count,
      only_candidate: count,
      differing: count.describe("Examples with an id in common and another prompt or answer."),
      unscored: count,
      metrics: z.array(metric),
      same_as_reward: z
        .array(z.string())
        .describe("Metrics of both runs that are the reward under another name: they say nothing more, and are no tests of their own in `metrics`."),
      worse: count,
      better: count,
      equal: count,
      regressions: z.array(example),
      improvements: z.array(example),
      warnings: z.array(z.string()),
    }),
  ),
});

const cell = z.strictObject({
  example_id: number.describe("As this run calls it; of one that is no number, 53 bits."),
  mean: maybe.describe("Null where no rollout of it has a score."),
  row: count.describe("Its first row in results.jsonl, from 1: page `row` of its samples with a limit of 1."),
  rows: count.describe("So many of its rows stand there one behind another: all of them, of runs made here."),
  place: count
    .nullable()
    .describe(
      "Of the example in the results, from 0, as `rollouts/{example}/{rollout}` has it, whose rollout `k` is its row `row + k`; null where rows are missing, so that rows alone do not say it.",
    ),
});

export const comparedExamplesAnswer = z.strictObject({
  metric: z.string(),
  candidate: z.string(),
  runs: z.array(z.string()).describe("Whose cells an example has, in this order."),
  total: count.describe("Examples of the kind that was asked for."),
  worse: count.describe("Less of the metric in the candidate."),
  better: count,
  equal: count,
  unscored: count,
  missing: count.describe("Of the baseline, and not in the candidate."),
  examples: z.array(z.array(cell.nullable())).describe("By example a cell for each run; null where the run has not the example."),
});
