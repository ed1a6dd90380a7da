import type { JsonObject } from "../../config/plan/run-config.ts";
import { copyJson } from "../copy-json.ts";
import type { Client, RolloutInput, State, Tool } from "../types.ts";

export interface StateOptions {
  /** Null for a state that will never call a model (rows of a unit that is not run). */
  readonly client: Client | null;
  readonly model: string;
  /** Merged with the environment's own. */
  readonly samplingArgs: JsonObject;
  readonly tools: readonly Tool[];
  /** Milliseconds. */
  readonly now: number;
}

type Forwarded = "prompt" | "answer" | "task" | "info" | "example_id";

/** `state.prompt` and its like read and write `state.input`; made once, since every rollout has them. */
const FORWARDED = Object.fromEntries(
  (["prompt", "answer", "task", "info", "example_id"] as const).map((name) => [
    name,
    {
      enumerable: true,
      get(this: State): unknown {
        return this.input[name];
      },
      set(this: State, value: unknown): void {
        (this.input as Record<string, unknown>)[name] = value;
      },
    },
  ]),
);

/** A fresh state on a copy of `input`; never throws. `input` holds the example; its fields are read and written through. */
export const createState = (input: RolloutInput, options: StateOptions): State => stateOn(copyJson(input), options, crypto.randomUUID().replaceAll("-", ""));

/** The same on `input` itself, which nobody else has. */
export function stateOn(input: RolloutInput, options: StateOptions, trajectoryId: string): State {
  const own: Omit<State, Forwarded | "client"> = {
    input,
    model: options.model,
    sampling_args: options.samplingArgs,
    is_completed: false,
    is_truncated: false,
    stop_condition: null,
    prompt_too_long: false,
    timed_out: false,
    tool_defs: toolsOf(input, options.tools),
    trajectory: [],
    trajectory_id: trajectoryId,
    completion: null,
    final_env_response: null,
    usage: null,
    reward: null,
    metrics: null,
    advantage: null,
    error: null,
    timing: { generation_ms: 0, scoring_ms: 0, total_ms: 0, start_time: options.now / 1_000 },
  };
  // A client is no data, and may hold a key: it is not serialised with the rest.
  Object.defineProperty(own, "client", { value: options.client, writable: true, configurable: true });
  return Object.defineProperties(own, FORWARDED) as State;
}

function toolsOf(input: RolloutInput, tools: readonly Tool[]): Tool[] {
  const own = input.info?.tool_defs;
  return Array.isArray(own) ? (own as unknown as Tool[]) : [...tools];
}
