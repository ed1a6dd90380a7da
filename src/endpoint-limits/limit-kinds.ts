/** What an endpoint bounds: requests in flight, and requests and tokens of each minute. Providers count tokens in all, or those in and those out apart. */
export const LIMIT_KINDS = ["concurrent", "requests", "tokens", "input_tokens", "output_tokens"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The kinds that are used up and come back with time; their numbers are per minute everywhere, unless a name says otherwise. */
export const RATE_KINDS = ["requests", "tokens", "input_tokens", "output_tokens"] as const satisfies readonly LimitKind[];
export type RateKind = (typeof RATE_KINDS)[number];

/** An amount of each; what is not named is not bounded, or nothing of it is used. */
export type Amounts<Kind extends LimitKind = LimitKind> = { readonly [K in Kind]?: number };

/** What one request is expected to use before it is sent, or has used: one request, and tokens as far as they can be told. */
export interface RequestCost {
  readonly input_tokens: number;
  /** Expected: what answers of the model had on average, and no more than bounds this one; before the first of them, what bounds it. */
  readonly output_tokens: number;
}

/** What an answer's headers say of one kind. */
export interface ToldLimit {
  /** Per minute, whatever time the provider counts by. */
  readonly limit: number;
  /** Of that limit; in proportion, where the provider counts by another time. */
  readonly remaining: number | null;
  /** Milliseconds until all of it is there again; null where that is not said. */
  readonly reset_ms: number | null;
}
export type ToldLimits = { readonly [K in RateKind]?: ToldLimit };

/**
 * How one attempt ended, for whoever finds out what the endpoint bears. `accepted`: it was taken, whatever came of it later; `rate_limited`: HTTP 429 that
 * is no quota; `overloaded`: 529, 503 with a wish to be left alone; `missed`: no server was there; `failed`: anything else, which says nothing of a limit;
 * `unsent`: the permit was given back without a request, and nothing was used.
 */
export interface AttemptOutcome {
  readonly kind: "accepted" | "rate_limited" | "overloaded" | "missed" | "failed" | "unsent";
  /** Whether an answer had begun, good or not; absent = that is not known. */
  readonly answered?: boolean;
  /** From the permit to the end of the answer, in milliseconds. */
  readonly ms: number;
  /** What the permit was asked for with. */
  readonly cost: RequestCost;
  /** As the server counts them; null where it does not say. */
  readonly used: RequestCost | null;
  readonly told: ToldLimits | null;
  /** The kind that a refusal names in words; null where it names none. */
  readonly named: LimitKind | null;
  /** What the words of a refusal say that the limit is, per minute (or in flight). */
  readonly named_limit: number | null;
  /** How long the endpoint asked to be left alone; null when it did not. */
  readonly retry_after_ms: number | null;
}

/** A bound that several holders keep to together: the common limit of a command (`max_concurrent_total`), or what a team gave. */
export interface Cap {
  /** `command/{team}/{id}`, `given/{team}`: holders that name the same share it. Where they say different numbers the strictest holds. */
  readonly id: string;
  readonly limits: Amounts;
}

/** Weight of a run beside others that use the same key. */
export const DEFAULT_PRIORITY = 1;
/** Between them lie four orders of magnitude: beyond, the lighter of two runs would as good as stand still. */
export const MIN_PRIORITY = 0.01;
export const MAX_PRIORITY = 100;
