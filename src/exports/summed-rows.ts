import type { Aggregates } from "../metrics/aggregates.ts";
import { comparedNumbers } from "../metrics/stated-numbers.ts";
import type { StatedRun } from "./card-statement.ts";
import type { Cells } from "./column.ts";
import { type MetricColumn, metricColumns } from "./columns.ts";
import { rowOfCells } from "./row-of-cells.ts";
import { aggregatorOf } from "./run-facts.ts";

/** What `verify` needs to know of a run to sum its exported rows up. */
export type SummedRun = Pick<
  StatedRun,
  "run_id" | "env_id" | "model" | "rollouts_per_example" | "pass_threshold" | "reward_range" | "cluster_by" | "foreign" | "rows"
>;

/** Sums up the rows of an export again, run by run; a row of several runs says by its settings whose it is. Holds one example. */
export class SummedRows {
  readonly #metrics: readonly MetricColumn[];
  readonly #runs: readonly { readonly run: SummedRun; readonly aggregator: ReturnType<typeof aggregatorOf> }[];
  #at = 0;
  #rows = 0;

  constructor(runs: readonly SummedRun[], metrics: readonly string[]) {
    this.#metrics = metricColumns(metrics);
    this.#runs = runs.map((run) => ({ run, aggregator: aggregatorOf(run) }));
  }

  add(cells: Cells): void {
    if (this.#runs.length > 1) this.#advance(cells);
    this.#rows += 1;
    this.#runs[this.#at]?.aggregator.add(rowOfCells(cells, this.#metrics));
  }

  /** In the order of the runs; adding may not go on afterwards. */
  results(): readonly Aggregates[] {
    return this.#runs.map(({ aggregator }) => aggregator.result());
  }

  /** Runs follow one another. Two of the same settings are told apart by their number of rows alone. */
  #advance(cells: Cells): void {
    const current = this.#runs[this.#at]?.run;
    const isFull = this.#rows >= (current?.rows ?? 0);
    if (current !== undefined && isOf(current, cells) && !(isFull && this.#isOfLater(cells))) return;
    const next = this.#runs.findIndex(({ run }, at) => at > this.#at && isOf(run, cells));
    if (next < 0) return;
    this.#at = next;
    this.#rows = 0;
  }

  #isOfLater(cells: Cells): boolean {
    const next = this.#runs[this.#at + 1]?.run;
    return next !== undefined && isOf(next, cells);
  }
}

const isOf = ({ run_id, env_id, model }: SummedRun, cells: Cells): boolean =>
  (cells.run_id ?? null) === run_id && cells.env_id === env_id && cells.model === model;

/** A number that a card states, beside what its rows give. */
export interface StatedNumber {
  readonly name: string;
  readonly stated: number;
  readonly recomputed: number | null;
  readonly agrees: boolean;
}

/** All numbers of a run that its card states. */
export function cardNumbers(run: StatedRun, rows: Aggregates): readonly StatedNumber[] {
  const { avg_reward, avg_metrics, pass_at_k, pass_all_k, errored_rollouts, reward_ci95 } = run;
  const counts = (name: string, stated: number, recomputed: number): StatedNumber => ({ name, stated, recomputed, agrees: stated === recomputed });
  const codes = [...new Set([...Object.keys(run.errors), ...Object.keys(rows.errors)])].sort();
  return [
    counts("rows", run.rows, rows.rollouts),
    ...comparedNumbers({ avg_reward, avg_metrics, pass_at_k, pass_all_k, edgewise: { errored_rollouts, reward_ci95 } }, rows),
    ...codes.map((code) => counts(`errors ${code}`, run.errors[code] ?? 0, rows.errors[code as keyof typeof rows.errors] ?? 0)),
  ];
}
