import type { Vitals } from "../vitals.ts";

const NONE: Vitals = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

/** What executors last said of the model server, by the epoch of their grant; of the moment only, never stored, and no part of a decision. */
export class RunVitals {
  readonly #known = new Map<number, Vitals>();

  said(epoch: number, vitals: Vitals): void {
    this.#known.set(epoch, vitals);
  }

  /** Rollouts that are done now are no longer to be counted as finished beside those that are done, and the next beat is some time away. */
  committed(epoch: number, rollouts: number): void {
    const known = this.#known.get(epoch);
    if (known?.finished === undefined) return;
    this.#known.set(epoch, { ...known, finished: Math.max(0, known.finished - rollouts) });
  }

  /** Sum over the live grants; the endpoint is left alone until the latest of the times they were given, and of their limits that is told which most requests wait for. */
  sum(live: ReadonlySet<number>): Vitals {
    let sum = NONE;
    let busiest = NONE;
    for (const [epoch, each] of this.#known) {
      if (live.has(epoch)) sum = added(sum, each);
      else this.#known.delete(epoch);
      if (live.has(epoch) && each.limited !== undefined && each.waiting >= busiest.waiting) busiest = each;
    }
    return busiest.limited === undefined ? sum : { ...sum, limited: busiest.limited };
  }

  /** Whether any of these grants has said something since this object woke up. */
  knows(live: ReadonlySet<number>): boolean {
    return [...live].some((epoch) => this.#known.has(epoch));
  }

  clear(): void {
    this.#known.clear();
  }
}

function added(sum: Vitals, each: Vitals): Vitals {
  const paused = Math.max(sum.paused_until ?? 0, each.paused_until ?? 0);
  return {
    in_flight: sum.in_flight + each.in_flight,
    retries: sum.retries + each.retries,
    waiting: sum.waiting + each.waiting,
    paused_until: paused === 0 ? null : paused,
    finished: (sum.finished ?? 0) + (each.finished ?? 0),
    oldest_ms: Math.max(sum.oldest_ms ?? 0, each.oldest_ms ?? 0),
  };
}
