import { seededRandom } from "../../../src/seeded-random.ts";

/** Seeded generator: the same seed gives the same schedule on every machine. */
export class Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;
  constructor(seed: number) {
    this.next = seededRandom(seed);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  /** Integer in [lo, hi]. */
  int(lo: number, hi: number): number {
    return lo + Math.floor(this.next() * (hi - lo + 1));
  }
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error("pick from nothing");
    return item;
  }
}
