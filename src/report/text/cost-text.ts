import { dollarsOf } from "../../budgets/money.ts";
import { fixed, thousands } from "./format.ts";

/** Dollars as `verifiers` prints them: with cents from one dollar on, else to the hundredth of a cent. */
export const dollarsText = (usd: number): string => `$${fixed(usd, usd >= 1 ? 2 : 4)}`;
/** The same of what a Budget counts. */
export const nanoText = (nano: number): string => (nano === 0 ? "$0.00" : dollarsText(dollarsOf(nano)));

/** `$0.1234`, and of how many where it is not of all: `$0.1234 (of 8 of 10 rollouts; of the others it is unknown)`. `what`: what is counted, in the plural. */
export function costText(usd: number, known: number, all: number, what: string): string {
  const sum = dollarsText(usd);
  return known >= all ? sum : `${sum} (of ${thousands(known)} of ${thousands(all)} ${what}; of the others it is unknown)`;
}
