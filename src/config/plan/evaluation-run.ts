import { z } from "zod";
import type { JsonObject } from "./run-config.ts";

/** How an evaluation is asked, beside its name: of the `[[evaluation]]` of library code and of an evaluator of the service alike. */
export const evaluationFields = z.strictObject({
  args: z.record(z.string(), z.json()).optional().describe("Its arguments, as `-a` has them."),
  length: z.int().min(-1).optional().describe("Samples drawn at random from all, always the same; -1 for all."),
  samples_per_prompt: z.int().min(1).optional().describe("Rollouts of each example; without it 1."),
  temperature: z.number().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  chunk_size: z.int().min(1).optional().describe("Samples under way at once in the whole run."),
});
export type EvaluationFields = z.output<typeof evaluationFields>;

/** The settings of the run that an evaluation's fields come to, by the names of a config file: all samples, once each, where they say nothing. */
export function evaluationRun({ args = {}, length, samples_per_prompt = 1, temperature, top_p, chunk_size }: EvaluationFields): {
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly env_args: JsonObject;
  readonly sampling_args: JsonObject;
} {
  return {
    num_examples: -1,
    rollouts_per_example: samples_per_prompt,
    env_args: { ...args, ...(length === undefined ? {} : { length }), ...(chunk_size === undefined ? {} : { chunk_size }) },
    sampling_args: { ...(temperature === undefined ? {} : { temperature }), ...(top_p === undefined ? {} : { top_p }) },
  };
}
