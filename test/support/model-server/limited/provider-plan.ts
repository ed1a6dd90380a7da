import { z } from "zod";
import { LIMIT_KINDS, RATE_KINDS } from "../../../../src/endpoint-limits/limit-kinds.ts";

const PLAN_MS = z.number().nonnegative();
const LIMIT = z.number().positive();

/**
 * How a provider counts a minute. `token_bucket`: fills evenly, and holds what comes in `burst_s` seconds; `sliding_minute`: what was taken in the last
 * 60 s; `fixed_minute`: what was taken since the minute of the provider's clock began.
 */
export const METERS = ["token_bucket", "sliding_minute", "fixed_minute"] as const;
export type MeterKind = (typeof METERS)[number];

/** A limit that nobody is told of, unless headers or refusals say it. */
const hiddenLimitSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("concurrent"), limit: LIMIT }).readonly(),
  /** Per minute. `burst_s` only of a token bucket; default 60, as Anthropic has it: a bucket that was left alone holds a minute's worth. */
  z.strictObject({ kind: z.enum(RATE_KINDS), limit: LIMIT, meter: z.enum(METERS), burst_s: z.number().positive().optional() }).readonly(),
]);

/** What a provider does about limits; times are milliseconds since its start. Without a word on it: nothing but 429. */
export const providerPlanSchema = z
  .strictObject({
    limits: z.array(hiddenLimitSchema).readonly().default([]),
    /** Form of the headers that say limits; concurrent requests are in nobody's. */
    headers: z.enum(["none", "openai", "anthropic"]).default("none"),
    /** What headers and words say a limit is, as a factor of what it is: 1 is honest. */
    says: z.number().positive().default(1),
    /** Of a refusal: nothing, when there is room again (whole seconds, rounded up), or always so many seconds. */
    retry_after: z.union([z.enum(["none", "exact"]), z.number().nonnegative()]).default("none"),
    /** The words of a refusal name the kind and the limit, as OpenAI's do. */
    names_limit: z.boolean().default(false),
    /**
     * When tokens count. `used`: those in when a request is taken, those out when it has ended, as Anthropic has it; `reserved`: both when it is taken,
     * those out by its max_tokens, and nothing comes back, as OpenAI has it.
     */
    tokens_count: z.enum(["used", "reserved"]).default("used"),
    /** A refused request counts as a request too, as OpenAI has it. */
    counts_refused: z.boolean().default(false),
    /** From `at_ms` on the limit of that kind is another. */
    changes: z
      .array(z.strictObject({ at_ms: PLAN_MS, kind: z.enum(LIMIT_KINDS), limit: LIMIT }).readonly())
      .readonly()
      .default([]),
    /** Times in which everybody is refused, whatever was used. */
    storms: z
      .array(
        z
          .strictObject({
            from_ms: PLAN_MS,
            to_ms: PLAN_MS,
            status: z.union([z.literal(429), z.literal(529)]).default(429),
            /** Seconds that its refusals ask for; absent = as `retry_after` has it. */
            retry_after_s: z.number().nonnegative().optional(),
          })
          .readonly(),
      )
      .readonly()
      .default([]),
  })
  .readonly();

export type HiddenLimit = z.output<typeof hiddenLimitSchema>;
export type ProviderPlan = z.output<typeof providerPlanSchema>;
export type ProviderPlanInput = z.input<typeof providerPlanSchema>;

/** A provider that says nothing but 429, unless `plan` says otherwise. Throws on what it does not understand. */
export const providerPlan = (plan: ProviderPlanInput): ProviderPlan => providerPlanSchema.parse(plan);
