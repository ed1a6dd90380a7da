import type { LimitKind, RateKind } from "../../../../src/endpoint-limits/limit-kinds.ts";

/**
 * How a provider counts a minute. `token_bucket`: fills evenly, and holds what comes in `burst_s` seconds; `sliding_minute`: what was taken in the last
 * 60 s; `fixed_minute`: what was taken since the minute of the provider's clock began.
 */
export type MeterKind = "token_bucket" | "sliding_minute" | "fixed_minute";

/** A limit that nobody is told of, unless headers or refusals say it. */
export type HiddenLimit =
  | { readonly kind: "concurrent"; readonly limit: number }
  /** Per minute. `burst_s` only of a token bucket; default 60, as Anthropic has it: a bucket that was left alone holds a minute's worth. */
  | { readonly kind: RateKind; readonly limit: number; readonly meter: MeterKind; readonly burst_s?: number };

/** A time in which everybody is refused, whatever was used. Milliseconds since the provider's start. */
export interface Storm {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly status: 429 | 529;
}

/** From `at_ms` on the limit of that kind is another. */
export interface LimitChange {
  readonly at_ms: number;
  readonly kind: LimitKind;
  readonly limit: number;
}

export interface ProviderPlan {
  readonly limits: readonly HiddenLimit[];
  /** Form of the headers that say limits; concurrent requests are in nobody's. */
  readonly headers: "none" | "openai" | "anthropic";
  /** What headers and words say a limit is, as a factor of what it is: 1 is honest. */
  readonly says: number;
  /** Of a refusal: nothing, when there is room again (whole seconds, rounded up), or always so many seconds. */
  readonly retry_after: "none" | "exact" | number;
  /** The words of a refusal name the kind and the limit, as OpenAI's do. */
  readonly names_limit: boolean;
  /**
   * When tokens count. `used`: those in when a request is taken, those out when it has ended, as Anthropic has it; `reserved`: both when it is taken, those
   * out by its max_tokens, and nothing comes back, as OpenAI has it.
   */
  readonly tokens_count: "used" | "reserved";
  /** A refused request counts as a request too, as OpenAI has it. */
  readonly counts_refused: boolean;
  readonly changes: readonly LimitChange[];
  readonly storms: readonly Storm[];
}

const SILENT: ProviderPlan = {
  limits: [],
  headers: "none",
  says: 1,
  retry_after: "none",
  names_limit: false,
  tokens_count: "used",
  counts_refused: false,
  changes: [],
  storms: [],
};

/** A provider that says nothing but 429, unless `plan` says otherwise. */
export const providerPlan = (plan: Partial<ProviderPlan>): ProviderPlan => ({ ...SILENT, ...plan });
