import { areUneven } from "../../../durable-objects/run/pushed/pushed-course.ts";
import type { ExampleId } from "../../cells/column-lines.ts";
import { promptMark } from "../../metrics/grouping.ts";
import { addUnit, emptyTotals, type Totals } from "../../metrics/totals.ts";
import type { RolloutSummary } from "../../metrics/rollout-summary.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { placeOf } from "../../pushed/sample.ts";
import type { FoundLine } from "./line-scan.ts";
import { PackedExamples } from "./packed-examples.ts";
import type { LineRow } from "./row-reader.ts";

/** Rows of one example, by their numbers in the file, in the order of its attempts. */
interface ExampleRows {
  readonly id: ExampleId;
  readonly rows: number[];
  /** Of the prompt of the first one that came; null where prompts are not compared. */
  readonly mark: string | null;
  /** Rows that the file had when its last one came. */
  changedAt: number;
}

export interface IndexOptions {
  /** As `summaryOfRow` has it. */
  readonly clusterBy: string | undefined;
  /** Rows of another program may name their examples wrongly, which their prompts show. */
  readonly comparesPrompts: boolean;
  /** Every row is an example of its own. */
  readonly isUngrouped: boolean;
}

/** Totals are added to so many rows at a time. */
const ADDED_AT_ONCE = 512;

/**
 * What the rows of a file say in numbers, and where each lies. Examples have the places in which the first row of each came, so that a file that grows changes no
 * place: in a sorted file they are in its order. Some hundred bytes a row, whatever the rows hold.
 */
export class RowIndex {
  readonly #options: IndexOptions;
  readonly #examples: ExampleRows[] = [];
  readonly #exampleOf = new Map<string, number>();
  readonly #start: number[] = [];
  readonly #length: number[] = [];
  readonly #attempt: number[] = [];
  /** Bytes that a row has as it is shown, where they are not those of its line. */
  readonly #changed = new Map<number, number>();
  readonly #packed = new PackedExamples();
  #totals: Totals = emptyTotals();
  #added: RolloutSummary[] = [];
  #most = 0;
  #bytes = 0;

  constructor(options: IndexOptions) {
    this.#options = options;
  }

  get rows(): number {
    return this.#start.length;
  }
  get examples(): number {
    return this.#examples.length;
  }
  /** Rows of the example that has most. */
  get most(): number {
    return this.#most;
  }
  /** Of all rows as they are shown, with a line end behind each. */
  get bytes(): number {
    return this.#bytes;
  }
  get isUneven(): boolean {
    return !this.#options.isUngrouped && areUneven({ most: this.#most, examples: this.examples, samples: this.rows });
  }
  get metrics(): readonly string[] {
    return this.#packed.names;
  }
  get totals(): Totals {
    if (this.#added.length > 0) this.#totals = addUnit(this.#totals, this.#added);
    this.#added = [];
    return this.#totals;
  }

  add({ at, length, isEnded }: FoundLine, { value, text, isChanged }: LineRow): void {
    const row = this.#start.push(at) - 1;
    this.#length.push(length);
    // What has no line end cannot be read with one behind it.
    if (isChanged || !isEnded) this.#changed.set(row, Buffer.byteLength(text));
    this.#bytes += this.bytesOf(row) + 1;
    const { key, attempt } = placeOf({ ...value, example_id: value.example_id ?? value.id ?? null }, 0, row);
    this.#attempt.push(attempt);
    const mark = this.#options.comparesPrompts ? promptMark(value.prompt) : null;
    const example = this.#exampleWith(key.rank === 2 || this.#options.isUngrouped ? null : `${key.rank} ${key.number} ${key.text}`, idOf(key), mark);
    const own = this.#examples[example] as ExampleRows;
    const place = placeIn(own.rows, attempt, this.#attempt);
    own.rows.splice(place, 0, row);
    own.changedAt = this.rows;
    this.#most = Math.max(this.#most, own.rows.length);
    const summary = summaryOfRow(value, this.#options.clusterBy);
    const counted = own.mark === mark ? summary : { ...summary, other_prompt: true as const };
    this.#packed.insert(example, place, counted);
    if (this.#added.push(counted) >= ADDED_AT_ONCE) void this.totals;
  }

  idOf(example: number): ExampleId {
    return this.#examples[example]?.id ?? null;
  }
  /** Numbers of an example's rows, in the order of its attempts. */
  rowsOf(example: number): readonly number[] {
    return this.#examples[example]?.rows ?? [];
  }
  changedAt(example: number): number {
    return this.#examples[example]?.changedAt ?? 0;
  }
  summariesOf(example: number): readonly RolloutSummary[] {
    return this.#packed.of(example);
  }
  packedOf(example: number): string {
    return this.#packed.packed(example);
  }
  startOf(row: number): number {
    return this.#start[row] ?? 0;
  }
  /** Bytes of its line. */
  lengthOf(row: number): number {
    return this.#length[row] ?? 0;
  }
  /** Bytes of the row as it is shown. */
  bytesOf(row: number): number {
    return this.#changed.get(row) ?? this.lengthOf(row);
  }
  isChanged(row: number): boolean {
    return this.#changed.has(row);
  }
  /** Whether the rows of an example stand side by side in the file, as they are shown. */
  isPlain(example: number): boolean {
    const rows = this.rowsOf(example);
    return rows.every((row, at) => !this.isChanged(row) && (at === 0 || this.startOf(row) === this.#endOf(rows[at - 1] ?? 0)));
  }

  #endOf(row: number): number {
    return this.startOf(row) + this.lengthOf(row) + 1;
  }

  /** `key`: null of a row that says no example. */
  #exampleWith(key: string | null, id: ExampleId, mark: string | null): number {
    const known = key === null ? undefined : this.#exampleOf.get(key);
    if (known !== undefined) return known;
    const example = this.#examples.push({ id, rows: [], mark, changedAt: 0 }) - 1;
    if (key !== null) this.#exampleOf.set(key, example);
    return example;
  }
}

const idOf = ({ rank, number, text }: ReturnType<typeof placeOf>["key"]): ExampleId => (rank === 0 ? number : rank === 1 ? text : null);

/** Behind all attempts that are not later. */
function placeIn(rows: readonly number[], attempt: number, attempts: readonly number[]): number {
  let place = rows.length;
  while (place > 0 && (attempts[rows[place - 1] ?? 0] ?? 0) > attempt) place--;
  return place;
}
