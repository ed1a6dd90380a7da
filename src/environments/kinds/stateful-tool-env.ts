import { ToolEnv } from "./tool-env.ts";
import type { Message, State } from "../../rollouts/types.ts";

/**
 * Tools that work on a state of their rollout. A tool added with `argsToSkip` keeps those parameters to itself: the model is not told
 * of them, and `updateToolArgs` fills them in before each call.
 */
export abstract class StatefulToolEnv extends ToolEnv {
  /** The arguments of a call with the hidden ones; may change the state. What it throws ends the rollout, whatever `stopErrors` says. */
  abstract override updateToolArgs(
    name: string,
    args: Record<string, unknown>,
    messages: readonly Message[],
    state: State,
  ): Record<string, unknown> | Promise<Record<string, unknown>>;
}
