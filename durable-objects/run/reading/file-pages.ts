import { outputKey } from "../../../r2-layout/keys.ts";
import type { SamplePage, SamplePlace } from "../control.ts";
import type { ExamplePlace, ExamplePlaces } from "./cells-protocol.ts";
import { placeOf } from "./example-place.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { rowsFrom } from "./rows-from.ts";

/** Examples of one block: a page looks up those of its own and at most so many beside them at either end. */
const BLOCK = 16;
/** Done units of which one turn takes the sizes. */
const UNITS_A_TURN = 8_192;

/** Where in `results.jsonl` each block of examples begins, by bytes and by rows; one more for the end. */
interface Sizes {
  readonly mark: string;
  readonly bytes: Float64Array;
  readonly rows: Float64Array;
}

type Source = Pick<Ledger, "head" | "config" | "order" | "donesOf"> & {
  /** Of the done units of `[lo, hi)`, ascending. */
  samplePlaces(lo: number, hi: number): readonly SamplePlace[];
};

/**
 * Pages of a settled run whose examples were permuted: its rows lie all over its segments, and one behind the other in `results.jsonl`. Where each block
 * of that begins is held in memory only, two numbers for 16 examples, and summed up at the first look: a stored table would cost written rows.
 */
export class FilePages {
  readonly #ledger: Source;
  #sizes: Sizes | null = null;

  constructor(ledger: Source) {
    this.#ledger = ledger;
  }

  /** Whether the pages of the run, as it is now, are those of its final file. */
  applies(head: RunHead): boolean {
    return head.phase === "settled" && head.unwritten !== true && head.totals.rollouts > 0 && this.#ledger.order.get().isPermuted;
  }

  /** Rows `[offset, offset + limit)` of the final file; null when the run is gone or went on meanwhile. `pause` says whether it is still there. */
  async page(offset: number, limit: number, pause: () => Promise<boolean>): Promise<SamplePage | null> {
    const sizes = await this.#measured(pause);
    const head = this.#ledger.head();
    if (sizes === null || head === null || markOf(head) !== sizes.mark) return null;
    const total = head.totals.rollouts;
    const count = Math.max(0, Math.min(limit, total - offset));
    if (count === 0) return { total, skip: 0, count, places: [] };
    const { env_id, model, run_id } = this.#ledger.config();
    return { total, count, ...this.#placesOf(sizes, offset, count), object: outputKey(env_id, model, run_id, "results.jsonl") };
  }

  /** Blocks of examples that are looked up for these. */
  blocksOf(examples: readonly number[]): number {
    return new Set(examples.map((example) => Math.floor(example / BLOCK))).size;
  }

  /** Where in the final file the rows of these examples are, in its order; null as for `page`. */
  async examples(examples: readonly number[], pause: () => Promise<boolean>): Promise<ExamplePlaces | null> {
    const sizes = await this.#measured(pause);
    const head = this.#ledger.head();
    if (sizes === null || head === null || markOf(head) !== sizes.mark) return null;
    const wanted = new Set(examples);
    const places: ExamplePlace[] = [];
    for (const block of new Set(examples.toSorted((a, b) => a - b).map((example) => Math.floor(example / BLOCK)))) {
      for (const { example, ...place } of this.#filed(sizes, block)) if (wanted.has(example)) places.push({ ...place, example });
    }
    const { env_id, model, run_id, rollouts_per_example } = this.#ledger.config();
    return { rollouts: rollouts_per_example, places, object: outputKey(env_id, model, run_id, "results.jsonl") };
  }

  /** The done examples of a block, in their order. */
  #filed({ bytes }: Sizes, block: number): ExamplePlace[] {
    const order = this.#ledger.order.get();
    const first = block * BLOCK;
    const end = Math.min(this.#ledger.head()?.n ?? 0, first + BLOCK);
    const positions = Array.from({ length: end - first }, (_, index) => order.positionOf(first + index));
    let at = bytes[block] ?? 0;
    return this.#ledger.donesOf(positions).map((done) => {
      const place = placeOf({ ...done, segment: "", offset: at }, order.rankOf(done.unit));
      at += done.length;
      return place;
    });
  }

  forget(): void {
    this.#sizes = null;
  }

  #placesOf({ bytes, rows }: Sizes, offset: number, count: number): Pick<SamplePage, "skip" | "places"> {
    const block = blockWith(rows, offset);
    const first = block * BLOCK;
    const end = Math.min(this.#ledger.head()?.n ?? 0, (blockWith(rows, offset + count - 1) + 1) * BLOCK);
    const order = this.#ledger.order.get();
    const positions = Array.from({ length: end - first }, (_, index) => order.positionOf(first + index));
    let at = bytes[block] ?? 0;
    const places = this.#ledger.donesOf(positions).map(({ unit, length, rollouts }): SamplePlace => {
      const offset = at;
      at += length;
      return { unit: order.rankOf(unit), segment: "", offset, length, rows: rollouts.filter((rollout) => rollout !== null).length };
    });
    return rowsFrom(places, offset - (rows[block] ?? 0), count);
  }

  async #measured(pause: () => Promise<boolean>): Promise<Sizes | null> {
    const head = this.#ledger.head();
    if (head === null) return null;
    const mark = markOf(head);
    if (this.#sizes?.mark === mark) return this.#sizes;
    const blocks = Math.ceil((head.n ?? 0) / BLOCK);
    const bytes = new Float64Array(blocks + 1);
    const rows = new Float64Array(blocks + 1);
    const order = this.#ledger.order.get();
    for (let lo = 0; lo < (head.n ?? 0); lo += UNITS_A_TURN) {
      if (lo > 0 && !(await pause())) return null;
      for (const { unit, length, rows: own } of this.#ledger.samplePlaces(lo, lo + UNITS_A_TURN)) {
        const next = Math.floor(order.rankOf(unit) / BLOCK) + 1;
        bytes[next] = (bytes[next] ?? 0) + length;
        rows[next] = (rows[next] ?? 0) + own;
      }
    }
    for (let block = 1; block <= blocks; block++) {
      bytes[block] = (bytes[block] ?? 0) + (bytes[block - 1] ?? 0);
      rows[block] = (rows[block] ?? 0) + (rows[block - 1] ?? 0);
    }
    this.#sizes = { mark, bytes, rows };
    return this.#sizes;
  }
}

/** Rows change with the generation only, once the run has settled. */
const markOf = ({ generation, settled_at }: RunHead): string => `${generation}:${settled_at ?? ""}`;

/** The last block that begins at row `row` or before, and has rows. */
function blockWith(rows: Float64Array, row: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle + 1] ?? 0) <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}
