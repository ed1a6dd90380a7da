import type { Unscored } from "../../metrics/rollout-summary.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { JUDGE_COLUMN } from "../../metrics/judge-fields.ts";
import type { Failure } from "../../errors/result.ts";
import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import type { EnvironmentTraits } from "../hosted/traits.ts";
import { addCacheUsage, type CacheUsage } from "../../metrics/cache-usage.ts";
import type { CacheMeter } from "../../rollouts/state/cache-meter.ts";
import { type JudgeMeter, NO_JUDGES } from "../../rollouts/state/judge-usage.ts";
import { addJudges } from "../../metrics/totals.ts";
import { putJudgements } from "../../rollouts/rows/judge-column.ts";
import { type RescoredOptions, rescoredLine } from "../../rollouts/rows/rescored-row.ts";
import { exceeds, MAX_RESULT_ROW_BYTES, summariseRow } from "../../rollouts/rows/row.ts";
import { firstErrorsOf, type UnitOutcome } from "./run-unit.ts";
import type { ScoreStoredOptions } from "./score-stored.ts";
import type { KeptRollout, Stored } from "./stored-rollout.ts";
import { marksOf } from "../../rollouts/state/time-marks.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import { unpaidAmong } from "./unpaid.ts";

/** How rows get new scores, and what the new ones say beside them. */
export interface ScoreAgainOptions extends Omit<ScoreStoredOptions, "rowOnly" | "forgets" | "countsAnswers"> {
  /** The key by which examples are clustered; absent = they are not. */
  readonly clusterBy?: string | undefined;
  /** Digest of the environment, where rows carry one. */
  readonly envDigest?: string | undefined;
  /** Counts what the environment's own clients take. */
  readonly judges?: JudgeMeter | undefined;
  /** Counts how calls are answered; absent = the run does not read the cache. */
  readonly cache?: CacheMeter | undefined;
}

export interface ScoredAgain {
  /** As they were given, with new scores where there are any. */
  readonly rows: readonly KeptRollout[];
  /** Rows that stayed as they were; null = none did. */
  readonly unscored: Unscored | null;
  /** There are no rows then: the work is to be done by another. */
  readonly aborted: boolean;
  /** The first new error of each code. */
  readonly firstErrors: UnitOutcome["firstErrors"];
  /** Nobody may pay for the scores, which ends the run: there are no rows then; absent = that is not so. */
  readonly fatal?: Failure;
}

/** Whether the rollouts of an example can only be scored together: a group function judges them, or a column says how they compare. */
export const scoresTogether = (
  { hasGroupRewards }: Pick<EnvironmentTraits, "hasGroupRewards">,
  { independent, stateColumns }: Pick<ScoreAgainOptions, "independent" | "stateColumns">,
): boolean => hasGroupRewards || (!independent && stateColumns.includes("advantage"));

/**
 * Scores rollouts of one example from their stored rows: what the model said stays byte for byte, what it is worth is new. A row from
 * which a reward function wants what it does not hold stays as it was, with its error (where rollouts are scored together, all of
 * them). Rejects only for a fault of this library, and for rows that are none.
 */
export async function scoreAgain(
  environment: HostedEnvironment,
  input: RolloutInput,
  rows: readonly KeptRollout[],
  options: ScoreAgainOptions,
): Promise<ScoredAgain> {
  const all = await environment.scoreStored(input, rows, options);
  if (all === null) return { rows: [], unscored: null, aborted: true, firstErrors: [] };
  const fatal = unpaidAmong(all.flatMap(({ own, hadError }) => (hadError ? [] : [own])));
  if (fatal !== null) return { rows: [], unscored: null, aborted: true, firstErrors: [], fatal };
  const lacking = all.filter(({ lacks }) => lacks.size > 0);
  const none = lacking.length > 0 && scoresTogether(environment.traits, options);
  const scored = all.map((stored) =>
    none || stored.lacks.size > 0
      ? null
      : rescored(stored, { ...options, judges: options.judges?.take(stored.state) ?? NO_JUDGES, cache: options.cache?.take(stored.state) }),
  );
  const firstErrors = firstErrorsOf(all.flatMap(({ own, hadError }, at) => (scored[at] === null || hadError ? [] : [own])));
  const left = scored.filter((row) => row === null).length;
  const state = [...new Set(lacking.flatMap(({ lacks }) => [...lacks]))];
  return { rows: all.map(({ kept }, at) => scored[at] ?? kept), unscored: left === 0 ? null : { rollouts: left, state }, aborted: false, firstErrors };
}

/** The row with its new scores; null where there are none, or no room for them. `judges`: what this scoring took of them; `cache`: how it was answered. */
export function rescored(
  { kept, row, own, state, hadError }: Stored,
  {
    stateColumns,
    clusterBy,
    envDigest,
    scoredAnew,
    judges,
    cache,
  }: Pick<RescoredOptions, "stateColumns" | "envDigest" | "scoredAnew" | "judges"> &
    Pick<ScoreAgainOptions, "clusterBy"> & { readonly cache?: CacheUsage | undefined },
): KeptRollout | null {
  // Scoring that ran out of time has said nothing of the rollout.
  if (own.reward === null || (!hadError && own.error?.code === "timeout")) return null;
  const options: RescoredOptions = {
    stateColumns,
    envDigest,
    scoredAnew,
    judges: addJudges(kept.summary.judges, judges),
    ...(cache === undefined ? {} : { cache: addCacheUsage(kept.summary.cache, cache) }),
    scoring: marksOf(state).scoring,
    keepsError: hadError,
  };
  const bare = own[JUDGE_COLUMN];
  putJudgements(own, state, stateColumns);
  let line = rescoredLine(kept.line, row, own, options);
  if (exceeds(line, MAX_RESULT_ROW_BYTES)) {
    own[JUDGE_COLUMN] = bare;
    line = rescoredLine(kept.line, row, own, options);
  }
  if (exceeds(line, MAX_RESULT_ROW_BYTES)) return null;
  const mark = kept.summary.other_prompt === true ? { other_prompt: true as const } : {};
  return { index: kept.index, line, summary: { ...summariseRow(JSON.parse(line) as JsonObject, clusterBy), ...mark } };
}
