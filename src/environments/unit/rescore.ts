import type { Failure } from "../../errors/result.ts";
import { JUDGE_COLUMN } from "../../metrics/judge-fields.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { NO_JUDGES } from "../../rollouts/state/judge-usage.ts";
import { putJudgements } from "../../rollouts/rows/judge-column.ts";
import { rescoredLine } from "../../rollouts/rows/rescored-row.ts";
import { rolloutFailure } from "../../rollouts/failure.ts";
import { exceeds, MAX_RESULT_ROW_BYTES } from "../../rollouts/rows/row.ts";
import { marksOf } from "../../rollouts/state/time-marks.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import { firstErrorsOf, type UnitOutcome } from "./run-unit.ts";
import type { ScoreAgainOptions } from "./score-again.ts";
import type { KeptRollout, Stored } from "./stored-rollout.ts";
import { unpaidAmong } from "./unpaid.ts";

/** What an earlier judge said is no word of this one. */
const FORGOTTEN = [JUDGE_COLUMN] as const;

export interface RescoreOptions extends ScoreAgainOptions {
  /** What is known of the example is what rows hold. */
  readonly rowOnly: boolean;
}

export interface Rescored {
  /** New ones, in the order of those that were given; none where something is lacked. */
  readonly rows: readonly KeptRollout[];
  /** What reward functions asked of rollouts and their rows do not hold. */
  readonly lacks: readonly string[];
  /** It was cut off: there are no rows, and the work is to be done by another. */
  readonly aborted: boolean;
  /** Whether a reward, or whether there is an error, is another than before. */
  readonly changed: boolean;
  /** The first error of each code that scoring made. */
  readonly firstErrors: UnitOutcome["firstErrors"];
  /** Nobody may pay for the scores, which ends the run: there are no rows then; absent = that is not so. */
  readonly fatal?: Failure;
}

/**
 * New rows of rollouts of one example by another rubric than gave them their scores: nothing of the old scores stays. What the rollout ended in stays;
 * such a rollout is scored like in any run, as far as its row goes, and nothing that it lacks is held against it. Rejects as `scoreAgain`.
 */
export async function rescore(environment: HostedEnvironment, input: RolloutInput, rows: readonly KeptRollout[], options: RescoreOptions): Promise<Rescored> {
  const all = await environment.scoreStored(input, rows, { ...options, forgets: FORGOTTEN, countsAnswers: true });
  if (all === null) return { rows: [], lacks: [], aborted: true, changed: false, firstErrors: [] };
  const lacks = [...new Set(all.flatMap(({ hadError, lacks: own }) => (hadError ? [] : [...own])))];
  if (lacks.length > 0) return { rows: [], lacks, aborted: false, changed: false, firstErrors: [] };
  const fatal = unpaidAmong(all.flatMap(({ own, hadError }) => (hadError ? [] : [own])));
  if (fatal !== null) return { rows: [], lacks: [], aborted: true, changed: false, firstErrors: [], fatal };
  const fresh = all.map((stored) => freshRow(stored, options));
  return {
    rows: fresh,
    lacks,
    aborted: false,
    changed: fresh.some(({ summary }, at) => summary.reward !== rows[at]?.summary.reward || summary.error !== rows[at]?.summary.error),
    firstErrors: firstErrorsOf(all.flatMap(({ own, hadError }) => (hadError ? [] : [own]))),
  };
}

function freshRow({ kept, row, own, state, hadError }: Stored, { stateColumns, envDigest, judges, cache, clusterBy }: RescoreOptions): KeptRollout {
  const taken = judges?.take(state) ?? null;
  const answered = cache?.take(state) ?? null;
  const lineOf = (): string =>
    rescoredLine(kept.line, row, own, {
      stateColumns,
      envDigest: Object.hasOwn(row, "env_digest") ? envDigest : undefined,
      judges: taken ?? NO_JUDGES,
      saysJudges: taken !== null,
      cache: answered,
      scoring: marksOf(state).scoring,
      keepsError: hadError,
    });
  const bare = own[JUDGE_COLUMN];
  putJudgements(own, state, stateColumns);
  let line = lineOf();
  if (exceeds(line, MAX_RESULT_ROW_BYTES)) {
    own[JUDGE_COLUMN] = bare;
    line = lineOf();
  }
  if (exceeds(line, MAX_RESULT_ROW_BYTES)) {
    own.error ??= rolloutFailure("row_too_large", "the row with its new scores is larger than a row may be, and was written without them");
    Object.assign(own, { reward: 0, metrics: {} });
    line = lineOf();
  }
  return { index: kept.index, line, summary: summaryOfRow(JSON.parse(line) as typeof row, clusterBy) };
}
