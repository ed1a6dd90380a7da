import type { Taken } from "./batch.ts";
import type { Effect } from "./session-events.ts";

/** Segments on their way to storage at once; with the buffer and the inputs they are what an executor holds. */
export const MAX_FLUSHES = 2;

interface Flush extends Omit<Taken, "spans"> {
  readonly n: number;
  spans: readonly number[];
  state: "storing" | "stored" | "committing";
  /** When its last attempt is repeated; null = it has not failed. */
  retryAt: number | null;
  failing: boolean;
}

/** The segments of one session that are on their way: each is put, then committed, and each of the two is repeated until it is done. */
export class Flushes {
  #list: Flush[] = [];
  #next = 1;

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  get areAllTaken(): boolean {
    return this.#list.length >= MAX_FLUSHES;
  }

  get units(): readonly number[] {
    return this.#list.flatMap(({ units, spans }) => [...units, ...spans]);
  }

  get spans(): readonly number[] {
    return this.#list.flatMap(({ spans }) => spans);
  }

  /** Of `units`. */
  get unitCount(): number {
    return this.#list.reduce((sum, { units, spans }) => sum + units.length + spans.length, 0);
  }

  /** The last attempt to put or to commit one of them failed. */
  get areFailing(): boolean {
    return this.#list.some(({ failing }) => failing);
  }

  /** When something is to be repeated. */
  get retries(): readonly number[] {
    return this.#list.flatMap(({ retryAt }) => (retryAt === null ? [] : [retryAt]));
  }

  begin({ units, pieces, turns, spans }: Taken): Effect {
    const flush: Flush = { n: this.#next++, units, pieces, turns, spans, state: "storing", retryAt: null, failing: false };
    this.#list.push(flush);
    return { type: "store", n: flush.n, units, pieces, turns };
  }

  /** Some of the unit's span found no room in its segment; false when none is on its way. */
  dropSpan(unit: number): boolean {
    const flush = this.#list.find(({ spans }) => spans.includes(unit));
    if (flush !== undefined) flush.spans = flush.spans.filter((each) => each !== unit);
    return flush !== undefined;
  }

  stored(n: number): void {
    const flush = this.#find(n);
    if (flush !== undefined) Object.assign(flush, { state: "stored", retryAt: null });
  }

  failed(n: number, retryAt: number): void {
    const flush = this.#find(n);
    if (flush !== undefined) Object.assign(flush, { retryAt, failing: true });
  }

  /** Returns the units of which a span is over with it. */
  committed(n: number): readonly number[] {
    const spans = this.#find(n)?.spans ?? [];
    this.#list = this.#list.filter((flush) => flush.n !== n);
    return spans;
  }

  /** What is to be put or committed now. `started`: what the Run is told with it. */
  due(now: number, started: () => readonly number[]): Effect[] {
    const effects: Effect[] = [];
    for (const flush of this.#list) {
      const again = flush.retryAt !== null && now >= flush.retryAt;
      if (again) flush.retryAt = null;
      if (flush.state === "storing" && again) effects.push({ type: "store", n: flush.n, units: flush.units, pieces: flush.pieces, turns: flush.turns });
      if (flush.state === "stored" || (flush.state === "committing" && again)) {
        flush.state = "committing";
        effects.push({ type: "commit", n: flush.n, units: flush.units, pieces: flush.pieces, spans: flush.spans, started: started() });
      }
    }
    return effects;
  }

  #find(n: number): Flush | undefined {
    return this.#list.find((flush) => flush.n === n);
  }
}
