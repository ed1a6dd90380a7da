import type { LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import { MAX_GIVEN_AMOUNT } from "../../../src/limits.ts";

/** Numbers nearer to each other are the same one. */
const SAME = 0.1;
/** An endpoint that was wrong so often about a kind is not listened to any more. */
const MOST_LIES = 4;

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= SAME * Math.max(a, b);

/** What the endpoint says of its limits, and which of it turned out to be untrue. Trust is in a number: another one may be a limit that was changed. */
export class ToldNumbers {
  readonly #newest = new Map<LimitKind, number>();
  readonly #untrue = new Map<LimitKind, number[]>();

  /** Whether `limit` is news that may be believed. A number beyond any that a person may give is none: it bounds nobody. */
  isNews(kind: LimitKind, limit: number): boolean {
    const before = this.#newest.get(kind);
    this.#newest.set(kind, limit);
    return limit > 0 && limit <= MAX_GIVEN_AMOUNT && before !== limit && this.isBelieved(kind, limit);
  }

  /** What `limit` comes to, if the endpoint is wrong now as it was before, when it said something else and the limit was `found`. */
  corrected(kind: LimitKind, limit: number, found: number | null): number {
    const untrue = this.lieOf(kind);
    return untrue === null || found === null ? limit : (limit * found) / untrue;
  }

  isBelieved(kind: LimitKind, limit: number): boolean {
    const untrue = this.#untrue.get(kind) ?? [];
    return untrue.length < MOST_LIES && !untrue.some((other) => isSame(other, limit));
  }

  /** It was shown to be wrong. */
  untrue(kind: LimitKind, limit: number): void {
    if (this.isBelieved(kind, limit)) this.#untrue.set(kind, [...(this.#untrue.get(kind) ?? []), limit]);
  }

  /** The newest number that was untrue, to be kept with what was found instead. */
  lieOf(kind: LimitKind): number | null {
    return this.#untrue.get(kind)?.at(-1) ?? null;
  }
}
