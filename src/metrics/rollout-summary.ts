import type { RolloutErrorCode } from "../errors/codes.ts";
import type { NanoCost } from "../prices/nano-cost.ts";
import type { CacheUsage } from "./cache-usage.ts";

/** What other models than the one that is evaluated, judges above all, were asked and answered. */
export interface JudgeUsage {
  /** Requests that were sent, refused ones and further attempts among them. */
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Those of the requests whose cost is known, and what they cost; absent = none is. */
  readonly priced?: PricedRequests;
}

export interface PricedRequests extends NanoCost {
  readonly requests: number;
}

/** What is counted of a rollout: all that a Run, a report and aggregates know of its row. */
export interface RolloutSummary {
  readonly reward: number;
  readonly error: RolloutErrorCode | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly truncated: boolean;
  readonly metrics: Readonly<Record<string, number>>;
  /** Size of the final context; absent where no call reported usage. */
  readonly final_input_tokens?: number;
  readonly final_output_tokens?: number;
  /** Of the code that made it, where the run has rows of several; absent = the run's first. */
  readonly env_digest?: string;
  /** What the model's answers cost; absent = nobody knows. */
  readonly cost?: NanoCost;
  /** Absent where no judge was asked. */
  readonly judges?: JudgeUsage;
  /** Absent where the cache was not read. */
  readonly cache?: CacheUsage;
  /** True where the row has another prompt than the first row of its example: the two are not attempts at one thing. Absent = it has not. */
  readonly other_prompt?: true;
  /** What stands for the group that its example belongs to (one-run/cluster-groups.ts); absent where examples are not clustered. */
  readonly cluster?: string;
}

/** Rollouts that were to be scored again and could not be: they keep their rows. `state`: what reward functions asked for that rows do not hold. */
export interface Unscored {
  readonly rollouts: number;
  readonly state: readonly string[];
}
