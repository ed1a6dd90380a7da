/** Dollars per million tokens of one model at one place. */
export interface Price {
  readonly input_usd_per_mtok: number;
  readonly output_usd_per_mtok: number;
  /** Of input that the server had in its cache; absent = as any other. */
  readonly cached_input_usd_per_mtok?: number;
}

/** A price that a person gave: for all models that `model` names (`*` for any characters), at `url` or anywhere. */
export interface GivenPrice extends Price {
  readonly model: string;
  readonly url?: string;
  /** What of it a request costs that goes out in a batch; absent = BATCH_PRICE_FACTOR. */
  readonly batch_factor?: number;
}

/** What a run's answers are priced by for as long as it lives. */
export interface RunPrices {
  readonly version: 1;
  /** The shipped table, by its date. */
  readonly table: string;
  /** They go before the table; of several the first. */
  readonly given: readonly GivenPrice[];
}

/** Tokens as they are billed. */
export interface PricedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Of `input_tokens`, those that the server had in its cache; absent = none that it tells of. */
  readonly cached_input_tokens?: number;
  /** Of `input_tokens`, those that Anthropic wrote into its cache, for five minutes and for an hour; absent = none. */
  readonly cache_write_tokens?: number;
  readonly long_cache_write_tokens?: number;
}

/**
 * What of a model's price its requests in batches cost, of input, cached input and output alike: half at both providers whose batches there are
 * (platform.openai.com/docs/guides/batch, "50% cost discount"; docs.claude.com, "Batch processing", pricing: "50% of the standard API prices", which caching goes on top of).
 */
export const BATCH_PRICE_FACTOR = 0.5;

/** How much dearer than other input that is which Anthropic writes into its cache, for five minutes and for an hour (docs.claude.com, "Prompt caching", pricing). */
export const CACHE_WRITE = 1.25;
export const LONG_CACHE_WRITE = 2;

/** Dollars, as verifiers' metadata have them. */
export interface Cost {
  readonly input_usd: number;
  readonly output_usd: number;
  readonly total_usd: number;
}

const MILLION = 1_000_000;

/** What tokens cost. */
export function costOf(usage: PricedUsage, price: Price): Cost {
  const { input_tokens, output_tokens, cached_input_tokens = 0, cache_write_tokens = 0, long_cache_write_tokens = 0 } = usage;
  const { input_usd_per_mtok: input, cached_input_usd_per_mtok: rate = input } = price;
  const cached = Math.min(cached_input_tokens, input_tokens);
  const written = Math.min(cache_write_tokens, input_tokens - cached);
  const long = Math.min(long_cache_write_tokens, input_tokens - cached - written);
  const whole = input_tokens - cached - written - long + written * CACHE_WRITE + long * LONG_CACHE_WRITE;
  const input_usd = (whole * input + cached * rate) / MILLION;
  const output_usd = (output_tokens * price.output_usd_per_mtok) / MILLION;
  return { input_usd, output_usd, total_usd: input_usd + output_usd };
}
