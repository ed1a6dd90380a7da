import type { CacheMeter } from "../../rollouts/state/cache-meter.ts";
import type { JudgeMeter } from "../../rollouts/state/judge-usage.ts";
import type { RolloutSummary, Unscored } from "../../metrics/rollout-summary.ts";
import type { JsonObject, ResultsShape } from "../../config/plan/run-config.ts";
import { failureOfRollout, rolloutFailure } from "../../rollouts/failure.ts";
import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import { type EnvironmentTraits, mergeSamplingArgs } from "../hosted/traits.ts";
import type { PlayOptions } from "./play-unit.ts";
import type { KeptRollout } from "./stored-rollout.ts";
import { type RowOptions, rowOf, summariseRow } from "../../rollouts/rows/row.ts";
import { createState } from "../../rollouts/state/state.ts";
import type { RolloutInput, State } from "../../rollouts/types.ts";
import type { RolloutErrorCode } from "../../errors/codes.ts";
import type { Failure } from "../../errors/result.ts";

export interface UnitOptions extends PlayOptions {
  readonly unit: number;
  /** Rollout indices to run. */
  readonly rollouts: readonly number[];
  /** Rows of the others. Ignored where rollouts are scored as a group: then all of them run (repair-group.ts keeps them). */
  readonly kept: readonly KeptRollout[];
  readonly rolloutsPerExample: number;
  readonly stateColumns: readonly string[];
  /** The key by which examples are clustered; absent = they are not. */
  readonly clusterBy?: string | undefined;
  /** Shape of the rows; absent = the usual one. */
  readonly shape?: ResultsShape | undefined;
  /** Of the code, for rows that are to carry it. */
  readonly envDigest?: string | undefined;
  /** For rows that are to say whether their group was scored anew. */
  readonly scoredAnew?: boolean | undefined;
  /** Counts what the environment's own clients take. */
  readonly judges?: JudgeMeter;
  /** Of the model's tokens; absent or null = nobody knows it. */
  readonly price?: RowOptions["price"];
  /** For rows that are to say how their calls were answered; absent = the run does not read the cache. */
  readonly cache?: CacheMeter | undefined;
}

export interface UnitRows {
  /** One JSON text per rollout, without newlines, in rollout order. */
  readonly lines: readonly string[];
  readonly summaries: readonly RolloutSummary[];
  /** Of rows that were to be scored again, those that stayed; absent = none. */
  readonly unscored?: Unscored;
  /** Their group was scored anew, for the first time; absent = it was not. */
  readonly firstScoredAnew?: true;
  /** Of a run that scores again: a reward, or whether there is an error, is another than in its source; absent = none is. */
  readonly scoresChanged?: true;
}

/** With `fatal` or `aborted` there are no rows: the unit stays to be done. */
export interface UnitOutcome extends UnitRows {
  readonly fatal: Failure | null;
  readonly aborted: boolean;
  /** The first error of each code. */
  readonly firstErrors: readonly { readonly code: RolloutErrorCode; readonly message: string; readonly hint?: string }[];
}

const NO_ROWS = { lines: [], summaries: [], firstErrors: [] };

/**
 * Runs the rollouts of one example together, scores them and renders their rows. Whatever goes wrong in a rollout is in its row;
 * rejects only for a fault of this library.
 */
export async function runUnit(environment: HostedEnvironment, input: RolloutInput, options: UnitOptions): Promise<UnitOutcome> {
  const { hasGroupRewards } = environment.traits;
  const indices = hasGroupRewards ? allIndices(options.rolloutsPerExample) : options.rollouts;
  const { states, fatal, aborted } = await environment.play(input, indices, options);
  if (states === null) return { ...NO_ROWS, fatal, aborted };
  const fresh = states.map((state, at) => freshRow(state, input, indices[at] ?? 0, options));
  const kept = hasGroupRewards ? [] : options.kept;
  return { ...inOrder([...kept, ...fresh], options.rolloutsPerExample), fatal: null, aborted: false, firstErrors: firstErrorsOf(states) };
}

