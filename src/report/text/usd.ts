import { fixed } from "./format.ts";

/** Dollars as verifiers prints them (`format_cost_usd`): cents from one dollar on, below it four decimals. */
export function usdText(usd: number): string {
  const [whole = "", cents = ""] = fixed(usd, usd >= 1 ? 2 : 4).split(".");
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${cents}`;
}
