import type { Random } from "./random.ts";

/** The one queue of things that will happen; true time in milliseconds, ties in the order of scheduling. */
interface Entry {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class Clockwork {
  now = 0;
  steps = 0;
  #order = 0;
  readonly #heap: Entry[] = [];

  at(time: number, run: () => void): void {
    this.#push({ at: Math.max(this.now, time), order: this.#order++, run });
  }
  after(delay: number, run: () => void): void {
    this.at(this.now + delay, run);
  }
  /** As a `Timer`. */
  readonly timer = (ms: number, then: () => void): (() => void) => {
    let isOff = false;
    this.after(ms, () => {
      if (!isOff) then();
    });
    return () => {
      isOff = true;
    };
  };
  get idle(): boolean {
    return this.#heap.length === 0;
  }
  /** When the next thing happens; null when there is none. */
  get nextAt(): number | null {
    return this.#heap[0]?.at ?? null;
  }
  /** Makes the next thing happen; false when there is none. */
  step(): boolean {
    const entry = this.#pop();
    if (entry === undefined) return false;
    this.now = entry.at;
    this.steps++;
    entry.run();
    return true;
  }

  #before(a: Entry, b: Entry): boolean {
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }
  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !this.#before(entry, above)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
  }
  #pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      const smaller = right !== undefined && this.#before(right, left) ? right : left;
      if (smaller === right) child++;
      if (!this.#before(smaller, last)) break;
      heap[i] = smaller;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}

/** A clock that runs at its own rate and from its own zero, beside the true one. */
export function clockBeside({ random, clock }: { readonly random: Random; readonly clock: Clockwork }): () => number {
  const rate = 1 + (random.next() - 0.5) / 50;
  const zero = random.int(0, 1_000_000);
  return () => zero + clock.now * rate;
}
