import type { Slices } from "./slices.ts";

const DIGITS = 1 << 16;
const PASSES = 4;
/** Rows between two looks at the clock. */
const STRIDE = 16_384;

/**
 * Rows in the order of their numbers; those without one come last, and those with the same stay in the order in which they came. Digit by digit of the numbers'
 * bits, so that it can be done in slices: the built-in sort of 100,000 rows is one long task.
 */
export async function sortRows(rows: Uint32Array, numbers: (row: number) => number, order: "asc" | "desc", slices: Slices): Promise<Uint32Array> {
  const keys = new SortKeys(rows.length);
  const known = new Uint32Array(rows.length);
  const rest: number[] = [];
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    if (at % STRIDE === 0) await slices.breathe();
    const row = rows[at] ?? 0;
    const value = numbers(row);
    if (Number.isNaN(value)) rest.push(row);
    else {
      keys.set(count, order === "asc" ? value : -value);
      known[count++] = row;
    }
  }
  let sorted: Uint32Array = Uint32Array.from({ length: count }, (_, index) => index);
  for (let pass = 0; pass < PASSES; pass++) sorted = await byDigit(sorted, (index) => keys.digit(index, pass), slices);
  const result = new Uint32Array(rows.length);
  for (let at = 0; at < count; at++) result[at] = known[sorted[at] ?? 0] ?? 0;
  result.set(rest, count);
  return result;
}

async function byDigit(indices: Uint32Array, digit: (index: number) => number, slices: Slices): Promise<Uint32Array> {
  const starts = new Uint32Array(DIGITS + 1);
  for (let at = 0; at < indices.length; at++) {
    if (at % STRIDE === 0) await slices.breathe();
    const next = digit(indices[at] ?? 0) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  // All have the same: nothing to do.
  if (starts.includes(indices.length)) return indices;
  for (let each = 1; each <= DIGITS; each++) starts[each] = (starts[each] ?? 0) + (starts[each - 1] ?? 0);
  const sorted = new Uint32Array(indices.length);
  for (let at = 0; at < indices.length; at++) {
    if (at % STRIDE === 0) await slices.breathe();
    const index = indices[at] ?? 0;
    const place = digit(index);
    const to = starts[place] ?? 0;
    sorted[to] = index;
    starts[place] = to + 1;
  }
  return sorted;
}

/** Numbers as 64 bits that are ordered as they are: the sign turned for positive ones, every bit for negative ones. */
class SortKeys {
  readonly #numbers: Float64Array;
  readonly #words: Uint32Array;
  /** Little endian, as every machine is that a browser runs on. */
  constructor(length: number) {
    this.#numbers = new Float64Array(length);
    this.#words = new Uint32Array(this.#numbers.buffer);
  }

  set(index: number, value: number): void {
    // -0 is 0.
    this.#numbers[index] = value + 0;
    const [low, high] = [this.#words[2 * index] ?? 0, this.#words[2 * index + 1] ?? 0];
    const negative = high >>> 31 === 1;
    this.#words[2 * index] = negative ? ~low : low;
    this.#words[2 * index + 1] = negative ? ~high : high ^ 0x80000000;
  }

  /** 16 bits, the lowest first. */
  digit(index: number, pass: number): number {
    const word = this.#words[2 * index + (pass >> 1)] ?? 0;
    return pass % 2 === 0 ? word & 0xffff : word >>> 16;
  }
}
