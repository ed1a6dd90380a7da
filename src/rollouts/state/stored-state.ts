import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { JUDGE_COLUMN } from "../../metrics/judge-fields.ts";
import { errorCodeOf } from "../../metrics/row-summary.ts";
import { isScorerError } from "../../errors/codes.ts";
import { rolloutFailure } from "../failure.ts";
import { readOutput } from "../rows/output.ts";
import { createState, type StateOptions } from "./state.ts";
import { storedTiming } from "./stored-timing.ts";
import type { RolloutInput, State, TokenUsage, Tool } from "../types.ts";

/** The state of a rollout as far as its row holds it. */
export interface StoredState {
  readonly state: State;
  /** The same without a watch: what is asked for here is not noted. */
  readonly own: State;
  /** Names of what was asked of the state and the row does not hold; a score that needed one of them is none. */
  readonly lacks: ReadonlySet<string>;
}

/** Keys that scoring itself makes: that they are not there yet is no lack. */
const MADE_BY_SCORING: ReadonlySet<string> = new Set([JUDGE_COLUMN]);

/** Keys of a fresh state that a rollout changes and no row holds. */
const NOT_IN_ROWS = ["trajectory", "trajectory_id", "final_env_response"] as const;

const stepless = new WeakSet<State>();

/** A registered symbol: an environment may be bundled with a copy of this library of its own. */
const ROW_ONLY = Symbol.for("edgewise.row-only");

/** Whether all that is known of the example is what its row holds: then a column that is not there was maybe not stored. */
export const isRowOnly = (state: State): boolean => (state as { readonly [ROW_ONLY]?: true })[ROW_ONLY] === true;

const METRICS = Symbol.for("edgewise.stored-metrics");

/**
 * What the row of a rollout says of it under the name of a metric, for monitors: they measure the rollout, and what they measured it by is gone with it. Null
 * where the rollout is played here, or its row has no such number.
 */
export function storedMetric(state: State, name: string): number | null {
  const value = (state as { readonly [METRICS]?: Readonly<Record<string, unknown>> })[METRICS]?.[name];
  return typeof value === "number" ? value : null;
}

/** What is made of a row, and what of it is used. */
export interface StoredStateOptions extends Omit<StateOptions, "tools" | "now"> {
  /** `input` is made of the row: what that lacks of its example counts as a lack when it is asked for. Absent = it is the example itself. */
  readonly rowOnly?: boolean;
  /** Where the row does not say how often the model was called, each message of the assistant is taken for a call. */
  readonly countsAnswers?: boolean;
  /** Columns that are left out, as those that the new scores make. */
  readonly forgets?: readonly string[];
}

/** Whether the model calls of the rollout are there one by one. */
export const hasSteps = (state: State): boolean => !stepless.has(state);

/** What reading a state key throws that the row does not hold: a score made without it would be wrong without a word. */
export class StateNotStored extends Error {
  override readonly name = "StateNotStored";
  readonly code = "state_not_stored";
  readonly key: string;

  constructor(key: string) {
    super(`state.${key} is not in the stored row`);
    this.key = key;
  }
}

/**
 * The state of a rollout from its row and its example. State columns of the row are state keys again, in their JSON form. Throws a
 * `TypeError` that names a field which is not what rows have.
 */
