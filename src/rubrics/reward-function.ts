import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { Message, State } from "../rollouts/types.ts";
import type { Parser } from "../parsers/parser.ts";

/** What a reward function may look at. `info` is `{}` and `answer` `""` where the example has none. */
export interface RewardContext {
  readonly prompt: readonly Message[];
  readonly completion: readonly Message[];
  readonly answer: Json;
  readonly task: string;
  readonly info: JsonObject;
  /** May be written to: later functions of the same rubric see it. */
  readonly state: State;
  readonly parser: Parser;
  /** Ends what the function waits for: aborted when nobody wants the score any more. */
  readonly signal: AbortSignal;
}

/** The same lists for all rollouts of an example, in rollout order. */
export interface GroupRewardContext {
  readonly prompts: readonly (readonly Message[])[];
  readonly completions: readonly (readonly Message[])[];
  readonly answers: readonly Json[];
  readonly tasks: readonly string[];
  readonly infos: readonly JsonObject[];
  readonly states: readonly State[];
  readonly parser: Parser;
  readonly signal: AbortSignal;
}

export type Score = number | boolean;
/** `Objects` are the rubric's class objects, by name: what `Rubric.addClassObject` adds to the context. */
export type RewardFunction<Objects extends object = object> = (context: RewardContext & Objects) => Score | Promise<Score>;
export type GroupRewardFunction<Objects extends object = object> = (context: GroupRewardContext & Objects) => readonly Score[] | Promise<readonly Score[]>;

/** A registered symbol: an environment may be bundled with a copy of this library of its own. */
const GROUP = Symbol.for("edgewise.group-reward");

export interface GroupReward<Objects extends object = object> {
  readonly [GROUP]: GroupRewardFunction<Objects>;
}

/** Marks a function that judges all rollouts of an example together and returns one score for each. */
export const groupReward = <Objects extends object = object>(fn: GroupRewardFunction<Objects>): GroupReward<Objects> => ({ [GROUP]: fn });

/**
 * A function with its weight (default 1; 0 makes it a mere metric) and the metric's name (default: the function's own).
 * Code that is bundled with shortened names must name its metrics here.
 */
export interface WeightedReward<Objects extends object = object> {
  readonly fn: RewardFunction<Objects> | GroupReward<Objects>;
  readonly name?: string;
  readonly weight?: number;
}

export type RewardEntry<Objects extends object = object> = RewardFunction<Objects> | GroupReward<Objects> | WeightedReward<Objects>;

interface Named {
  readonly name: string;
  readonly weight: number;
}
export type RegisteredReward =
  | (Named & { readonly kind: "individual"; readonly fn: RewardFunction })
  | (Named & { readonly kind: "group"; readonly fn: GroupRewardFunction });

const isGroup = (value: object): value is GroupReward => GROUP in value;

/** Throws a `TypeError` for a function without a name: its metric could not be told apart in the results. */
export function registerReward(entry: RewardEntry, defaultWeight: number): RegisteredReward {
  const weighted: WeightedReward = typeof entry === "function" || isGroup(entry) ? { fn: entry } : entry;
  const { fn } = weighted;
  const name = weighted.name ?? (typeof fn === "function" ? fn.name : fn[GROUP].name);
  if (name === "") throw new TypeError("a reward function needs a name: declare it as a named function or register it as {name, fn}");
  const weight = weighted.weight ?? defaultWeight;
  if (!Number.isFinite(weight)) throw new TypeError(`the weight of ${name} is not a finite number: ${weight}`);
  return typeof fn === "function" ? { kind: "individual", name, weight, fn } : { kind: "group", name, weight, fn: fn[GROUP] };
}
