import { type Cost, costOf, type Price, type PricedUsage } from "./price.ts";

/**
 * What answers cost, in whole nano-dollars (1e-9 $): sums of such numbers are exact up to nine million dollars, also where something is taken out of them
 * again, as when a rollout is made anew.
 */
export interface NanoCost {
  readonly input_nano: number;
  readonly output_nano: number;
}

const NANO = 1e9;

export const nanoCostOf = (usage: PricedUsage, price: Price): NanoCost => rounded(costOf(usage, price));

export const dollarsOf = ({ input_nano, output_nano }: NanoCost): Cost => ({
  input_usd: input_nano / NANO,
  output_usd: output_nano / NANO,
  total_usd: (input_nano + output_nano) / NANO,
});

/** One more, or (`sign` -1) one less. */
export const addNano = (sum: NanoCost | undefined, more: NanoCost, sign: 1 | -1 = 1): NanoCost => ({
  input_nano: (sum?.input_nano ?? 0) + sign * more.input_nano,
  output_nano: (sum?.output_nano ?? 0) + sign * more.output_nano,
});

/** The costs that a row or file says; null for what is none. */
export function readCost(said: unknown): NanoCost | null {
  const { input_usd, output_usd } = typeof said === "object" && said !== null ? (said as Partial<Cost>) : {};
  return isDollars(input_usd) && isDollars(output_usd) ? rounded({ input_usd, output_usd }) : null;
}

const rounded = ({ input_usd, output_usd }: Pick<Cost, "input_usd" | "output_usd">): NanoCost => ({
  input_nano: Math.round(input_usd * NANO),
  output_nano: Math.round(output_usd * NANO),
});

const isDollars = (value: unknown): value is number => typeof value === "number" && value >= 0 && value * NANO <= Number.MAX_SAFE_INTEGER;
