import type { Sleep } from "../../clients/client.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import type { Failure } from "../../errors/result.ts";
import { failureOfRollout } from "../../rollouts/failure.ts";
import type { KeptTurn, OpenedState } from "../../rollouts/kept/kept-state.ts";
import { isLeft, isNotResumed } from "../../rollouts/kept/left.ts";
import { isScoredAlone } from "../hosted/traits.ts";
import type { Playable, RolloutContext } from "./playable.ts";
import { type KeptRollout, type Stored, storedOf } from "./stored-rollout.ts";
import { creditStates, scoreStates } from "./score-states.ts";
import { nameRollout } from "../../rollouts/state/asked-questions.ts";
import { createState } from "../../rollouts/state/state.ts";
import type { Client, RolloutInput, State } from "../../rollouts/types.ts";
import { UnitScope } from "./unit-scope.ts";
import { refusalOf, unpaidAmong } from "./unpaid.ts";

export interface PlayOptions {
  readonly client: Client;
  readonly model: string;
  /** The run's own; merged over the environment's. */
  readonly sampling_args: JsonObject;
  /** Further attempts at a rollout (docs/retries.md). */
  readonly maxRetries: number;
  /** Each rollout is worth what it is by itself: nothing compares it with the others of its example. */
  readonly independent: boolean;
  /** Rollouts that are generated already, by index; and those of them that have their scores, where each is scored by itself. */
  readonly generated?: ReadonlyMap<number, State>;
  readonly scored?: ReadonlySet<number>;
  /**
   * Rollouts of which there are rows, and columns of those that are keys of the state: their states are made of the rows, to be scored with the others.
   * They are among the indices, are told to nobody as generated, and go before `generated`.
   */
  readonly stored?: { readonly rows: readonly KeptRollout[]; readonly stateColumns: readonly string[] };
  /** Rollouts that were begun elsewhere and stand between two turns, by index. */
  readonly begun?: ReadonlyMap<number, OpenedState>;
  /**
   * Told where a rollout can be gone on from. `leave` has it stop there, and the unit is without states then. `unkept`: nobody keeps it, and the
   * unit's time goes on. Absent = nobody keeps any.
   */
  readonly onTurn?: (index: number, state: State, turn: KeptTurn) => "kept" | "unkept" | "leave";
  /** Keys of the states whose values rows will carry, and those whose values go with each request of the client, as headers; absent = none. */
  readonly stateColumns?: readonly string[];
  readonly stateKeys?: readonly string[];
  /** Waited for when all rollouts are generated, before the first of them is scored; absent = each is scored as soon as it can be. */
  readonly scoringTurn?: () => Promise<void>;
  /**
   * The other rollouts of the example are played elsewhere: these are scored by themselves where that is how they are (`scores`), and never together.
   * Absent = these are all.
   */
  readonly part?: { readonly scores: boolean };
  /** Called when a rollout has been generated, whatever it ended in. */
  readonly onRollout?: (index: number, state: State) => void;
  /** Called when rollouts are about to be scored, the one of that index or all of them together: their states are about to change. */
  readonly onScoring?: (index: number | null) => void;
  /** Called when a rollout was scored by itself. */
  readonly onScored?: (index: number, state: State) => void;
  /** Ends the unit without states. */
  readonly signal: AbortSignal;
  /** Aborted no later: ends rollouts that are not generated, and has a unit of which all are scored at once. Absent = the same. */
  readonly generation?: AbortSignal;
  /** Time in which the unit is to be done, from its first permit or the last turn that was kept on, else it ends with `timeout` rows. Milliseconds; null = none. */
  readonly deadlineMs: number | null;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** [0, 1). */
  readonly random: () => number;
}

/** Finished and scored rollouts. With `fatal` or `aborted` there are none: the unit stays to be done. */
export interface PlayedUnit {
  readonly states: readonly State[] | null;
  /** Those that were made of rows, by index; absent where there are no states, or no rows were given. */
  readonly stored?: ReadonlyMap<number, Stored>;
  readonly fatal: Failure | null;
  readonly aborted: boolean;
}

/**
 * Plays the rollouts `indices` of one example side by side and scores them, those among them that are generated already. Whatever goes wrong in a rollout is in its state; rejects only
 * for a fault of this library. The engine and `Environment.generate` both stand on this.
 */
