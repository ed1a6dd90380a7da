/** Units of one block: what finding a row reads beside the rows of the page itself is at most this many units. */
export const BLOCK_UNITS = 512;

const BLOCKS_A_TURN = 16;

/** Rows that the done units of `[lo, hi)` have. */
export type CountRows = (lo: number, hi: number) => number;

/**
 * How many rows the done units of each block have, so that the k-th row of a run with holes (units still open, or without some of
 * their rows) is found without a scan. Kept in memory only, and counted when asked: the first time all of it, so that no page is
 * dearer than another, afterwards the blocks that have changed. Nothing is stored, so that a commit writes no row more for it.
 */
export class RowCounts {
  readonly #count: CountRows;
  #rows: number[] = [];
  readonly #changed = new Set<number>();

  constructor(count: CountRows) {
    this.#count = count;
  }

  /** The rows of a unit were written, for the first time or anew. */
  touch(unit: number): void {
    const block = Math.floor(unit / BLOCK_UNITS);
    if (block < this.#rows.length) this.#changed.add(block);
  }

  /** After a rollback what was counted may be wrong. */
  forget(): void {
    this.#rows = [];
    this.#changed.clear();
  }

  /** Counts what is to be counted for `find`, with a pause for other calls after each turn. */
  async countInTurns(units: number, pause: () => Promise<boolean>): Promise<void> {
    for (let counted = 1; ; counted++) {
      const [changed] = this.#changed;
      if (changed !== undefined) {
        this.#changed.delete(changed);
        this.#rows[changed] = this.#countBlock(changed);
      } else if (this.#rows.length * BLOCK_UNITS < units) this.#rows.push(this.#countBlock(this.#rows.length));
      else return;
      if (counted % BLOCKS_A_TURN === 0 && !(await pause())) return;
    }
  }

  /**
   * The block in which row `index` (from 0, in unit order) of a run of `units` lies, and how many rows of that block come before it;
   * null beyond the last.
   */
  find(index: number, units: number): { readonly block: number; readonly skip: number } | null {
    for (const block of this.#changed) this.#rows[block] = this.#countBlock(block);
    this.#changed.clear();
    while (this.#rows.length * BLOCK_UNITS < units) this.#rows.push(this.#countBlock(this.#rows.length));
    let skip = index;
    for (const [block, rows] of this.#rows.entries()) {
      if (skip < rows) return { block, skip };
      skip -= rows;
    }
    return null;
  }

  /** First block with rows from `block` on, as last counted; null when there is none. */
  nextFilled(block: number): number | null {
    for (let next = block; next < this.#rows.length; next++) if ((this.#rows[next] ?? 0) > 0) return next;
    return null;
  }

  #countBlock(block: number): number {
    return this.#count(block * BLOCK_UNITS, (block + 1) * BLOCK_UNITS);
  }
}
