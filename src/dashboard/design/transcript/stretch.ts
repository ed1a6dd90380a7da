/** Rows that are measured at once. Of a longer list a _stretch_ around what is seen: a row whose height turns out another moves all that are behind it in the stretch, which a list of 100,000 could not do in a frame. */
const MOST_ROWS = 2_000;
/** So near an end of the stretch another one is taken. */
const NEAR = 300;

/** Which rows of a long list are measured, and where they lie, in pixels from the top of the list. */
export class Stretch {
  /** The first row, and the one behind the last. */
  first = 0;
  end = 0;
  /** Pixels of the rows before it and behind it. */
  above = 0;
  below = 0;
  /** The number of a row from its place in the stretch. Another function is another list to who is given it. */
  indexOf: (place: number) => number = (place) => place;
  readonly #heights: Float64Array;

  /** `estimate`: height of a row before it was measured, in pixels. */
  constructor(count: number, estimate: (index: number) => number) {
    this.#heights = Float64Array.from({ length: count }, (_, index) => estimate(index));
    this.moveTo(0);
  }

  get count(): number {
    return this.#heights.length;
  }

  height(index: number): number {
    return this.#heights[index] ?? 0;
  }

  measured(index: number, height: number): void {
    this.#heights[index] = height;
  }

  top(index: number): number {
    let top = 0;
    for (let row = 0; row < index; row++) top += this.height(row);
    return top;
  }

  /** The row at so many pixels. */
  at(pixels: number): number {
    let [row, bottom] = [0, this.height(0)];
    while (bottom <= pixels && row < this.count - 1) bottom += this.height(++row);
    return row;
  }

  /** Whether a row has enough others before and behind it. */
  holds(index: number, others = NEAR): boolean {
    return (this.first === 0 || index >= this.first + others) && (this.end === this.count || index < this.end - others);
  }

  /** Goes to where a row is in the middle. */
  moveTo(index: number): void {
    const first = Math.max(0, Math.min(this.count - MOST_ROWS, index - MOST_ROWS / 2));
    this.first = first;
    this.end = Math.min(this.count, first + MOST_ROWS);
    this.above = this.top(first);
    this.below = this.top(this.count) - this.top(this.end);
    this.indexOf = (place) => first + place;
  }
}