export function storedState(input: RolloutInput, row: JsonObject, columns: readonly string[], options: StoredStateOptions): StoredState {
  const output = readOutput(row);
  const timing = storedTiming(row);
  const tools = Array.isArray(row.tool_defs) ? (row.tool_defs as unknown as Tool[]) : [];
  const state = createState(
    {
      ...input,
      prompt: output.prompt ?? input.prompt,
      ...(row.answer === undefined ? {} : { answer: row.answer }),
      ...(row.info === undefined ? {} : { info: row.info as JsonObject }),
    },
    { ...options, tools: [], now: timing.start_time * 1_000 },
  );
  Object.defineProperty(state, METRICS, { value: metricsIn(row) });
  const code = errorCodeOf(row.error);
  Object.assign(state, {
    completion: output.completion,
    is_completed: row.is_completed !== false,
    is_truncated: row.is_truncated === true,
    stop_condition: typeof row.stop_condition === "string" ? row.stop_condition : null,
    prompt_too_long: row.stop_condition === "prompt_too_long",
    timed_out: row.stop_condition === "timeout_reached",
    tool_defs: tools,
    usage: usageOf(row.token_usage),
    error: code === null || isScorerError(code) ? null : rolloutFailure(code, "as the row says"),
    timing,
  } satisfies Partial<State>);
  for (const key of NOT_IN_ROWS) Reflect.deleteProperty(state, key);
  const kept = columns.filter((name) => options.forgets?.includes(name) !== true);
  for (const name of kept) if (Object.hasOwn(row, name) && !Object.hasOwn(state, name)) state[name] = row[name];
  const turns = turnsOf(row) ?? (options.countsAnswers === true ? (output.completion?.filter(({ role }) => role === "assistant").length ?? null) : null);
  return watched(state, turns, options.rowOnly === true);
}

function usageOf(usage: Json | undefined): TokenUsage | null {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return null;
  return { input_tokens: Number(usage.input_tokens ?? 0), output_tokens: Number(usage.output_tokens ?? 0) };
}

/** How often the model was called; null where the row does not say. */
function turnsOf(row: JsonObject): number | null {
  const { num_turns: turns } = metricsIn(row);
  return typeof turns === "number" && Number.isSafeInteger(turns) && turns >= 0 ? turns : null;
}

const metricsIn = ({ metrics }: JsonObject): JsonObject => (typeof metrics === "object" && metrics !== null && !Array.isArray(metrics) ? metrics : {});

/** `own`, noting what is asked of it that it does not have. What scoring writes, it has from then on. */
function watched(own: State, turns: number | null, rowOnly: boolean): StoredState {
  const lacks = new Set<string>();
  const lack = (key: string): never => {
    lacks.add(key);
    throw new StateNotStored(key);
  };
  const isKnown = (key: string | symbol): boolean => isAsked(own, key) || (typeof key === "string" && MADE_BY_SCORING.has(key));
  if (rowOnly) {
    own.input = watchedInput(own.input, lack);
    Object.defineProperty(own, ROW_ONLY, { value: true });
  }
  const steps = counted(turns, () => lack("trajectory"));
  const state = new Proxy(own, {
    get: (target, key, receiver): unknown => {
      if (isKnown(key)) return Reflect.get(target, key, receiver);
      return key === "trajectory" ? steps : lack(String(key));
    },
    has: (target, key) => (isKnown(key) ? Reflect.has(target, key) : lack(String(key))),
    set: (target, key, value) => Reflect.set(target, key, value),
    getOwnPropertyDescriptor: (target, key) => (isKnown(key) ? Reflect.getOwnPropertyDescriptor(target, key) : lack(String(key))),
    // Whoever lists the keys would not find those that the rollout had.
    ownKeys: () => lack("*"),
  });
  if (!Object.hasOwn(own, "trajectory")) stepless.add(state);
  return { state, own, lacks };
}

/** What `object` has, and what any object is asked for by the language itself. */
const isAsked = (object: object, key: string | symbol): boolean =>
  typeof key === "symbol" || Object.hasOwn(object, key) || key in Object.prototype || key === "then" || key === "toJSON";

/** The example as its row holds it. */
function watchedInput(input: RolloutInput, lack: (key: string) => never): RolloutInput {
  return new Proxy(input, {
    get: (target, key): unknown => (isAsked(target, key) ? Reflect.get(target, key) : lack(String(key))),
    has: (target, key) => (isAsked(target, key) ? Reflect.has(target, key) : lack(String(key))),
    getOwnPropertyDescriptor: (target, key) => (isAsked(target, key) ? Reflect.getOwnPropertyDescriptor(target, key) : lack(String(key))),
    ownKeys: () => lack("input.*"),
  });
}

/** The model calls of a rollout of which only the number is known. */
function counted(turns: number | null, lack: () => never): State["trajectory"] {
  return new Proxy([], {
    get: (_, key): unknown => (key === "length" && turns !== null ? turns : lack()),
    has: lack,
    ownKeys: lack,
    getOwnPropertyDescriptor: lack,
  });
}
