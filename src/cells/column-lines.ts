import type { RolloutSummary } from "../metrics/rollout-summary.ts";
import { ERROR_CODES, readerOf } from "./column-names.ts";

/**
 * The numbers of a run as lines of JSON, for a grid of all its rollouts. An _example_ is named by its place in the results, from 0; `example_id` is what its
 * data set calls it. Lines come in this order: `head`, any number of `block`, at most one `open`, `end`.
 */

export const COLUMNS_VERSION = 1;

/** What the data set calls an example: pushed ones may have texts, or nothing. */
export type ExampleId = number | string | null;

export interface ColumnsHead {
  readonly kind: "head";
  readonly version: typeof COLUMNS_VERSION;
  /** Another one than before: what was told before no longer holds, begin anew. */
  readonly generation: number;
  /** What `after` is next time. */
  readonly seq: number;
  /** Examples of the run, done or not; it may grow while it is prepared. */
  readonly examples: number;
  /** Rollouts of each. */
  readonly rollouts: number;
  /** Nothing more comes, unless it is resumed. */
  readonly settled: boolean;
  /** Those of this answer. */
  readonly columns: readonly string[];
  /** All metrics known so far, by name. */
  readonly metrics: readonly string[];
  readonly error_codes: readonly (string | null)[];
}

/** Numbers of examples that are done. */
export interface ColumnsBlock {
  readonly kind: "block";
  /** Places in the results, ascending. */
  readonly examples: readonly number[];
  /** Of each; absent = the same numbers as `examples`. */
  readonly example_ids?: readonly ExampleId[];
  /** By name `examples.length * rollouts` values, those of one example side by side; null where the rollout is missing, or has no such number. A column that is absent is null throughout. */
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
}

/** Rollouts that are generated, of examples that are not done. */
export interface ColumnsOpen {
  readonly kind: "open";
  readonly places: readonly (readonly [example: number, rollout: number])[];
}

/** Without it the answer was cut off. */
export interface ColumnsEnd {
  readonly kind: "end";
  readonly seq: number;
  /** The next `from` of the same question; null = that was all. */
  readonly next: number | null;
}

export type ColumnsLine = ColumnsHead | ColumnsBlock | ColumnsOpen | ColumnsEnd;

export const columnsHead = (facts: Omit<ColumnsHead, "kind" | "version" | "error_codes">): ColumnsHead => ({
  kind: "head",
  version: COLUMNS_VERSION,
  ...facts,
  error_codes: ERROR_CODES,
});

/** An example that is done: null for a rollout that is missing. */
export interface ExampleNumbers {
  readonly example: number;
  readonly id: ExampleId;
  readonly rollouts: readonly (RolloutSummary | null)[];
}

/** The block of some examples; `rollouts`: of each, more are left out. */
export function columnsBlock(examples: readonly ExampleNumbers[], rollouts: number, columns: readonly string[]): ColumnsBlock {
  const sorted = examples.toSorted((a, b) => a.example - b.example);
  const values: Record<string, readonly (number | null)[]> = {};
  for (const column of columns) {
    const read = readerOf(column);
    if (read === null) continue;
    const cells: (number | null)[] = new Array(sorted.length * rollouts).fill(null);
    let known = false;
    for (const [row, { rollouts: own }] of sorted.entries()) {
      for (let rollout = 0; rollout < rollouts; rollout++) {
        const summary = own[rollout];
        const value = summary === null || summary === undefined ? null : read(summary);
        if (value === null) continue;
        known = true;
        cells[row * rollouts + rollout] = value;
      }
    }
    // A metric may be called anything.
    if (known) Object.defineProperty(values, column, { value: cells, enumerable: true, configurable: true, writable: true });
  }
  const ids = sorted.every(({ example, id }) => id === example) ? {} : { example_ids: sorted.map(({ id }) => id) };
  return { kind: "block", examples: sorted.map(({ example }) => example), ...ids, columns: values };
}
