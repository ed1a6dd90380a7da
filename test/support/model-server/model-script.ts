import { z } from "zod";
import { batchPlanSchema } from "./batches/batch-plan.ts";
import { providerPlanSchema } from "./limited/provider-plan.ts";

/**
 * What the scripted model server is told to do: how it answers, how long it takes, and which requests go wrong in which way.
 * JSON, so that a test in another process can change it while a run is going on (`POST /script`).
 */
const faultSchema = z.discriminatedUnion("kind", [
  /** 429 with `Retry-After` in the given form; without `retry_after_s`, no such header. */
  z.strictObject({
    kind: z.literal("rate_limited"),
    retry_after_s: z.number().nonnegative().optional(),
    retry_after_form: z.enum(["seconds", "date", "milliseconds"]).default("seconds"),
  }),
  /** A plain error status with the body a provider sends with it: 401, 402, 403, 408, 409, 500, 502, 503, … */
  z.strictObject({ kind: z.literal("status"), status: z.int().min(400).max(599), message: z.string().optional() }),
  z.strictObject({ kind: z.literal("model_not_found") }),
  z.strictObject({ kind: z.literal("insufficient_quota") }),
  z.strictObject({ kind: z.literal("context_length") }),
  /** 200 with a body cut in the middle of the JSON. */
  z.strictObject({ kind: z.literal("malformed_json") }),
  z.strictObject({ kind: z.literal("empty_choices") }),
  z.strictObject({ kind: z.literal("two_choices") }),
  z.strictObject({ kind: z.literal("null_content") }),
  z.strictObject({ kind: z.literal("empty_content") }),
  /** The answer, cut off by its token limit. */
  z.strictObject({ kind: z.literal("truncated") }),
  z.strictObject({ kind: z.literal("close_before_headers") }),
  z.strictObject({ kind: z.literal("close_mid_body") }),
  /** Holds the connection open until the client gives up. */
  z.strictObject({ kind: z.literal("never") }),
  /** The right answer, so much later. */
  z.strictObject({ kind: z.literal("slow_headers"), ms: z.number().nonnegative() }),
  /** Headers at once, the body so much later. */
  z.strictObject({ kind: z.literal("slow_body"), ms: z.number().nonnegative() }),
]);

/** All conditions that are given must hold. Numbers count from 1, and, like times, since the script was set. */
const whenSchema = z.strictObject({
  nth: z.union([z.int(), z.array(z.int())]).optional(),
  every: z.int().positive().optional(),
  /** The n-th request with the same prompt. */
  attempt: z.union([z.int(), z.array(z.int())]).optional(),
  contains: z.string().optional(),
  model: z.string().optional(),
  during_ms: z.tuple([z.number(), z.number()]).optional(),
});

const ruleSchema = z.strictObject({
  when: whenSchema.default({}),
  fault: faultSchema,
  /** Applies at most so many times. */
  limit: z.int().positive().optional(),
});

const answerSchema = z.union([
  /** `wrong` is an answer that no task of the tests takes for right. */
  z.enum(["reverse", "echo", "wrong"]),
  z.strictObject({ text: z.string() }),
]);

const scriptSchema = z.strictObject({
  /** From the request to the answer; a pair is drawn from evenly. */
  latency_ms: z.union([z.number().nonnegative(), z.tuple([z.number().nonnegative(), z.number().nonnegative()])]).default(0),
  answer: answerSchema.default("reverse"),
  /** Share of requests answered as `answer` says; the others get the `wrong` one. Decided by prompt and attempt, not by chance. */
  accuracy: z.number().min(0).max(1).default(1),
  /** Null: the answer carries no `usage`. */
  usage: z
    .strictObject({ prompt_tokens: z.int(), completion_tokens: z.int(), prompt_tokens_details: z.strictObject({ cached_tokens: z.int() }).optional() })
    .nullable()
    .default({ prompt_tokens: 20, completion_tokens: 10 }),
  /** Models this server has; null = whatever is asked for. */
  models: z.array(z.string()).nullable().default(null),
  /** Bearer token every request must carry; null = none is asked for. */
  api_key: z.string().nullable().default(null),
  /** The first rule that matches decides. */
  faults: z.array(ruleSchema).default([]),
  /** Limits that every request is held against before anything else; null = none. Its times, like those of rules, count from when the script was set. */
  limited: providerPlanSchema.nullable().default(null),
  /** How batches are carried. */
  batches: batchPlanSchema.prefault({}),
});

export type Fault = z.output<typeof faultSchema>;
export type AnswerMode = z.output<typeof answerSchema>;
export type Script = z.output<typeof scriptSchema>;
export type ScriptInput = z.input<typeof scriptSchema>;

/** Throws an error that names every field it does not know or understand. */
export function parseScript(input: unknown): Script {
  const parsed = scriptSchema.safeParse(input);
  if (!parsed.success) throw new TypeError(`script: ${parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`);
  return parsed.data;
}

export interface RequestFacts {
  readonly nth: number;
  readonly attempt: number;
  readonly prompt: string;
  readonly model: string;
  readonly age_ms: number;
}

/** Decides the fault of each request; remembers how often each rule has been used. */
export function faultPicker(rules: Script["faults"]): (facts: RequestFacts) => Fault | null {
  const used = rules.map(() => 0);
  return (facts) => {
    for (const [index, { when, fault, limit }] of rules.entries()) {
      const times = used[index] ?? 0;
      if ((limit !== undefined && times >= limit) || !holds(when, facts)) continue;
      used[index] = times + 1;
      return fault;
    }
    return null;
  };
}

function holds(when: z.output<typeof whenSchema>, facts: RequestFacts): boolean {
  const among = (wanted: number | readonly number[] | undefined, value: number): boolean => wanted === undefined || [wanted].flat().includes(value);
  return (
    among(when.nth, facts.nth) &&
    among(when.attempt, facts.attempt) &&
    (when.every === undefined || facts.nth % when.every === 0) &&
    (when.contains === undefined || facts.prompt.includes(when.contains)) &&
    (when.model === undefined || facts.model === when.model) &&
    (when.during_ms === undefined || (facts.age_ms >= when.during_ms[0] && facts.age_ms < when.during_ms[1]))
  );
}
