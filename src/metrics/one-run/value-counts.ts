/** Values that are told apart; with more of them cells are counted, so that memory does not grow with a run. */
const MOST_VALUES = 2_048;
/** Cells that the values are spread over when they begin to be counted in cells. */
const FIRST_CELLS = MOST_VALUES / 2;
/** Of the smallest number there is. */
const LEAST_EXPONENT = -1_074;
/** Of the numbers of cells. */
const MOST_CELL_BITS = 52;

/** `count` values from `lo` up to `hi`: `hi` itself belongs to the last bin alone. */
export type Bin = readonly [lo: number, hi: number, count: number];

/** How many there are of each of a run's values, in bounded memory: of up to 2,048 different ones exactly, of more in cells whose width is a power of two. */
export class ValueCounts {
  /** By value, or by the number of the cell. */
  #counts = new Map<number, number>();
  /** Cells are 2^exponent wide; null = values are told apart. */
  #exponent: number | null = null;
  #n = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** Of a finite number. */
  add(value: number): void {
    this.#n += 1;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    if (this.#exponent !== null) this.#widen(this.#exponent);
    const key = this.#exponent === null ? value : Math.floor(value / 2 ** this.#exponent);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (this.#counts.size > MOST_VALUES) this.#coarsen();
  }

  get n(): number {
    return this.#n;
  }
  /** The least and the greatest; null while there is none. */
  get range(): readonly [number, number] | null {
    return this.#n === 0 ? null : [this.#min, this.#max];
  }
  /** Whether all are 0 or 1; false while there is none. */
  get isZeroOne(): boolean {
    return this.#n > 0 && this.#exponent === null && [...this.#counts.keys()].every((value) => value === 0 || value === 1);
  }

  /**
   * At most `most` bins from the least value to the greatest, which hold all values: as wide as each other, but for the first and the last of values that are
   * counted in cells. Of zeros and ones one bin each, of one value one bin, and none where there is no value.
   */
  bins(most: number): readonly Bin[] {
    if (this.#n === 0) return [];
    if (this.isZeroOne) return [0, 1].map((value): Bin => [value, value, this.#counts.get(value) ?? 0]);
    if (this.#min === this.#max) return [[this.#min, this.#max, this.#n]];
    const edges = this.#edges(most);
    const counts = Array.from({ length: edges.length - 1 }, () => 0);
    for (const [key, count] of this.#counts) {
      const bin = binOf(edges, this.#exponent === null ? key : Math.max(this.#min, key * 2 ** this.#exponent));
      counts[bin] = (counts[bin] ?? 0) + count;
    }
    return counts.map((count, bin): Bin => [edges[bin] ?? this.#min, edges[bin + 1] ?? this.#max, count]);
  }

  /** Borders of bins, ascending: no cell lies in two of them. */
  #edges(most: number): readonly number[] {
    const [min, max, exponent] = [this.#min, this.#max, this.#exponent];
    // By halves, since the distance of two numbers may be none.
    if (exponent === null) {
      const inner = Array.from({ length: most - 1 }, (_, at) => min * (1 - (at + 1) / most) + max * ((at + 1) / most));
      // Of numbers that are next to each other some are the same, or change their order, by rounding.
      return [min, ...[...new Set(inner)].sort((a, b) => a - b).filter((edge) => edge > min && edge < max), max];
    }
    const width = 2 ** exponent;
    const [first, last] = [Math.floor(min / width), Math.floor(max / width)];
    const cells = Math.ceil((last - first + 1) / most);
    const inner = Array.from({ length: most - 1 }, (_, at) => (first + (at + 1) * cells) * width);
    return [min, ...inner.filter((edge) => edge > min && edge < max), max];
  }

  /** Makes cells so wide that their numbers are whole ones of which each is told from the next, also where one value is far from all others. */
  #widen(exponent: number): void {
    const farthest = Math.max(Math.abs(this.#min), Math.abs(this.#max));
    const least = farthest === 0 ? exponent : Math.ceil(Math.log2(farthest)) - MOST_CELL_BITS;
    if (least <= exponent) return;
    this.#exponent = least;
    this.#counts = regrouped(this.#counts, (cell) => Math.floor(cell / 2 ** (least - exponent)));
  }

  #coarsen(): void {
    if (this.#exponent === null) {
      const distance = Math.min(this.#max - this.#min, Number.MAX_VALUE);
      this.#exponent = Math.max(LEAST_EXPONENT, Math.ceil(Math.log2(distance / FIRST_CELLS)));
      const width = 2 ** this.#exponent;
      this.#counts = regrouped(this.#counts, (value) => Math.floor(value / width));
    }
    while (this.#counts.size > FIRST_CELLS * 1.5) {
      this.#exponent += 1;
      this.#counts = regrouped(this.#counts, (cell) => Math.floor(cell / 2));
    }
  }
}

/** The bin that a value between the outer edges lies in. */
function binOf(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (value >= (edges[middle] ?? 0)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function regrouped(counts: ReadonlyMap<number, number>, groupOf: (key: number) => number): Map<number, number> {
  const grouped = new Map<number, number>();
  for (const [key, count] of counts) grouped.set(groupOf(key), (grouped.get(groupOf(key)) ?? 0) + count);
  return grouped;
}
