import type { Cost, Price } from "./price.ts";

/** The most that one request can be billed for, in tokens. */
export interface RequestBound {
  readonly model: string;
  readonly input_tokens: number;
  /** What a token of input can cost at most, in prices of one: what a server puts into its cache is dearer than what it reads. */
  readonly input_rate: number;
  /** Null: nothing bounds it. */
  readonly output_tokens: number | null;
  /** What in the request makes it cost more than its tokens tell, so that nothing bounds that: a search that the server makes; null = nothing does. */
  readonly open: string | null;
}

const NANO_PER_MTOK = 1_000;

/** Dollars as whole nano-dollars, rounded up. Sums of binary fractions are off by some 1e-16 of them, which is no nano-dollar more. */
export const nanoOf = ({ total_usd }: Pick<Cost, "total_usd">): number => Math.ceil(total_usd * 1e9 * (1 - 1e-12));

/** The same of what a request can cost at most; of input the dearer of its prices. Null: nothing bounds it. */
export function boundNano({ input_tokens, input_rate, output_tokens, open }: RequestBound, price: Price): number | null {
  if (output_tokens === null || open !== null) return null;
  const { input_usd_per_mtok: input, cached_input_usd_per_mtok: cached = 0 } = price;
  return Math.ceil((input_tokens * Math.max(input * input_rate, cached) + output_tokens * price.output_usd_per_mtok) * NANO_PER_MTOK);
}
