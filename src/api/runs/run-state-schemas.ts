import { z } from "zod";
import { JOB_STATES } from "../../../durable-objects/run/batching/batching-protocol.ts";

/** Parts of what is said of a run, for the OpenAPI document. */

const text = z.string();
const count = z.int().min(0);
const time = z.number().nullable();

export const stoppedEarly = z.strictObject({
  rule: text.describe("As it was written down before the first call."),
  alpha: z.number().describe("Chance that what it found is not so, over all looks together."),
  finding: z.enum(["narrow enough", "below", "above", "better", "worse"]),
  interval: z.tuple([z.number(), z.number()]).describe("Of the mean of all its examples, or of the difference to the baseline; holds at any time."),
  p: z.number().optional().describe("Of the test of pairs that differ, where single attempts of 0 and 1 are compared."),
  reward_ci95: z.tuple([z.number(), z.number()]).describe("95 % interval of the mean reward of all its examples; holds at any time."),
  examples: count.describe("Examples that the decision took."),
  of: count.describe("Examples that the run was to have."),
  saved: count.describe("Rollouts that are not played."),
});

export const madeBySchedule = z.strictObject({ name: text, due_at: text.describe("The due time that the run is for, in ISO 8601.") });
export const madeByEvaluator = z.strictObject({
  name: text,
  step: count.describe("Of the training, by which its numbers are reported."),
  evaluation: text.describe("Which of the evaluator's evaluations it is."),
});

/** `BatchView`. */
export const batchesOfRun = z.strictObject({
  unasked: count.describe("Examples whose requests are in no batch yet."),
  jobs: z.array(
    z.strictObject({
      job: z.int().min(1),
      state: z.enum(JOB_STATES),
      requests: count,
      counts: z.strictObject({ answered: count, failed: count }),
      batch_id: text.nullable().describe("As the provider calls it."),
      submitted_at: time.describe("Unix milliseconds, as all times here."),
      ended_at: time,
      expires_at: time,
    }),
  ),
  requests: count.describe("Of all its batches, with what was asked again."),
  answered: count,
  failed: count,
  lost: z.record(z.string(), count).describe("Requests that came back without an answer, by why: they are asked again, three times in all."),
  look_at: time.describe("When the provider is looked at next."),
  closing: z.enum(["timeout", "cancelled", "budget"]).nullable().describe("Its batches are cancelled, and it ends with what they answered."),
});
