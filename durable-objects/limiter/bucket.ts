import { type Constraint, isHard } from "./constraint.ts";
import type { RateKind } from "../../src/endpoint-limits/limit-kinds.ts";

const MINUTE_MS = 60_000;
/** What comes in this time may be saved up, beside what executors have between two exchanges: less, and a moment without demand is lost for good. */
const SAVED_MS = 1_000;
/** Of so many minutes it is owed at most, and one request counts for no more: what an endpoint says that a request used is no reason to stop for longer. */
export const MOST_OWED_MINUTES = 10;

interface Filling {
  readonly unit: number;
  readonly exchangeMs: number;
  readonly out: number;
  readonly isStill: boolean;
  readonly now: number;
}

/**
 * What may be used of one rate: it comes in evenly, is handed out to holders, and is saved up no further than `most`, with what they have and have not used.
 * So in any minute no more is used than comes in beside that; for a limit that a person gave, less comes in by as much.
 */
export class Bucket {
  constraint: Constraint & { readonly kind: RateKind };
  /** There to be handed out; below 0 = more was used than came in. */
  level = 0;
  #most = 0;
  #perMs = 0;
  #at: number;

  constructor(constraint: Constraint & { readonly kind: RateKind }, now: number) {
    this.constraint = constraint;
    this.#at = now;
  }

  get most(): number {
    return this.#most;
  }

  /** What comes in, per second. */
  get perSecond(): number {
    return this.#perMs * 1_000;
  }

  /**
   * `unit`: what one request uses at most; `exchangeMs`: time between two exchanges of an executor; `out`: what holders have and have not used; `isStill`: the
   * endpoint is left alone, and is not to get at once afterwards what came in meanwhile.
   */
  fillUp({ unit: used, exchangeMs, out, isStill, now }: Filling): void {
    const { limit, kind } = this.constraint;
    const unit = Math.min(used, MOST_OWED_MINUTES * limit);
    this.level = Math.max(this.level, -MOST_OWED_MINUTES * limit);
    this.#most = (isStill ? 0 : (limit / MINUTE_MS) * (SAVED_MS + 2 * exchangeMs)) + unit;
    const perMs = limit / MINUTE_MS;
    // Requests come one by one: of those that are saved up one is of the minute itself. So is one that uses a good part of a minute's tokens.
    const beside = kind === "requests" ? this.#most - unit : Math.min(this.#most, Math.max(this.#most - unit, limit / 10));
    this.#perMs = isHard(this.constraint) ? perMs - beside / MINUTE_MS : perMs;
    const room = Math.max(unit, this.#most - out);
    if (this.level < room) this.level = Math.min(room, this.level + this.#perMs * Math.max(0, now - this.#at));
    this.level = Math.min(this.level, this.#most);
    this.#at = now;
  }
}
