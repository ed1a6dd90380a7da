import { type Aggregates, Aggregator, type AggregatorOptions } from "./aggregates.ts";
import { promptMark } from "./grouping.ts";
import { withoutIntervals } from "./one-run/corpus.ts";
import { NO_PASS_RATES } from "./pass-at-k.ts";
import type { RolloutSummary } from "./rollout-summary.ts";
import { summaryOfRow } from "./row-summary.ts";

export interface RowAggregatorOptions extends Omit<AggregatorOptions, "grouped" | "clustered"> {
  /** Rows of another program may name their examples wrongly, which their prompts show. */
  readonly comparesPrompts: boolean;
  /** The key under which examples share something; absent = they share nothing. */
  readonly clusterBy?: string | undefined;
}

/**
 * The numbers of a run from its rows as they stand in `results.jsonl`: those of an example one behind the other, as sorted files have them.
 * Where an example comes twice, attempts are not grouped as they were made, and there is neither pass@k nor an interval, and `n_clusters` is 0. Holds one example.
 */
export class RowAggregator {
  readonly #aggregator: Aggregator;
  readonly #comparesPrompts: boolean;
  readonly #clusterBy: string | undefined;
  #example: unknown = undefined;
  #mark = "";
  #unit: RolloutSummary[] = [];
  #last = Number.NEGATIVE_INFINITY;
  /** False once a row stands behind one of a later example. */
  #ascending = true;

  constructor({ comparesPrompts, clusterBy, ...options }: RowAggregatorOptions) {
    this.#aggregator = new Aggregator({ ...options, clustered: clusterBy !== undefined });
    this.#comparesPrompts = comparesPrompts;
    this.#clusterBy = clusterBy;
  }

  /** Rows of an example that carry no `example_id` are one example each. */
  add(row: Readonly<Record<string, unknown>>): void {
    const { example_id, prompt } = row;
    const summary = summaryOfRow(row, this.#clusterBy);
    const mark = this.#comparesPrompts ? promptMark(prompt) : "";
    if (typeof example_id !== "number" || example_id !== this.#example) {
      this.#close();
      this.#ascending &&= typeof example_id === "number" && example_id > this.#last;
      this.#last = typeof example_id === "number" ? example_id : this.#last;
      this.#example = example_id;
      this.#mark = mark;
    }
    this.#unit.push(mark === this.#mark ? summary : { ...summary, other_prompt: true });
  }

  /** Of all rows; adding may not go on afterwards. */
  result(): Aggregates {
    this.#close();
    const all = this.#aggregator.result();
    return this.#ascending
      ? all
      : { ...all, ...NO_PASS_RATES, corpus: withoutIntervals(all.corpus), metric_estimates: {}, n_clusters: 0, reward_stderr: null, reward_ci95: null };
  }

  #close(): void {
    if (this.#unit.length > 0) this.#aggregator.addUnit(this.#unit);
    this.#unit = [];
  }
}