export async function playUnit(environment: Playable, input: RolloutInput, indices: readonly number[], options: PlayOptions): Promise<PlayedUnit> {
  const problem = environment.scoringProblem(options.independent);
  if (problem !== null) return { states: null, fatal: problem, aborted: false };
  if (options.signal.aborted) return { states: null, fatal: null, aborted: true };
  const stored = options.stored === undefined ? null : statesOfRows(environment, input, options.stored, options);
  const generated =
    stored === null ? options.generated : new Map([...(options.generated ?? []), ...[...stored].map(([index, { state }]) => [index, state] as const)]);
  const scope = new UnitScope({ ...options, alone: indices.length === 1 });
  try {
    const known = generated === undefined ? {} : { generated };
    const states = await playAll(environment, input, indices, { ...options, ...known, client: scope.timed(options.client) }, scope);
    if (states === null) return { states, fatal: scope.fatal, aborted: scope.fatal === null };
    const played = { states, ...(stored === null ? {} : { stored }), fatal: null, aborted: false };
    if (options.part !== undefined) return played;
    if (options.scoringTurn !== undefined) await turn(options.scoringTurn, scope);
    if (scope.cancelled) return { states: null, fatal: null, aborted: true };
    if (!isScoredAlone({ scoresAlone: scoresAlone(environment) }, options)) {
      options.onScoring?.(null);
      await scoreStates(environment, states, options, scope);
    } else {
      if (options.scoringTurn !== undefined) await Promise.all(states.map((state, at) => scoreAlone(environment, indices[at] ?? 0, state, options, scope)));
      if (!scope.cancelled && !options.independent) creditStates(environment, states);
    }
    refuseUnpaid(states, scope);
    if (scope.fatal !== null) return { states: null, fatal: scope.fatal, aborted: false };
    return scope.cancelled ? { states: null, fatal: null, aborted: true } : played;
  } finally {
    scope.close();
  }
}

function refuseUnpaid(states: readonly State[], scope: UnitScope): void {
  const unpaid = scope.cancelled ? null : unpaidAmong(states);
  if (unpaid !== null) scope.refuse(unpaid);
}

function statesOfRows(
  environment: Playable,
  input: RolloutInput,
  { rows, stateColumns }: NonNullable<PlayOptions["stored"]>,
  { client, model, sampling_args }: PlayOptions,
): ReadonlyMap<number, Stored> {
  const samplingArgs = environment.mergeSamplingArgs(sampling_args);
  return new Map(rows.map((kept) => [kept.index, storedOf(input, kept, stateColumns, { client, model, samplingArgs })]));
}

