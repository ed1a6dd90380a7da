import { MultiTurnEnv, type MultiTurnOptions } from "./multi-turn-env.ts";
import type { Message } from "../../rollouts/types.ts";

export type SingleTurnOptions = Omit<MultiTurnOptions, "maxTurns">;

/** One question, one answer. A rollout that went well ends with `max_turns_reached`. */
export class SingleTurnEnv extends MultiTurnEnv {
  constructor(options: SingleTurnOptions) {
    super({ ...options, maxTurns: 1 });
  }

  override envResponse(): Message[] {
    throw new Error("a single-turn environment has nothing to say to the model");
  }
}
