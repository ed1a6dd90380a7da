import { z } from "zod";
import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import { LIMIT_KINDS } from "../../endpoint-limits/limit-kinds.ts";
import type { Operation } from "../operation.ts";
import { plainText } from "../../config/plain-text.ts";
import { wholeNumber } from "../schemas.ts";

/** What is said of the rows of one run as a whole, and of how it came to them. */

const text = z.string();
const count = z.int().min(0);
const RUN = "/evaluations/{id}";

export const MAX_BINS = 50;

export const distributionQuery = z.strictObject({
  metric: plainText(200).default("reward").describe("`reward`, or a metric by its name."),
  bins: wholeNumber(1, MAX_BINS).default(20).describe("As many bins at most."),
});

export const distribution = z.strictObject({
  metric: text,
  rollouts: count.describe("Rows that were looked at, those with errors among them; of a run at work those so far."),
  n: count.describe("Rows in the bins: with the metric, and without an error."),
  errored: count.describe("Rows that ended in an error: in no bin."),
  min: z.number().nullable().describe("Null, as max, where no row is in the bins."),
  max: z.number().nullable(),
  zero_one: z.boolean().describe("All values are 0 or 1: there are two bins, [0, 0, …] and [1, 1, …]."),
  bins: z
    .array(z.tuple([z.number(), z.number(), count]))
    .describe(
      "From, to, rows: `to` belongs to the next bin, but for the last. From the least value to the greatest without a gap; one bin where all values are the same.",
    ),
});

export const errorGroups = z.strictObject({
  rollouts: count.describe("Rows of the run so far."),
  errors: z
    .array(
      z.strictObject({
        code: z.enum(Object.keys(ROLLOUT_ERRORS) as [string, ...string[]]),
        count: count.describe("Rows that ended in it."),
        category: text.describe("Whose fault it is: provider, network, timeout, model, environment and so on."),
        resumable: z.boolean().describe("A resume makes such rollouts again."),
        first: z
          .strictObject({
            example: count.describe("Place of the example in the data set, by which `/rollouts/{example}/{rollout}` has it."),
            rollout: count,
            example_id: z.union([z.number(), text]).nullable().describe("As its row says it."),
            message: text.nullable().describe("As its row says it, at most 2,000 characters; null where the row cannot be read."),
          })
          .nullable()
          .describe("The first one in the order of the data set; null while it is not known, which it soon is."),
      }),
    )
    .describe("By how many there are, most first."),
});

const numbers = z.array(z.number());
const numbersOrNone = z.array(z.number().nullable());

export const timeline = z.strictObject({
  step_ms: count.describe(
    "Two samples are at least so far apart, unless the run ended between them; twice as much each time that there would be more than 720.",
  ),
  t: numbers.describe("When each sample was taken, in Unix milliseconds, ascending. All lists have one entry for each sample."),
  generation: z.array(count).describe("One more after each resume: lines are not to be drawn from one to the next."),
  done: z.array(count).describe("Rollouts done."),
  errored: z.array(count).describe("Of them, those that ended in an error."),
  in_flight: z.array(count.nullable()).describe("Requests at the model server; null where the service had just begun anew."),
  waiting: z.array(count.nullable()).describe("Requests that wait for a limit or a pause of the endpoint; null as in in_flight."),
  limit: numbersOrNone.describe("Requests at once, as was asked for then (`max_concurrent`); null = no limit."),
  bound: z
    .array(z.enum([...LIMIT_KINDS, "pause", "down", "start", "budget"]).nullable())
    .describe("What most of the waiting requests waited for; null where none did."),
  bound_limit: numbersOrNone.describe("That limit: per minute, or requests at once; null where it has no number."),
  examples: z.array(count.nullable()).describe("Examples that the mean reward is of."),
  reward: numbersOrNone.describe("The mean reward, as `live.mean` of the run was; null before the first example is done, and while the service catches up."),
  lo: numbersOrNone.describe("Its 95 % interval, as `live.ci95` was; null where it had none."),
  hi: numbersOrNone,
  input_tokens: numbers,
  output_tokens: numbers,
});

export const SUMMARY_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: `${RUN}/distribution`,
    id: "getDistribution",
    summary: "How the reward, or a metric, spreads over the rows of a run, of a running one too",
    query: distributionQuery,
    answers: { 200: distribution },
    errors: [404, 422],
  },
  {
    method: "get",
    path: `${RUN}/errors`,
    id: "listErrors",
    summary: "The errors of a run by code, each with how many there are and its first example",
    answers: { 200: errorGroups },
    errors: [404],
  },
  {
    method: "get",
    path: `${RUN}/timeline`,
    id: "getTimeline",
    summary: "How a run stood over time: at most 720 samples of what is done, requests, what bounded them, and the mean reward",
    answers: { 200: timeline },
    errors: [404],
  },
];