/** The finished states; null when the unit was cancelled or met a fatal refusal. */
async function playAll(
  environment: Playable,
  input: RolloutInput,
  indices: readonly number[],
  options: PlayOptions,
  scope: UnitScope,
): Promise<State[] | null> {
  const { part = { scores: options.scoringTurn === undefined } } = options;
  const atOnce = part.scores && isScoredAlone({ scoresAlone: scoresAlone(environment) }, options);
  const settled = await Promise.allSettled(
    indices.map(async (index) => {
      const known = options.generated?.get(index);
      if (known !== undefined) nameRollout(known, index);
      const state = known ?? (await playWithRetries(environment, input, index, options, scope));
      if (known === undefined) options.onRollout?.(index, state);
      const { error } = state;
      if (error !== null && ROLLOUT_ERRORS[error.code].fatal) scope.refuse(refusalOf(error));
      else if (atOnce) {
        await scoreAlone(environment, index, state, options, scope);
        refuseUnpaid([state], scope);
      }
      return state;
    }),
  );
  if (scope.fatal !== null || scope.cancelled) return null;
  if (settled.some((outcome) => outcome.status === "rejected" && (scope.generatesNoMore || isLeft(outcome.reason)))) return null;
  return settled.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/** Whether nothing judges the rollouts of an example together. A rubric that was bundled with a library of before does not say. */
export const scoresAlone = ({ rubric }: Pick<Playable, "rubric">): boolean => (rubric.scoresAlone as boolean | undefined) === true;

async function scoreAlone(environment: Playable, index: number, state: State, options: PlayOptions, scope: UnitScope): Promise<void> {
  if (options.scored?.has(index) === true) return;
  options.onScoring?.(index);
  await scoreStates(environment, [state], { independent: true, now: options.now }, scope);
  if (!scope.cancelled && state.reward !== null) options.onScored?.(index, state);
}

/** Wait before further attempt number `retry` (from 0): doubling seconds and a little more, up to a minute. */
const retryDelay = (retry: number, random: number): number => Math.min(60_000, 1_000 * 2 ** retry + 1_000 * random);

async function playWithRetries(environment: Playable, input: RolloutInput, index: number, options: PlayOptions, scope: UnitScope): Promise<State> {
  const known = options.begun?.get(index);
  // Attempts that failed elsewhere count too.
  const before = known?.turn?.retries ?? 0;
  for (let retry = before; ; retry++) {
    const begun = retry === before ? known : undefined;
    const attempt = { index, retries: retry };
    const state =
      (begun === undefined ? null : await goOn(environment, begun, attempt, options, scope)) ?? (await play(environment, input, attempt, options, scope));
    if (state.error === null || !ROLLOUT_ERRORS[state.error.code].rollout || retry >= options.maxRetries || scope.signal.aborted) return state;
    try {
      await options.sleep(retryDelay(retry, options.random()), scope.signal);
    } catch (thrown) {
      // The deadline came while waiting, or the end of all that is generated: the last attempt's own error says more than that.
      if (scope.lateness === null && (!scope.generatesNoMore || scope.cancelled)) throw thrown;
      return state;
    }
  }
}

/** A rollout, and how many attempts at it have failed. */
interface Attempt {
  readonly index: number;
  readonly retries: number;
}

/** Null when it cannot be gone on with: it is begun anew then. */
async function goOn(environment: Playable, { state, turn }: OpenedState, attempt: Attempt, options: PlayOptions, scope: UnitScope): Promise<State | null> {
  if (turn === null || !environment.resumable) return null;
  state.client = options.client;
  nameRollout(state, attempt.index);
  try {
    return await playOn(environment, state, { ...contextOf(environment, attempt, options, scope), from: turn }, scope);
  } catch (thrown) {
    if (scope.signal.aborted || !isNotResumed(thrown)) throw thrown;
    return null;
  }
}

function play(environment: Playable, input: RolloutInput, attempt: Attempt, options: PlayOptions, scope: UnitScope): Promise<State> {
  const state = newState(environment, input, options);
  nameRollout(state, attempt.index);
  return playOn(environment, state, contextOf(environment, attempt, options, scope), scope);
}

function contextOf({ resumable }: Playable, { index, retries }: Attempt, { now, sleep, onTurn }: PlayOptions, scope: UnitScope): RolloutContext {
  const context = { signal: scope.signal, now, sleep };
  if (onTurn === undefined || !resumable) return context;
  return {
    ...context,
    onTurn: (state, turn) => {
      // Code that goes on though it was cut says nothing of a rollout any more: others may be at it.
      if (scope.signal.aborted) return "leave";
      const answer = onTurn(index, state, retries === 0 ? turn : { ...turn, retries });
      if (answer === "kept") scope.turned();
      return answer === "leave" ? "leave" : "go-on";
    },
  };
}

async function playOn(environment: Playable, state: State, context: RolloutContext, scope: UnitScope): Promise<State> {
  try {
    await scope.rollout(environment.rollout(state, context));
  } catch (thrown) {
    if ((scope.signal.aborted && scope.lateness === null) || isLeft(thrown) || isNotResumed(thrown)) throw thrown;
    state.error ??= failureOfRollout(scope.lateness ?? thrown);
    state.stop_condition ??= "has_error";
    state.is_completed = true;
  }
  return state;
}

function newState(
  environment: Playable,
  input: RolloutInput,
  { client, model, sampling_args, now }: Pick<PlayOptions, "client" | "model" | "sampling_args" | "now">,
): State {
  try {
    return environment.initState(input, { client, model, sampling_args, now: now() });
  } catch (thrown) {
    const state = createState(input, { client, model, samplingArgs: sampling_args, tools: [], now: now() });
    state.error = failureOfRollout(thrown);
    return state;
  }
}

/** A unit that is late, or cancelled, waits no longer: it is scored in the time that is left, or not at all. */
export async function turn(scoringTurn: () => Promise<void>, scope: UnitScope): Promise<void> {
  try {
    await scope.rollout(scoringTurn());
  } catch (thrown) {
    if (!scope.signal.aborted) throw thrown;
  }
}
