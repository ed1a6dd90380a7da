import { mixSeed } from "./mix.ts";
import { seededRandom } from "./seeded-random.ts";

/** Pinned examples `[lo, hi)` that stand in an order of their own among themselves. */
export interface PermutedPart {
  readonly lo: number;
  readonly hi: number;
}

/** Parts whose order is remembered at once: who goes through a run is in one of them, or passes from one to the next. */
const KEPT = 2;

interface Drawn {
  /** By position in the part, which of its examples stands there; and the reverse. */
  readonly ranks: Uint32Array;
  readonly positions: Uint32Array;
}

/** For each position of `[lo, hi)`, less `lo`, which of those examples stands there (Fisher-Yates): seed and part alone decide, on every machine. */
export function drawnRanks({ lo, hi }: PermutedPart, seed: number): Uint32Array {
  const random = seededRandom(mixSeed(seed) ^ mixSeed(lo));
  const ranks = Uint32Array.from({ length: hi - lo }, (_, index) => index);
  for (let last = ranks.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const moved = ranks[last] ?? 0;
    ranks[last] = ranks[other] ?? 0;
    ranks[other] = moved;
  }
  return ranks;
}

/**
 * The order of a run's pinned examples. An example has a _position_, by which it is claimed, played and stored (the unit), and a _rank_, its place in
 * the data set, by which results are sorted. Within a part that was permuted the two differ; elsewhere they are the same.
 */
export class PinnedOrder {
  readonly seed: number;
  /** Ascending, apart from each other. */
  readonly parts: readonly PermutedPart[];
  readonly #drawn = new Map<number, Drawn>();

  constructor(seed: number, parts: readonly PermutedPart[]) {
    this.seed = seed;
    this.parts = parts;
  }

  get isPermuted(): boolean {
    return this.parts.length > 0;
  }

  rankOf(position: number): number {
    const part = this.#partOf(position);
    return part === null ? position : part.lo + (this.#draw(part).ranks[position - part.lo] ?? 0);
  }

  positionOf(rank: number): number {
    const part = this.#partOf(rank);
    return part === null ? rank : part.lo + (this.#draw(part).positions[rank - part.lo] ?? 0);
  }

  /** The first permuted part that reaches beyond `position`; null where all from there on are in the order of the data set. */
  partFrom(position: number): PermutedPart | null {
    let [low, high] = [0, this.parts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.parts[middle]?.hi ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return this.parts[low] ?? null;
  }

  #partOf(index: number): PermutedPart | null {
    const part = this.partFrom(index);
    return part !== null && part.lo <= index ? part : null;
  }

  #draw(part: PermutedPart): Drawn {
    const known = this.#drawn.get(part.lo);
    if (known !== undefined) return known;
    const ranks = drawnRanks(part, this.seed);
    const positions = new Uint32Array(ranks.length);
    for (const [position, rank] of ranks.entries()) positions[rank] = position;
    const [oldest] = this.#drawn.keys();
    if (this.#drawn.size >= KEPT && oldest !== undefined) this.#drawn.delete(oldest);
    const drawn = { ranks, positions };
    this.#drawn.set(part.lo, drawn);
    return drawn;
  }
}

/** That of a run whose examples stand as in its data set. */
export const DATA_ORDER = new PinnedOrder(0, []);
