import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Timing } from "../types.ts";

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
