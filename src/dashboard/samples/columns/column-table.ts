import type { ColumnsBlock, ColumnsHead, ColumnsLine, ExampleId } from "../../../cells/column-lines.ts";
import type { SamplePlace } from "../../address/samples-view.ts";
import { ROLLOUT, TOKENS } from "../filter/names.ts";

/** What a row of the table is: nothing yet, a rollout that counts, one that is generated but not counted yet, or one that a done example lacks. */
export const ABSENT = 0;
export const DONE = 1;
export const OPEN = 2;
export const MISSING = 3;

/** The least and the greatest number of a column. */
export interface Extent {
  readonly low: number;
  readonly high: number;
}

/** How the column that says whether a rollout is there is called: every rollout that counts has a reward. */
export const PRESENCE = "reward";

/**
 * The numbers of all rollouts of a run, column by column. A _row_ is `example * rollouts + rollout`, so that attempts at one example lie side by side, in
 * the order of the results. Grows as lines come.
 */
export class ColumnTable {
  readonly generation: number;
  readonly rollouts: number;
  examples = 0;
  /** What the next question is to be `after`. */
  seq = 0;
  settled = false;
  metrics: readonly string[] = [];
  errorCodes: readonly (string | null)[] = [null];
  /** Rows that count, and those that are generated. */
  done = 0;
  open = 0;
  missing = 0;
  #states = new Uint8Array(0);
  readonly #columns = new Map<string, Float64Array>();
  readonly #extents = new Map<string, Extent>();
  /** Those of the lines that come. */
  #coming: readonly string[] = [];
  /** Of examples that are called something else than their number. */
  readonly #ids = new Map<number, ExampleId>();

  constructor({ generation, rollouts }: Pick<ColumnsHead, "generation" | "rollouts">) {
    this.generation = generation;
    this.rollouts = Math.max(1, rollouts);
  }

  /** Rows that there may be. */
  get rows(): number {
    return this.examples * this.rollouts;
  }

  take(line: ColumnsLine): void {
    if (line.kind === "head") this.#head(line);
    else if (line.kind === "block") this.#block(line);
    else if (line.kind === "open") this.#opened(line.places);
    else this.seq = line.seq;
  }

  /** Null where no row has such a number. NaN = this row has none. Another array after each `take`. */
  column(name: string): Float64Array | null {
    if (name === ROLLOUT) return this.#rolloutNumbers();
    if (name === TOKENS) return this.#tokens();
    return this.#columns.get(name) ?? null;
  }

  value(name: string, row: number): number {
    if (name === ROLLOUT) return row % this.rollouts;
    if (name === TOKENS) return this.value("input_tokens", row) + this.value("output_tokens", row);
    return this.#columns.get(name)?.[row] ?? Number.NaN;
  }

  /** Null where no row has such a number. */
  extent(name: string): Extent | null {
    return this.#extents.get(name) ?? null;
  }

  state(row: number): number {
    return this.#states[row] ?? ABSENT;
  }

  /** The state of every row, as it is now. */
  statesNow(): Uint8Array<ArrayBuffer> {
    return this.#states.slice();
  }

  error(row: number): string | null {
    return this.errorCodes[this.value("error", row)] ?? null;
  }

  exampleOf = (row: number): number => Math.floor(row / this.rollouts);
  placeOf = (row: number): SamplePlace => ({ example: this.exampleOf(row), rollout: row % this.rollouts });
  /** Null where there is no such rollout. */
  rowOf = ({ example, rollout }: SamplePlace): number | null => (example < this.examples && rollout < this.rollouts ? example * this.rollouts + rollout : null);

  exampleId(example: number): ExampleId {
    const id = this.#ids.get(example);
    return id === undefined ? example : id;
  }

  #head({ examples, settled, columns, metrics, error_codes }: ColumnsHead): void {
    this.#coming = columns;
    this.settled = settled;
    this.metrics = metrics;
    this.errorCodes = error_codes;
    this.examples = Math.max(this.examples, examples);
    // What was generated may be done, or lost: the answer says anew what is.
    for (let row = 0; row < this.#states.length && this.open > 0; row++) if (this.#states[row] === OPEN) this.#state(row, ABSENT);
    this.#reach(this.examples);
  }

  #block({ examples, example_ids, columns }: ColumnsBlock): void {
    this.#reach(1 + examples.reduce((most, each) => Math.max(most, each), this.examples - 1));
    for (const [index, example] of examples.entries()) {
      const id = example_ids === undefined ? example : (example_ids[index] ?? null);
      if (id === example) this.#ids.delete(example);
      else this.#ids.set(example, id);
    }
    for (const name of this.#coming) {
      const values = Object.hasOwn(columns, name) ? columns[name] : undefined;
      // What the block lacks it has no number of; a column of which nobody had one takes no memory.
      if (values !== undefined || this.#columns.has(name)) this.#values(name, examples, values ?? []);
    }
    const present = columns[PRESENCE];
    if (present === undefined) return;
    for (const [index, example] of examples.entries())
      for (let rollout = 0; rollout < this.rollouts; rollout++)
        this.#state(example * this.rollouts + rollout, present[index * this.rollouts + rollout] === null ? MISSING : DONE);
  }

  #values(name: string, examples: readonly number[], values: readonly (number | null)[]): void {
    const known = this.#columns.get(name);
    const column = known ?? new Float64Array(this.#states.length).fill(Number.NaN);
    if (known === undefined) this.#columns.set(name, column);
    let { low, high } = this.#extents.get(name) ?? { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
    for (const [index, example] of examples.entries()) {
      for (let rollout = 0; rollout < this.rollouts; rollout++) {
        const value = values[index * this.rollouts + rollout] ?? Number.NaN;
        column[example * this.rollouts + rollout] = value;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (low <= high) this.#extents.set(name, { low, high });
  }

  #opened(places: readonly (readonly [number, number])[]): void {
    this.#reach(1 + places.reduce((most, [example]) => Math.max(most, example), this.examples - 1));
    for (const [example, rollout] of places) {
      const row = this.rowOf({ example, rollout });
      if (row !== null) this.#state(row, OPEN);
    }
  }

  #state(row: number, state: number): void {
    const before = this.#states[row];
    if (before === state) return;
    this.#states[row] = state;
    for (const [each, by] of [
      [before, -1],
      [state, 1],
    ] as const) {
      if (each === DONE) this.done += by;
      else if (each === OPEN) this.open += by;
      else if (each === MISSING) this.missing += by;
    }
  }

  /** Makes room for so many examples. */
  #reach(examples: number): void {
    this.examples = Math.max(this.examples, examples);
    const rows = this.rows;
    if (rows <= this.#states.length) return;
    const room = Math.max(rows, Math.min(2 * this.#states.length, rows + 1_000_000));
    const states = new Uint8Array(room);
    states.set(this.#states);
    this.#states = states;
    for (const [name, column] of this.#columns) {
      const longer = new Float64Array(room).fill(Number.NaN);
      longer.set(column);
      this.#columns.set(name, longer);
    }
  }

  #rolloutNumbers(): Float64Array {
    return Float64Array.from({ length: this.rows }, (_, row) => row % this.rollouts);
  }

  #tokens(): Float64Array | null {
    const [input, output] = [this.#columns.get("input_tokens"), this.#columns.get("output_tokens")];
    return input === undefined || output === undefined ? null : input.map((value, row) => value + (output[row] ?? Number.NaN));
  }
}
