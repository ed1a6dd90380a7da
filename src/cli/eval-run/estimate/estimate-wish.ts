/** Whether a command says what it will take before it spends it, from what, and when it asks. */
import { FROM_HISTORY, PILOT_EXAMPLES } from "../../../config/options/forecast-options.ts";
import { flagName, type GivenOptions } from "../../command-line/flags.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { EvalWish } from "../wish/eval-wish.ts";

export interface EstimateWish {
  /** `history`: of finished runs alone; `either`: of those, and of a pilot where there are none. */
  readonly from: "pilot" | "history" | "either";
  /** Examples of each evaluation that a pilot plays. */
  readonly pilot: number;
  /** Dollars up to which nobody is asked; null = it asks whatever it costs. */
  readonly confirmAbove: number | null;
  /** Nobody is asked at all. */
  readonly confirmed: boolean;
}

/** What all evaluations of a command say of it, alike; null where none is to be forecast. Throws usage errors for flags that contradict each other. */
export function estimateWish(wishes: readonly Pick<EvalWish, "given">[]): EstimateWish | null {
  const { estimate = false, confirm_above, yes: confirmed = false }: GivenOptions = wishes[0]?.given ?? {};
  const confirmAbove = confirm_above ?? null;
  const flag = estimate !== false ? flagName("estimate") : flagName("confirm_above");
  if (estimate === false && confirmAbove === null) {
    if (confirmed)
      throw usageError(`${flagName("yes")} answers what ${flagName("estimate")} and ${flagName("confirm_above")} ask: give one of them, or leave it out`);
    return null;
  }
  for (const { given } of wishes) {
    if (given.hosted === true) throw usageError(`${flag} waits for the first examples, and --hosted for nothing: give one of them`);
    if (given.resume !== undefined && given.resume !== false)
      throw usageError(`${flag} is of runs that begin, and ${flagName("resume")} goes on with one`, "Leave one of them out.");
  }
  const from = estimate === FROM_HISTORY ? "history" : estimate === false ? "either" : "pilot";
  return { from, pilot: typeof estimate === "number" ? estimate : PILOT_EXAMPLES, confirmAbove, confirmed };
}

/** What the runs that are left may cost: whether somebody has to agree to it. `high`: the upper end of their sum in dollars, null = not known. */
export const mustAsk = ({ confirmAbove, confirmed }: EstimateWish, high: number | null): boolean =>
  !confirmed && (confirmAbove === null || high === null || high > confirmAbove);
