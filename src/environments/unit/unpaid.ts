import { isSpendingError } from "../../errors/codes.ts";
import type { Failure } from "../../errors/result.ts";
import type { RolloutFailure } from "../../rollouts/types.ts";

/** A rollout's error as the reason why a run ends. */
export const refusalOf = ({ code, message, hint }: RolloutFailure): Failure => ({ code, message, ...(hint === undefined ? {} : { hint }) });

/** Scores that nobody may pay for now are no outcome: what is generated waits for them. Null where none of these is one. */
export function unpaidAmong(scored: readonly { readonly error: RolloutFailure | null }[]): Failure | null {
  const error = scored.find((each) => each.error !== null && isSpendingError(each.error.code))?.error ?? null;
  return error === null ? null : refusalOf(error);
}
