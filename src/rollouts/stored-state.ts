import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { errorCodeOf } from "../metrics/row-summary.ts";
import { isScorerError } from "../errors/codes.ts";
import { rolloutFailure } from "./failure.ts";
import { readOutput } from "./output.ts";
import { createState, type StateOptions } from "./state.ts";
import { storedTiming } from "./stored-timing.ts";
import type { RolloutInput, State, TokenUsage, Tool } from "./types.ts";

/** The state of a rollout as far as its row holds it. */
export interface StoredState {
  readonly state: State;
  /** The same without a watch: what is asked for here is not noted. */
  readonly own: State;
  /** Names of what was asked of the state and the row does not hold; a score that needed one of them is none. */
  readonly lacks: ReadonlySet<string>;
}

/** Keys that scoring itself makes: that they are not there yet is no lack. */
const MADE_BY_SCORING: ReadonlySet<string> = new Set(["judge_response"]);

/** Keys of a fresh state that a rollout changes and no row holds. */
const NOT_IN_ROWS = ["trajectory", "trajectory_id", "final_env_response"] as const;

const stepless = new WeakSet<State>();

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
export function storedState(input: RolloutInput, row: JsonObject, columns: readonly string[], options: Omit<StateOptions, "tools" | "now">): StoredState {
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
  for (const name of columns) if (Object.hasOwn(row, name) && !Object.hasOwn(state, name)) state[name] = row[name];
  return watched(state, turnsOf(row));
}

function usageOf(usage: Json | undefined): TokenUsage | null {
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return null;
  return { input_tokens: Number(usage.input_tokens ?? 0), output_tokens: Number(usage.output_tokens ?? 0) };
}

/** How often the model was called; null where the row does not say. */
function turnsOf({ metrics }: JsonObject): number | null {
  const turns = typeof metrics === "object" && metrics !== null && !Array.isArray(metrics) ? metrics.num_turns : null;
  return typeof turns === "number" && Number.isSafeInteger(turns) && turns >= 0 ? turns : null;
}

/** `own`, noting what is asked of it that it does not have. What scoring writes, it has from then on. */
function watched(own: State, turns: number | null): StoredState {
  const lacks = new Set<string>();
  const lack = (key: string): never => {
    lacks.add(key);
    throw new StateNotStored(key);
  };
  const isKnown = (key: string | symbol): boolean =>
    typeof key === "symbol" || Object.hasOwn(own, key) || MADE_BY_SCORING.has(key) || key in Object.prototype || key === "then" || key === "toJSON";
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

/** The model calls of a rollout of which only the number is known. */
function counted(turns: number | null, lack: () => never): State["trajectory"] {
  return new Proxy([], {
    get: (_, key): unknown => (key === "length" && turns !== null ? turns : lack()),
    has: lack,
    ownKeys: lack,
    getOwnPropertyDescriptor: lack,
  });
}
