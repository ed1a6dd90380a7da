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

/** The block of some examples, ascending by their places, of which one is held at a time; `rollouts`: of each, more are left out. */
export function columnsBlock(examples: Iterable<ExampleNumbers>, rollouts: number, columns: readonly string[]): ColumnsBlock {
  const made = columns.flatMap((name) => {
    const read = readerOf(name);
    return read === null ? [] : [{ name, read, cells: [] as (number | null)[], isKnown: false }];
  });
  const [places, ids]: [number[], ExampleId[]] = [[], []];
  for (const { example, id, rollouts: own } of examples) {
    places.push(example);
    ids.push(id);
    for (const column of made) {
      for (let rollout = 0; rollout < rollouts; rollout++) {
        const summary = own[rollout] ?? null;
        const value = summary === null ? null : column.read(summary);
        column.isKnown ||= value !== null;
        column.cells.push(value);
      }
    }
  }
  const values: Record<string, readonly (number | null)[]> = {};
  // A metric may be called anything.
  for (const { name, cells, isKnown } of made) if (isKnown) Object.defineProperty(values, name, { value: cells, enumerable: true });
  const isNamedByPlace = ids.every((id, index) => id === places[index]);
  return { kind: "block", examples: places, ...(isNamedByPlace ? {} : { example_ids: ids }), columns: values };
}
