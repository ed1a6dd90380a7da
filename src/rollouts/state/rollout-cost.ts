import { type NanoCost, nanoCostOf } from "../../prices/nano-cost.ts";
import type { Price } from "../../prices/price.ts";
import type { State, TrajectoryStep } from "../types.ts";
import { billedInAll } from "./usage.ts";

/** What the model's answers of a rollout cost, as far as its server tells what they took; null where there is no price, or an answer that nothing is told of. */
export function rolloutCost({ usage, trajectory }: Pick<State, "usage" | "trajectory">, price: Price | null): NanoCost | null {
  if (price === null || trajectory.some(tellsNothing)) return null;
  return nanoCostOf(usage === null ? { input_tokens: 0, output_tokens: 0 } : billedInAll(usage), price);
}

/** An answer without its usage. A call that was refused is a step without content, and costs nothing; a state that was cut down has no messages. */
const tellsNothing = ({ response }: TrajectoryStep): boolean =>
  response.usage === null && response.cached !== true && ((response.message?.content ?? null) !== null || (response.message?.tool_calls ?? null) !== null);
