import { z } from "zod";
import type { JsonObject } from "../plan/run-config.ts";

/** Largest number of tokens anybody asks for; above it a number is a slip. */
export const MAX_TOKENS = 10_000_000;

const between = (least: number, most: number) => z.number().min(least).max(most).nullable().optional();
const whole = (least: number, most: number) => z.int().min(least).max(most).nullable().optional();

/** What the client fills in itself; given here it would replace the prompt, or make the answer one that cannot be read. */
const NOT_HERE: Readonly<Record<string, string>> = {
  model: "is named by inference_model (-m)",
  messages: "comes from the environment",
  prompt: "comes from the environment",
  input: "comes from the environment",
  tools: "come from the environment",
  extra_headers: "are named by headers (--header)",
  extra_query: "cannot be set",
};

function refuseReserved(args: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  for (const name of Object.keys(args)) {
    const reason = Object.hasOwn(NOT_HERE, name) ? NOT_HERE[name] : undefined;
    if (reason !== undefined) context.addIssue({ code: "custom", path: [name], message: reason });
  }
}

const ONE_ANSWER = "must be 1 or absent: one answer per request; more rollouts come from rollouts_per_example (-r)";
const one = z.literal(1, { error: ONE_ANSWER }).nullable().optional();

/**
 * Sampling arguments: those that every provider reads alike are checked here, since a wrong type would come back as an error of
 * every single rollout; what only one provider knows is passed through, best inside `extra_body`.
 */
export const samplingArgs = z
  .object({
    temperature: between(0, 100),
    top_p: between(0, 1),
    min_p: between(0, 1),
    top_k: whole(-1, MAX_TOKENS),
    max_tokens: whole(1, MAX_TOKENS),
    max_completion_tokens: whole(1, MAX_TOKENS),
    n: one,
    seed: z.int().nullable().optional(),
    stop: z
      .union([z.string().max(1000), z.array(z.string().max(1000)).max(64)], { error: "must be a text or a list of at most 64 texts" })
      .nullable()
      .optional(),
    presence_penalty: between(-100, 100),
    frequency_penalty: between(-100, 100),
    repetition_penalty: between(0, 100),
    top_logprobs: whole(0, 1000),
    stream: z.boolean().nullable().optional(),
    stream_options: z.record(z.string(), z.json()).nullable().optional(),
    logit_bias: z.record(z.string(), z.number()).nullable().optional(),
    extra_body: z.object({ n: one, stream: z.boolean().nullable().optional() }).catchall(z.json()).superRefine(refuseReserved).nullable().optional(),
  })
  .catchall(z.json())
  .superRefine(refuseReserved) as unknown as z.ZodType<JsonObject>;
