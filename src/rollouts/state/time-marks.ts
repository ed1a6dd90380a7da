import type { JsonObject } from "../../config/plan/run-config.ts";
import type { State } from "../types.ts";

/** Unix milliseconds. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** When the parts of a rollout were. */
export interface TimeMarks {
  setup: Span | null;
  scoring: Span | null;
  /** One per model call, in their order. */
  readonly model: Span[];
  /** What the environment said between two calls. */
  readonly env: Span[];
}

/** Beside the states: rows of the usual shape, and everything that reads a state, have sums only. */
const kept = new WeakMap<State, TimeMarks>();

export function marksOf(state: State): TimeMarks {
  const marks = kept.get(state) ?? { setup: null, scoring: null, model: [], env: [] };
  kept.set(state, marks);
  return marks;
}

/** The `timing` of a row as verifiers has it from 0.1.14 on: seconds, with the span of every part (its `RolloutTiming`). */
export function nestedTiming(state: State): JsonObject {
  const { setup, scoring, model, env } = marksOf(state);
  const { start_time, generation_ms, scoring_ms, total_ms } = state.timing;
  const start = start_time * 1_000;
  const end = start + generation_ms;
  const parts = { setup: spanOf(setup), generation: spanOf({ start, end }), scoring: spanOf(scoring), model: spansOf(model), env: spansOf(env) };
  const known = parts.setup.duration + parts.model.duration + parts.env.duration + scoring_ms / 1_000;
  return { start_time, ...parts, total: total_ms / 1_000, overhead: Math.max(0, total_ms / 1_000 - known) };
}

function spanOf(span: Span | null): { start: number; end: number; duration: number } {
  return span === null ? { start: 0, end: 0, duration: 0 } : { start: span.start / 1_000, end: span.end / 1_000, duration: (span.end - span.start) / 1_000 };
}

function spansOf(spans: readonly Span[]): { spans: JsonObject[]; duration: number } {
  return { spans: spans.map(spanOf), duration: spans.reduce((sum, { start, end }) => sum + (end - start) / 1_000, 0) };
}
