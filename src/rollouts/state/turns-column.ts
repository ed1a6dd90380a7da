import type { Json } from "../../config/plan/run-config.ts";
import { givenRowOf } from "../rows/given-row.ts";
import type { State } from "../types.ts";
import { marksOf } from "./time-marks.ts";
import { hasSteps } from "./stored-state.ts";

/** A state column that is made rather than read: what each model call took (`eval try` asks for it). */
export const TURNS_COLUMN = "edgewise_turns";

/** One per answer, in their order; null where nobody knows. */
export interface TurnFacts {
  readonly seconds: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** The cache answered it: its time is none of the model. Absent = the model did. */
  readonly cached?: true;
}

export function turnsOf(state: State): Json {
  const { model } = marksOf(state);
  const steps = hasSteps(state) ? state.trajectory : [];
  // Of a rollout that came with its row nothing but the times is known.
  const responses = givenRowOf(state) === null ? steps.map(({ response }) => response) : model.map(() => null);
  return responses.map((response, index) => {
    const span = model[index];
    const usage = response?.usage ?? null;
    return {
      seconds: span === undefined ? null : (span.end - span.start) / 1_000,
      input_tokens: usage?.prompt_tokens ?? null,
      output_tokens: usage?.completion_tokens ?? null,
      ...(response?.cached === true ? { cached: true } : {}),
    };
  });
}
