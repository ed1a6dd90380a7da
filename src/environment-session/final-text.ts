import type { KeptBase } from "../rollouts/kept/kept-state.ts";
import { keepState } from "../rollouts/kept/kept-state.ts";
import { JsonCheck, type JsonProblem } from "../rollouts/kept/json-problem.ts";
import { rolloutFailure } from "../rollouts/failure.ts";
import { columnValue } from "../rollouts/rows/column.ts";
import { ALL_PARTS, sizeFailure } from "../rollouts/rows/row.ts";
import { createState } from "../rollouts/state/state.ts";
import { marksOf } from "../rollouts/state/time-marks.ts";
import type { RolloutInput, State, TrajectoryStep } from "../rollouts/types.ts";

/** A rollout in its last form. With `problem` it cannot be gone on with from the text, which has what its row needs. */
export interface FinalText {
  readonly text: string;
  readonly problem?: JsonProblem;
}

/** The text of a rollout that is over. Never throws. `columns`: keys of the state that its row carries. */
export function finalText(state: State, base: KeptBase, columns: readonly string[]): FinalText {
  const whole = keepState(state, base);
  if (whole.ok) return { text: whole.text };
  const { path, problem } = whole;
  for (const lacks of [[], ["completion"], ALL_PARTS] as const) {
    const part = attempt(() => keepState(thinned(state, base, columns, lacks), base));
    if (part?.ok === true) return { text: part.text, problem: { path, problem } };
  }
  const bare = createState(base.input, { client: null, model: "", samplingArgs: {}, tools: base.tools, now: 0 });
  Object.assign(bare, { is_completed: true, stop_condition: "has_error" });
  bare.error = rolloutFailure("environment_error", `the rollout's state cannot be written as JSON: ${path} ${problem}`);
  const last = keepState(bare, base);
  return { text: last.ok ? last.text : "", problem: { path, problem } };
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/** What rows have of a state beside the conversation, and nobody else's keys. */
const FIELDS = ["is_completed", "is_truncated", "stop_condition", "prompt_too_long", "timed_out", "usage", "reward", "metrics", "advantage", "error"] as const;

function thinned(state: State, base: KeptBase, columns: readonly string[], lacks: readonly string[]): State {
  const input = lacks === ALL_PARTS ? { ...base.input, prompt: [], answer: undefined, info: undefined } : (plain(state.input) as RolloutInput);
  const thin = createState(input, { client: null, model: state.model, samplingArgs: state.sampling_args, tools: base.tools, now: 0 });
  for (const field of FIELDS) thin[field] = plain(state[field]) as never;
  thin.timing = { ...state.timing };
  thin.tool_defs = lacks === ALL_PARTS ? [] : (plain(state.tool_defs) as State["tool_defs"]);
  thin.completion = lacks.length > 0 ? null : (plain(state.completion) as State["completion"]);
  thin.trajectory = state.trajectory.map(({ response }) => ({ response: { usage: plain(response?.usage ?? null) } })) as unknown as TrajectoryStep[];
  const { setup, scoring, model, env } = marksOf(state);
  const marks = marksOf(thin);
  Object.assign(marks, { setup, scoring });
  marks.model.push(...model);
  marks.env.push(...env);
  for (const name of columns) if (Object.hasOwn(state, name) && lacks !== ALL_PARTS) addColumn(thin, state, name);
  thin.error ??= sizeFailure(lacks as Parameters<typeof sizeFailure>[0]);
  return thin;
}

function addColumn(thin: State, state: State, name: string): void {
  if (Object.hasOwn(thin, name) && name !== "trajectory") return;
  const value = columnValue(state, name);
  if (value.ok) thin[name] = value.value;
  else thin.error ??= rolloutFailure("environment_error", value.problem);
}

/** `value` as JSON has it; itself where it is. */
const plain = (value: unknown): unknown =>
  new JsonCheck().problemOf(value, "") === null || value === undefined ? value : (JSON.parse(JSON.stringify(value)) as unknown);
