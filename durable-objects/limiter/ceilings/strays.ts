import type { Sightings } from "../limiter-control.ts";
import type { SeenBy } from "./seen-by.ts";
import type { Traffic } from "./traffic.ts";

/** What comes within so long is judged together: where more comes than this allows, a limit is the likeliest reason. */
const TOGETHER_MS = 2_000;
const FEW_TOGETHER = 2;
const SHARE_TOGETHER = 0.15;
/** And over a longer time, in which even a server that now and then refuses somebody refuses few. */
const LONG_MS = 30_000;
const FEW = 3;
const SHARE = 0.03;
/** Everything refused for so long. */
const SILENCE_MS = 2_500;

/** Asked to wait for so long, as a window of a minute asks it. */
const LONG_WAIT_MS = 10_000;

interface Stray {
  /** When the newest of its refusals came. */
  readonly at: number;
  readonly count: number;
  /** The report, and when it was heard. */
  readonly seen: Sightings;
  readonly from: SeenBy;
  readonly heard: number;
}

/** Refusals that may be of no limit, where none is known to be near: a few among many that are taken say nothing, and cut nothing. */
export class Strays {
  #recent: Stray[] = [];
  /** The endpoint asked to be left alone until then. */
  pauseUntil = Number.NEGATIVE_INFINITY;

  /**
   * Null: what `seen` was refused says nothing yet, and all goes on (after a pause that was asked for). Else what belongs together, oldest first: more was
   * refused than by chance. `traffic` has heard it already.
   */
  heard(seen: Sightings, from: SeenBy, traffic: Traffic, now: number): readonly Stray[] | null {
    const count = seen.rate_limited + seen.overloaded;
    const at = now - Math.min(...seen.refusals.map(({ ago_ms }) => ago_ms), seen.over_ms);
    this.#recent = [...this.#recent.filter((stray) => now - stray.at < LONG_MS), { at, count, seen, from, heard: now }];
    const over = Math.max(TOGETHER_MS, traffic.lag(now));
    const together = this.#recent.filter((stray) => now - stray.at < over);
    const isLong = seen.refusals.some(({ retry_after_ms }) => (retry_after_ms ?? 0) >= LONG_WAIT_MS);
    if (isLong || seen.refusals.some(({ named_limit }) => named_limit !== null) || this.#isMuch(together, over, traffic, now)) {
      this.#recent = [];
      this.pauseUntil = Number.NEGATIVE_INFINITY;
      return together;
    }
    for (const { retry_after_ms, ago_ms } of seen.refusals) {
      if (retry_after_ms !== null) this.pauseUntil = Math.max(this.pauseUntil, now - ago_ms + retry_after_ms);
    }
    return null;
  }

  #isMuch(together: readonly Stray[], over: number, traffic: Traffic, now: number): boolean {
    const taken = (ms: number): number => traffic.taken("requests", now - ms, now);
    const [near, all] = [sum(together), sum(this.#recent)];
    if (near > FEW_TOGETHER && near > SHARE_TOGETHER * (near + taken(over))) return true;
    if (all > FEW + SHARE * (all + taken(LONG_MS))) return true;
    const since = this.#recent[0]?.at ?? now;
    return now - since > SILENCE_MS && taken(now - since) < 1;
  }
}

const sum = (strays: readonly Stray[]): number => strays.reduce((total, { count }) => total + count, 0);
