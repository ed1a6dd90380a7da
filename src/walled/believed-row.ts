import type { CacheUsage } from "../metrics/cache-usage.ts";
import type { JudgeUsage } from "../metrics/rollout-summary.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import { MAX_KEPT_STATE_BYTES, MIB } from "../limits.ts";
import { isRolloutErrorCode } from "../rollouts/failure.ts";
import { type GivenStateOptions, stateOfGivenRow } from "../rollouts/state/given-state.ts";
import { keepCacheUsage } from "../rollouts/state/cache-meter.ts";
import { type Judgements, keepJudgements } from "../rollouts/state/judgements.ts";
import { keepJudgeUsage } from "../rollouts/state/judge-usage.ts";
import type { RolloutInput, State } from "../rollouts/types.ts";
import { checkScores, checkTimes, NotBelieved } from "./believed-state.ts";

export interface BelievedRowWith extends Omit<GivenStateOptions, "code"> {
  readonly input: RolloutInput;
  /** What the environment says that the row's error means; absent = what its class says. */
  readonly code: string | undefined;
  /** As of a state. */
  readonly wasRefused: (code: RolloutErrorCode) => boolean;
  /** What judges took for this rollout, as far as they are called from here: the row's own word counts for nothing. */
  readonly judges: JudgeUsage | null;
  /** The same of what they were shown and said. */
  readonly judgements: Judgements | null;
  /** The same of how its calls were answered. */
  readonly cache: CacheUsage | null;
}

/**
 * The state of a rollout of which an environment behind a wall gives the row that a library of its own wrote. The row stays as it is; what it is worth, which error
 * it ended in and whose rollout it is, is looked at as for a state. Throws `NotBelieved`.
 */
export function believedRow(text: string, { input, code, wasRefused, judges, judgements, cache, ...options }: BelievedRowWith): State {
  if (text.length > MAX_KEPT_STATE_BYTES) throw new NotBelieved(`has a row of ${text.length} characters, more than ${MAX_KEPT_STATE_BYTES / MIB} MiB`);
  let state: State;
  try {
    state = stateOfGivenRow(input, text, { ...options, ...(isRolloutErrorCode(code) ? { code } : {}) });
  } catch (thrown) {
    // What is wrong with a row is one of the two: all else is a fault of ours.
    if (!(thrown instanceof SyntaxError || thrown instanceof TypeError)) throw thrown;
    throw new NotBelieved(`has a row that is none: ${thrown.message.slice(0, 200)}`);
  }
  checkTimes(state);
  checkScores(state, wasRefused, true);
  if (judges !== null) keepJudgeUsage(state, judges);
  keepJudgements(state, judgements);
  if (cache !== null) keepCacheUsage(state, cache);
  return state;
}