const allIndices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

type FreshOptions = Pick<RowOptions, "stateColumns" | "shape" | "envDigest" | "scoredAnew" | "price"> &
  Pick<UnitOptions, "clusterBy"> & { readonly judges?: JudgeMeter | undefined; readonly cache?: CacheMeter | undefined };

export function freshRow(
  state: State,
  input: RolloutInput,
  index: number,
  { stateColumns, clusterBy, shape, envDigest, scoredAnew, price, judges, cache }: FreshOptions,
): KeptRollout {
  const counted = { judges: judges?.take(state), cache: cache?.take(state) };
  const options = { rolloutIndex: index, stateColumns, shape, envDigest, scoredAnew, price, ...counted };
  try {
    const { row, line } = rowOf(state, options);
    return { index, line, summary: summariseRow(row, clusterBy) };
  } catch (thrown) {
    // Something an environment wrote into the state is no JSON (a BigInt, a cycle): the example as it was still is.
    const bare = createState(input, { client: null, model: state.model, samplingArgs: state.sampling_args, tools: [], now: state.timing.start_time * 1_000 });
    bare.error = failureOfRollout(new Error("the rollout's state cannot be written as JSON", { cause: thrown }));
    const { row, line } = rowOf(bare, { ...options, stateColumns: [] });
    return { index, line, summary: summariseRow(row, clusterBy) };
  }
}

/** The rows of a unit in rollout order. Throws a `RangeError` when one is missing. */
export function inOrder(rollouts: readonly KeptRollout[], count: number): UnitRows {
  const sorted = [...rollouts].sort((a, b) => a.index - b.index);
  const complete = sorted.length === count && sorted.every(({ index }, at) => index === at);
  if (!complete) throw new RangeError(`a unit of ${count} rollouts got rows for ${sorted.map(({ index }) => index).join(", ") || "none"}`);
  return { lines: sorted.map(({ line }) => line), summaries: sorted.map(({ summary }) => summary) };
}

export function firstErrorsOf(states: readonly State[]): UnitOutcome["firstErrors"] {
  const first = new Map<RolloutErrorCode, UnitOutcome["firstErrors"][number]>();
  for (const { error } of states) {
    if (error === null || first.has(error.code)) continue;
    const { code, message, hint } = error;
    first.set(code, { code, message, ...(hint === undefined ? {} : { hint }) });
  }
  return [...first.values()];
}

export interface ErrorLineOptions {
  readonly rolloutsPerExample: number;
  readonly code: RolloutErrorCode;
  readonly message: string;
  readonly model: string;
  readonly sampling_args: JsonObject;
  readonly stateColumns: readonly string[];
  readonly clusterBy?: string | undefined;
  readonly shape?: ResultsShape | undefined;
  readonly envDigest?: string | undefined;
  readonly scoredAnew?: boolean | undefined;
  readonly judges?: JudgeMeter;
  readonly cache?: CacheMeter | undefined;
  readonly now: () => number;
  /** Rows that are there already, and stay. */
  readonly kept?: readonly KeptRollout[];
}

/** Rows of a unit that is not run: every rollout of which there is no row with the same error, reward 0 and no metrics. */
export function errorLines(traits: Pick<EnvironmentTraits, "samplingArgs" | "toolDefs">, input: RolloutInput, options: ErrorLineOptions): UnitRows {
  const { code, message, model, sampling_args, now, kept = [] } = options;
  const held = new Set(kept.map(({ index }) => index));
  const missing = allIndices(options.rolloutsPerExample).filter((index) => !held.has(index));
  const rollouts = missing.map((index) => {
    const state = createState(input, {
      client: null,
      model,
      samplingArgs: mergeSamplingArgs(traits, sampling_args),
      tools: traits.toolDefs,
      now: now(),
    });
    Object.assign(state, { completion: [], is_completed: true, stop_condition: "has_error", error: rolloutFailure(code, message) });
    return freshRow(state, input, index, options);
  });
  return inOrder([...kept, ...rollouts], options.rolloutsPerExample);
}
