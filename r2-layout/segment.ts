import { fail, ok, type Result } from "../src/errors/result.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { SEGMENT_BYTES, SEGMENT_ROWS } from "../src/limits.ts";

/** Where the rows of a unit lie inside a segment: r lines, each ended by a line feed. */
export interface SegmentUnit {
  readonly unit: number;
  readonly offset: number;
  readonly length: number;
}

/** Where kept rollouts of a unit lie that is not done: a line for each (kept-line.ts), in the order of `rollouts`. */
export interface SegmentPiece extends SegmentUnit {
  readonly rollouts: readonly number[];
  /** Of the lines, those of rollouts that are not done with (between two turns, or waiting for scores of their own); they are not among `rollouts`. */
  readonly begun?: readonly number[];
  /** Of `begun`, those that are generated; absent = none. */
  readonly unscored?: readonly number[];
}

export interface SegmentContents {
  readonly bytes: Uint8Array;
  readonly units: readonly SegmentUnit[];
  readonly pieces: readonly SegmentPiece[];
  readonly rows: number;
}

export interface KeptRolloutLine {
  readonly rollout: number;
  readonly line: string;
  /** It is not done with: a later line of it counts in place of this one. */
  readonly isBegun?: boolean;
  /** And all that is left to be done with it are its own scores. */
  readonly isUnscored?: boolean;
}

const LINE_FEED = 0x0a;

/**
 * Rows of finished units, and kept rollouts of others, on their way into a segment. Holds at most SEGMENT_BYTES, or a single unit that is larger than that:
 * `add` refuses a unit that would go beyond, and the caller takes what is there first.
 */
export class SegmentBuffer {
  readonly #encoder = new TextEncoder();
  readonly #bytes = new GrowingBytes(SEGMENT_BYTES);
  #rows = 0;
  #units: SegmentUnit[] = [];
  #pieces: SegmentPiece[] = [];
  readonly #mostRows: number;

  constructor(mostRows = SEGMENT_ROWS) {
    this.#mostRows = mostRows;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Time to flush, whatever the age of what is in it. */
  get isFull(): boolean {
    return this.#bytes.length >= SEGMENT_BYTES || this.#rows >= this.#mostRows;
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Memory held, in bytes: at most SEGMENT_BYTES, or the single unit that is larger. */
  get capacity(): number {
    return this.#bytes.capacity;
  }

  /**
   * Appends the rows of a unit, one JSON text per rollout in rollout order. False when they do not fit beside what is there: `take`
   * and add again. Throws RangeError for a unit without rows or a row that is not one line.
   */
  add(unit: number, lines: readonly string[]): boolean {
    const place = this.#place(unit, lines);
    if (place !== null) this.#units.push(place);
    return place !== null;
  }

  /** Appends kept rollouts of a unit, in their order as many as there is room for, and returns how many. To be called once for a unit. */
  addPiece(unit: number, rollouts: readonly KeptRolloutLine[]): number {
    const offset = this.#bytes.length;
    const taken: number[] = [];
    const begun: number[] = [];
    const unscored: number[] = [];
    for (const { rollout, line, isBegun = false, isUnscored = false } of rollouts) {
      if (this.#place(unit, [line]) === null) break;
      (isBegun ? begun : taken).push(rollout);
      if (isUnscored) unscored.push(rollout);
    }
    const count = taken.length + begun.length;
    if (count > 0) {
      const open = { ...(begun.length === 0 ? {} : { begun }), ...(unscored.length === 0 ? {} : { unscored }) };
      this.#pieces.push({ unit, offset, length: this.#bytes.length - offset, rollouts: taken, ...open });
    }
    return count;
  }

  #place(unit: number, lines: readonly string[]): SegmentUnit | null {
    if (lines.length === 0) throw new RangeError(`unit ${unit} has no rows`);
    if (lines.some((line) => line.includes("\n"))) throw new RangeError(`a row of unit ${unit} is not a single line`);
    const encoded = this.#encoder.encode(`${lines.join("\n")}\n`);
    if (!this.#bytes.fits(encoded.byteLength)) return null;
    this.#bytes.append(encoded);
    this.#rows += lines.length;
    return { unit, offset: this.#bytes.length - encoded.byteLength, length: encoded.byteLength };
  }

  /** Everything collected; the buffer is empty afterwards and shares no memory with what was taken. Null when there is nothing. */
  take(): SegmentContents | null {
    if (this.isEmpty) return null;
    const contents = { bytes: this.#bytes.take(), units: this.#units, pieces: this.#pieces, rows: this.#rows };
    this.#rows = 0;
    this.#units = [];
    this.#pieces = [];
    return contents;
  }
}

/** The lines of a unit out of (part of) a segment; `place.offset` counts from the start of `bytes`. */
export function linesAt(bytes: Uint8Array, place: { readonly offset: number; readonly length: number }): Result<string[]> {
  const piece = bytes.subarray(place.offset, place.offset + place.length);
  const where = `bytes ${place.offset}+${place.length} of a segment`;
  if (piece.byteLength !== place.length || piece.at(-1) !== LINE_FEED) return fail("internal", `${where} are no whole rows`);
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(piece).slice(0, -1).split("\n"));
  } catch {
    return fail("internal", `${where} are not UTF-8`);
  }
}
