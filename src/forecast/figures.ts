import type { JsonObject } from "../config/plan/run-config.ts";
import type { JudgeUsage, RolloutSummary } from "../metrics/rollout-summary.ts";
import { dollarsOf } from "../prices/nano-cost.ts";
import { costOf, type Price } from "../prices/price.ts";
import { wholeTiming } from "../rollouts/state/stored-timing.ts";

/** What one rollout took. */
export interface RolloutFigures {
  /** Requests of the model that were answered, further attempts at one not counted. */
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly judge_calls: number;
  readonly judge_input_tokens: number;
  readonly judge_output_tokens: number;
  /** That it was generated and scored, waiting for its turn left out; null where its answers came in a batch: how long they took is in no row. */
  readonly seconds: number | null;
  /** What its calls cost where all of them are sent, the model's and judges' together; null where a price is not known. */
  readonly cost_usd: number | null;
  /** What was paid for those that were: none for what a cache answered. Null where it is not known. */
  readonly paid_usd: number | null;
}

/** What a row's tokens are priced by. */
export interface Pricing {
  /** Of the model, now; null = nobody knows it. */
  readonly price: Price | null;
  /** How many times as much as the row says they cost now; it is taken from there, since it knows what the server had in its cache. Null: it cannot be told from it. */
  readonly timesRow: number | null;
  /** The rows' requests went out in batches. */
  readonly batch: boolean;
}

/** Whether the cache answered some of a row's calls: its times are no times of a model. */
export const isCached = ({ cache }: RolloutSummary): boolean => (cache?.cached ?? 0) + (cache?.judges?.cached ?? 0) > 0;

/** What a row of `results.jsonl` says it took: `summary` of the row. */
export function figuresOfRow(row: Readonly<Record<string, unknown>>, summary: RolloutSummary, { price, timesRow, batch }: Pricing): RolloutFigures {
  const { input_tokens, output_tokens, judges, metrics, cost, cache } = summary;
  const { total_ms } = wholeTiming(row as JsonObject);
  const said = timesRow !== null && cost !== undefined ? dollarsOf(cost).total_usd * timesRow : null;
  const priced = price === null ? null : costOf({ input_tokens, output_tokens }, price).total_usd;
  const ofJudges = judgesCost(judges);
  const isAsked = (cache?.cached ?? 0) === 0;
  return {
    // An answer without a word leaves no message.
    calls: Math.max(metrics.num_turns ?? answersIn(row.completion), input_tokens > 0 ? 1 : 0),
    input_tokens,
    output_tokens,
    judge_calls: (judges?.requests ?? 0) + (cache?.judges?.cached ?? 0),
    judge_input_tokens: (judges?.input_tokens ?? 0) + (cache?.judges?.input_tokens ?? 0),
    judge_output_tokens: (judges?.output_tokens ?? 0) + (cache?.judges?.output_tokens ?? 0),
    seconds: batch ? null : Math.max(0, total_ms / 1000),
    // What a judge's tokens cost that the cache had, nobody can tell.
    cost_usd: (cache?.judges?.cached ?? 0) > 0 ? null : sum(isAsked ? (said ?? priced) : priced, ofJudges),
    paid_usd: sum(said ?? (isAsked ? priced : null), ofJudges),
  };
}

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

/** Dollars; which models they were is not in the row, so that it is what the row says. */
function judgesCost(judges: JudgeUsage | undefined): number | null {
  if (judges === undefined) return 0;
  return judges.priced?.requests === judges.requests ? dollarsOf(judges.priced).total_usd : null;
}

/** Where the environment does not count its turns: messages of the model, of which each was a call. */
function answersIn(completion: unknown): number {
  if (!Array.isArray(completion)) return typeof completion === "string" ? 1 : 0;
  return completion.filter((message) => (message as { role?: unknown } | null)?.role === "assistant").length;
}

/** Rollouts by their example, in the order of the rows, each example with at most `rollouts` of them. */
export class ExampleFigures {
  readonly #rollouts: number;
  readonly #examples = new Map<string, RolloutFigures[]>();

  /** `rollouts`: of each example of the run that is forecast. */
  constructor(rollouts: number) {
    this.#rollouts = rollouts;
  }

  has(example: string): boolean {
    return this.#examples.has(example);
  }

  add(example: string, figures: RolloutFigures): void {
    const known = this.#examples.get(example) ?? [];
    // Attempts are alike, so that the first ones stand for a run that has fewer.
    if (known.length < this.#rollouts) known.push(figures);
    this.#examples.set(example, known);
  }

  get examples(): readonly (readonly RolloutFigures[])[] {
    return [...this.#examples.values()];
  }
}
