import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import { addJudges } from "../../metrics/totals.ts";
import { type NanoCost, nanoCostOf } from "../../prices/nano-cost.ts";
import type { Price } from "../../prices/price.ts";
import type { Usage } from "../types.ts";
import { billedOf } from "./usage.ts";

export const NO_JUDGES: JudgeUsage = { requests: 0, input_tokens: 0, output_tokens: 0 };

const NO_COST: NanoCost = { input_nano: 0, output_nano: 0 };

/** Beside the states, by their trajectories: an environment may hand its model a copy of the state. */
const kept = new WeakMap<object, JudgeUsage>();

/** What stands for a state whose copies share it; null where there is none. */
export const trajectoryOf = ({ trajectory }: Readonly<Record<string, unknown>>): object | null => (Array.isArray(trajectory) ? trajectory : null);

/** What judges took for this rollout so far; null while none was asked. */
export function judgeUsageOf(state: Readonly<Record<string, unknown>>): JudgeUsage | null {
  const trajectory = trajectoryOf(state);
  return (trajectory === null ? undefined : kept.get(trajectory)) ?? null;
}

/** For a state that is opened again. */
export function keepJudgeUsage(state: Readonly<Record<string, unknown>>, usage: JudgeUsage): void {
  const trajectory = trajectoryOf(state);
  if (trajectory !== null) kept.set(trajectory, usage);
}

/**
 * What the models that an environment calls itself (judges above all) were asked and answered, apart from the model under evaluation. A
 * request that names the rollout's state counts for that rollout; one that does not, for the rollout that is written next.
 */
export class JudgeMeter {
  #unnamed = NO_JUDGES;
  #used = false;

  /** Called for each client that the environment is given: from then on every row of the run says what judges took, so that all have the same keys. */
  open(): void {
    this.#used = true;
  }

  /** One request that was sent. `answered`: by an answer, whatever it said of its tokens. `price`: of who was asked; null = nobody knows it. */
  count(state: Readonly<Record<string, unknown>>, usage: Usage | null, answered: boolean = usage !== null, price: Price | null = null): void {
    const tokens = { requests: 1, input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 };
    const isKnown = price !== null && (usage !== null || !answered);
    // Who is refused pays nothing.
    const cost = usage === null || price === null ? NO_COST : nanoCostOf(billedOf(usage), price);
    this.#add(state, isKnown ? { ...tokens, priced: { requests: 1, ...cost } } : tokens);
  }

  /** One answer that was kept: its tokens are the rollout's, and nobody was paid for them. */
  countKept(state: Readonly<Record<string, unknown>>, usage: Usage | null, price: Price | null): void {
    const tokens = { requests: 1, input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 };
    this.#add(state, price === null ? tokens : { ...tokens, priced: { requests: 1, ...NO_COST } });
  }

  #add(state: Readonly<Record<string, unknown>>, more: JudgeUsage): void {
    const trajectory = trajectoryOf(state);
    if (trajectory === null) this.#unnamed = addJudges(this.#unnamed, more);
    else kept.set(trajectory, addJudges(kept.get(trajectory), more));
  }

  /** What the row of a finished rollout says, once; null where the environment was given no client. */
  take(state: Readonly<Record<string, unknown>>): JudgeUsage | null {
    if (!this.#used) return null;
    const trajectory = trajectoryOf(state);
    const usage = addJudges(this.#unnamed, (trajectory === null ? undefined : kept.get(trajectory)) ?? NO_JUDGES);
    this.#unnamed = NO_JUDGES;
    return usage;
  }
}
