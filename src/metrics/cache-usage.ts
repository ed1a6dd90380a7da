/** Calls of models that were answered, and what of them the cache answered. */
export interface AnsweredCalls {
  readonly calls: number;
  /** Of `calls`, those answered by the cache: nothing was sent for them. */
  readonly cached: number;
  /** Of the cached answers: tokens that the rollout's usage has too, and that nobody was paid for this time. */
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The calls of a rollout, or of several, in a run that reads the cache: of the model under evaluation, and of judges where any was asked. */
export interface CacheUsage extends AnsweredCalls {
  readonly judges?: AnsweredCalls;
}

export const NO_CALLS: AnsweredCalls = { calls: 0, cached: 0, input_tokens: 0, output_tokens: 0 };

/** One more, or (`sign` -1) less. */
export function addCacheUsage(sum: CacheUsage | undefined, more: CacheUsage, sign: 1 | -1 = 1): CacheUsage {
  const judges = sum?.judges === undefined && more.judges === undefined ? null : added(sum?.judges ?? NO_CALLS, more.judges ?? NO_CALLS, sign);
  return { ...added(sum ?? NO_CALLS, more, sign), ...(judges === null || isNothing(judges) ? {} : { judges }) };
}

const added = (a: AnsweredCalls, b: AnsweredCalls, sign: 1 | -1): AnsweredCalls => ({
  calls: a.calls + sign * b.calls,
  cached: a.cached + sign * b.cached,
  input_tokens: a.input_tokens + sign * b.input_tokens,
  output_tokens: a.output_tokens + sign * b.output_tokens,
});

/** No call was answered. */
export const isNothing = ({ calls, cached }: AnsweredCalls): boolean => calls === 0 && cached === 0;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

/** What `cache_usage` of a row, or `cache_total` of a `metadata.json`, says; null where it says of no call. */
export function readCacheUsage(value: unknown): CacheUsage | null {
  if (!isObject(value)) return null;
  const own = answeredIn(value);
  const judges = isObject(value.judges) ? answeredIn(value.judges) : NO_CALLS;
  if (isNothing(own) && isNothing(judges)) return null;
  return { ...own, ...(isNothing(judges) ? {} : { judges }) };
}

const answeredIn = ({ calls, cached, input_tokens, output_tokens }: Record<string, unknown>): AnsweredCalls => ({
  calls: count(calls),
  cached: count(cached),
  input_tokens: count(input_tokens),
  output_tokens: count(output_tokens),
});
