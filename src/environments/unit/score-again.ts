import type { Unscored } from "../../metrics/rollout-summary.ts";
import type { Sleep } from "../../clients/client.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Playable } from "./playable.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { turn } from "./play-unit.ts";
import { type JudgeMeter, NO_JUDGES } from "../../rollouts/state/judge-usage.ts";
import { addJudges } from "../../metrics/totals.ts";
import { type RescoredOptions, rescoredLine } from "../../rollouts/rows/rescored-row.ts";
import { exceeds, MAX_RESULT_ROW_BYTES, summariseRow } from "../../rollouts/rows/row.ts";
import { firstErrorsOf, type KeptRollout, type UnitOutcome } from "./run-unit.ts";
import { scoreStates } from "./score-states.ts";
import { type StoredState, type StoredStateOptions, storedState } from "../../rollouts/state/stored-state.ts";
import { marksOf } from "../../rollouts/state/time-marks.ts";
import type { Client, RolloutInput } from "../../rollouts/types.ts";
import { UnitScope } from "./unit-scope.ts";

export interface ScoreAgainOptions {
  /** For reward functions that ask the model themselves. */
  readonly client: Client | null;
  readonly model: string;
  /** The run's own. */
  readonly sampling_args: JsonObject;
  /** Score each rollout by itself. */
  readonly independent: boolean;
  readonly stateColumns: readonly string[];
  /** The key by which examples are clustered; absent = they are not. */
  readonly clusterBy?: string | undefined;
  /** Digest of the environment, where rows carry one. */
  readonly envDigest?: string | undefined;
  /** Counts what the environment's own clients take. */
  readonly judges?: JudgeMeter | undefined;
  /** Waited for before anything is scored. */
  readonly scoringTurn?: () => Promise<void>;
  readonly signal: AbortSignal;
  /** Milliseconds from now after which rows that are not scored yet stay as they are; null = none. */
  readonly deadlineMs: number | null;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
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
}

export interface Stored extends StoredState {
  readonly kept: KeptRollout;
  readonly row: JsonObject;
  /** Of the rollout itself, not of its scoring. */
  readonly hadError: boolean;
}

/** Whether the rollouts of an example can only be scored together: a group function judges them, or a column says how they compare. */
export const scoresTogether = (environment: Playable, { independent, stateColumns }: Pick<ScoreAgainOptions, "independent" | "stateColumns">): boolean =>
  environment.hasGroupRewards || (!independent && stateColumns.includes("advantage"));

/**
 * Scores rollouts of one example from their stored rows: what the model said stays byte for byte, what it is worth is new. A row from
 * which a reward function wants what it does not hold stays as it was, with its error (where rollouts are scored together, all of
 * them). Rejects only for a fault of this library, and for rows that are none.
 */
export async function scoreAgain(environment: Playable, input: RolloutInput, rows: readonly KeptRollout[], options: ScoreAgainOptions): Promise<ScoredAgain> {
  const all = await scoreStored(environment, input, rows, options);
  if (all === null) return { rows: [], unscored: null, aborted: true, firstErrors: [] };
  const lacking = all.filter(({ lacks }) => lacks.size > 0);
  const none = lacking.length > 0 && scoresTogether(environment, options);
  const scored = all.map((stored) =>
    none || stored.lacks.size > 0 ? null : rescored(stored, { ...options, judges: options.judges?.take(stored.state) ?? NO_JUDGES }),
  );
  const firstErrors = firstErrorsOf(all.flatMap(({ own, hadError }, at) => (scored[at] === null || hadError ? [] : [own])));
  const left = scored.filter((row) => row === null).length;
  const state = [...new Set(lacking.flatMap(({ lacks }) => [...lacks]))];
  return { rows: all.map(({ kept }, at) => scored[at] ?? kept), unscored: left === 0 ? null : { rollouts: left, state }, aborted: false, firstErrors };
}

/** Scores the states that rows make; null where that was cut off. Rejects as `scoreAgain`. */
export async function scoreStored(
  environment: Playable,
  input: RolloutInput,
  rows: readonly KeptRollout[],
  options: ScoreAgainOptions & Pick<StoredStateOptions, "rowOnly" | "forgets" | "countsAnswers">,
): Promise<readonly Stored[] | null> {
  const { client, model, stateColumns, independent, signal, rowOnly, forgets, countsAnswers } = options;
  const samplingArgs = environment.mergeSamplingArgs(options.sampling_args);
  const part = {
    ...(rowOnly === undefined ? {} : { rowOnly }),
    ...(forgets === undefined ? {} : { forgets }),
    ...(countsAnswers === undefined ? {} : { countsAnswers }),
  };
  const all = rows.map((kept) => storedOf(input, kept, stateColumns, { client, model, samplingArgs, ...part }));
  const scope = new UnitScope({ signal, deadlineMs: options.deadlineMs, sleep: options.sleep, alone: rows.length === 1 });
  try {
    if (options.scoringTurn !== undefined) await turn(options.scoringTurn, scope);
    const states = all.map(({ state }) => state);
    if (!scope.cancelled) {
      if (independent) await Promise.all(states.map((state) => scoreStates(environment, [state], options, scope)));
      else await scoreStates(environment, states, options, scope);
    }
    return scope.cancelled ? null : all;
  } finally {
    scope.close();
  }
}

/** The state of a rollout from its row, to be scored again. Throws for what is no row. */
export function storedOf(input: RolloutInput, kept: KeptRollout, stateColumns: readonly string[], options: Parameters<typeof storedState>[3]): Stored {
  const row = readForeignRow(kept.line).value;
  const stored = storedState(input, row, stateColumns, options);
  return { ...stored, kept, row, hadError: stored.own.error !== null };
}

/** The row with its new scores; null where there are none, or no room for them. `judges`: what this scoring took of them. */
export function rescored(
  { kept, row, own, state, hadError }: Stored,
  {
    stateColumns,
    clusterBy,
    envDigest,
    scoredAnew,
    judges,
  }: Pick<RescoredOptions, "stateColumns" | "envDigest" | "scoredAnew" | "judges"> & Pick<ScoreAgainOptions, "clusterBy">,
): KeptRollout | null {
  // Scoring that ran out of time has said nothing of the rollout.
  if (own.reward === null || (!hadError && own.error?.code === "timeout")) return null;
  const line = rescoredLine(kept.line, row, own, {
    stateColumns,
    envDigest,
    scoredAnew,
    judges: addJudges(kept.summary.judges, judges),
    scoring: marksOf(state).scoring,
    keepsError: hadError,
  });
  if (exceeds(line, MAX_RESULT_ROW_BYTES)) return null;
  const mark = kept.summary.other_prompt === true ? { other_prompt: true as const } : {};
  return { index: kept.index, line, summary: { ...summariseRow(JSON.parse(line) as JsonObject, clusterBy), ...mark } };
}
