import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { marksOf, type Span } from "./time-marks.ts";
import type { State, Timing } from "../types.ts";

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
const numberOf = (value: Json | undefined): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const secondsOf = (part: Json | undefined): number => (isObject(part) ? numberOf(part.duration) : 0);

/** The times of a rollout from its row, in either shape, as they were before it was scored: scoring adds its own. */
export function storedTiming({ timing, generation_ms: flat }: JsonObject): Timing {
  if (!isObject(timing)) return { start_time: 0, generation_ms: numberOf(flat), scoring_ms: 0, total_ms: numberOf(flat) };
  const start_time = numberOf(timing.start_time);
  if ("generation_ms" in timing) {
    return { start_time, generation_ms: numberOf(timing.generation_ms), scoring_ms: 0, total_ms: numberOf(timing.total_ms) - numberOf(timing.scoring_ms) };
  }
  return {
    start_time,
    generation_ms: secondsOf(timing.generation) * 1_000,
    scoring_ms: 0,
    total_ms: (numberOf(timing.total) - secondsOf(timing.scoring)) * 1_000,
  };
}

/** The same with its scoring: of a rollout that is not scored again. */
export function wholeTiming(row: JsonObject): Timing {
  const before = storedTiming(row);
  const { timing } = row;
  const scoring_ms = !isObject(timing) ? numberOf(row.scoring_ms) : "generation_ms" in timing ? numberOf(timing.scoring_ms) : secondsOf(timing.scoring) * 1_000;
  return { ...before, scoring_ms, total_ms: before.total_ms + scoring_ms };
}

/** When the parts of a rollout were, as far as its row says: rows up to 0.1.13 have sums only. */
export function keepStoredMarks(state: State, { timing }: JsonObject): void {
  if (!isObject(timing)) return;
  const marks = marksOf(state);
  marks.setup = spanOf(timing.setup);
  marks.scoring = spanOf(timing.scoring);
  marks.model.push(...spansOf(timing.model));
  marks.env.push(...spansOf(timing.env));
}

const spansOf = (part: Json | undefined): Span[] => (isObject(part) && Array.isArray(part.spans) ? part.spans.flatMap((each) => spanOf(each) ?? []) : []);

function spanOf(part: Json | undefined): Span | null {
  if (!isObject(part) || numberOf(part.end) === 0) return null;
  return { start: numberOf(part.start) * 1_000, end: numberOf(part.end) * 1_000 };
}
