import { type GivenOptions, OPTIONS } from "./options/options.ts";

/**
 * Parts of a common limit for evaluations that run side by side, each with a limit of its own (`<= 0` = none): as equal as possible, and what
 * one cannot use goes to the others (max-min fairness). They sum to at most `total`. Where there are more evaluations than `total`, those
 * that come last get 0 and wait for a place.
 */
export function fairShares(total: number, limits: readonly number[]): readonly number[] {
  const shares = limits.map(() => 0);
  const order = limits.map((limit, index) => ({ index, limit: limit <= 0 ? Number.POSITIVE_INFINITY : limit })).sort((a, b) => a.limit - b.limit);
  let left = total;
  for (const [position, { index, limit }] of order.entries()) {
    const share = Math.min(limit, Math.ceil(left / (order.length - position)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** The limits of evaluations, each its own. */
export const limitsOf = (evals: readonly { readonly given: GivenOptions }[]): readonly number[] =>
  evals.map(({ given }) => given.max_concurrent ?? OPTIONS.max_concurrent.default);
