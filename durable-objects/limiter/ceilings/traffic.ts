import type { LimitKind, RateKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Sightings } from "../limiter-control.ts";

const SLOT_MS = 250;
/** A minute back from the oldest moment that an incident still asks for. */
const SLOTS = 1_200;
/** An executor that said nothing for so long has nothing in flight that counts. */
const SILENT_MS = 30_000;
/** Answers after which the mean cost of a request has half forgotten what was before. */
const MEAN_OVER = 200;
const LEAST_LAG_MS = 200;
const MOST_LAG_MS = 6_000;

interface Slot {
  number: number;
  admitted: number;
  accepted: number;
  input: number;
  output: number;
}

interface Reporter {
  at: number;
  /** When the report before the newest came. */
  before: number;
  /** Of its newest report; 0 where it sent nothing, since what it would see is nothing. */
  over_ms: number;
  in_flight: number;
}

/**
 * What the endpoint has taken, in slots of a quarter of a second. A request counts from when it was sent, as providers count; its tokens are known when its
 * answer ends, so those in flight are counted with the mean.
 */
export class Traffic {
  readonly #slots: Slot[] = Array.from({ length: SLOTS }, () => ({ number: -1, admitted: 0, accepted: 0, input: 0, output: 0 }));
  readonly #reporters = new Map<string, Reporter>();
  /** When the first request was sent. */
  first = Number.POSITIVE_INFINITY;
  #answers = 0;
  #input = 0;
  #output = 0;

  record(executor: string, inFlight: number, seen: Sightings, now: number): void {
    const before = this.#reporters.get(executor);
    this.#reporters.set(executor, { at: now, before: before?.at ?? now - seen.over_ms, over_ms: seen.sent > 0 ? seen.over_ms : 0, in_flight: inFlight });
    const admitted = seen.sent - seen.rate_limited - seen.overloaded - seen.missed;
    if (seen.sent > 0) this.first = Math.min(this.first, now - seen.over_ms);
    if (admitted !== 0 || seen.accepted > 0) this.#spread(now - seen.over_ms, now, admitted, seen);
    if (seen.accepted === 0) return;
    const kept = MEAN_OVER / (MEAN_OVER + seen.accepted);
    this.#answers = this.#answers * kept + seen.accepted;
    this.#input = this.#input * kept + seen.used.input_tokens;
    this.#output = this.#output * kept + seen.used.output_tokens;
  }

  left(executor: string): void {
    this.#reporters.delete(executor);
  }

  /** Milliseconds after which whatever happens now has been heard from everybody, and what is decided now has reached them. */
  lag(now: number): number {
    let lag = LEAST_LAG_MS;
    for (const { at, over_ms } of this.#reporters.values()) if (now - at < SILENT_MS) lag = Math.max(lag, over_ms);
    return Math.min(MOST_LAG_MS, lag);
  }

  /** When the report of `executor` before its newest came; all that it sent since is in the newest. */
  reportedBefore(executor: string): number {
    return this.#reporters.get(executor)?.before ?? 0;
  }

  /** Requests in flight by what each executor said last. */
  openBy(now: number): Map<string, number> {
    const open = new Map<string, number>();
    for (const [executor, { at, in_flight }] of this.#reporters) {
      if (now - at > SILENT_MS) this.#reporters.delete(executor);
      else open.set(executor, in_flight);
    }
    return open;
  }

  inFlight(now: number): number {
    return sumOf(this.openBy(now));
  }

  /** Requests or tokens that were taken in `(from, to]`. */
  taken(kind: RateKind, from: number, to: number): number {
    const { admitted, accepted, input, output } = this.#sum(from, to);
    const open = admitted - accepted;
    const answers = Math.max(1, this.#answers);
    switch (kind) {
      case "requests":
        return Math.max(0, admitted);
      case "input_tokens":
        return Math.max(0, input + (open * this.#input) / answers);
      case "output_tokens":
        return Math.max(0, output + (open * this.#output) / answers);
      case "tokens":
        return Math.max(0, input + output + (open * (this.#input + this.#output)) / answers);
    }
  }

  /** What one request uses of a kind on average. */
  mean(kind: LimitKind): number {
    const answers = Math.max(1, this.#answers);
    const means = { concurrent: 1, requests: 1, input_tokens: this.#input / answers, output_tokens: this.#output / answers };
    return kind === "tokens" ? means.input_tokens + means.output_tokens : means[kind];
  }

  #spread(from: number, to: number, admitted: number, { accepted, used }: Sightings): void {
    const first = Math.floor(from / SLOT_MS);
    const last = Math.max(first, Math.ceil(to / SLOT_MS) - 1);
    const length = Math.max(1, to - from);
    for (let number = Math.max(first, last - SLOTS + 1); number <= last; number++) {
      const part = last === first ? 1 : (Math.min(to, (number + 1) * SLOT_MS) - Math.max(from, number * SLOT_MS)) / length;
      const slot = this.#slot(number);
      slot.admitted += admitted * part;
      slot.accepted += accepted * part;
      slot.input += used.input_tokens * part;
      slot.output += used.output_tokens * part;
    }
  }

  #slot(number: number): Slot {
    const index = ((number % SLOTS) + SLOTS) % SLOTS;
    const slot = this.#slots[index];
    if (slot === undefined) throw new RangeError(`no slot ${index}`);
    if (slot.number !== number) Object.assign(slot, { number, admitted: 0, accepted: 0, input: 0, output: 0 });
    return slot;
  }

  #sum(from: number, to: number): Omit<Slot, "number"> {
    const sum = { admitted: 0, accepted: 0, input: 0, output: 0 };
    const first = Math.floor(from / SLOT_MS);
    const last = Math.ceil(to / SLOT_MS) - 1;
    for (let number = Math.max(first, last - SLOTS + 1); number <= last; number++) {
      const slot = this.#slots[((number % SLOTS) + SLOTS) % SLOTS];
      if (slot === undefined || slot.number !== number) continue;
      const part = (Math.min(to, (number + 1) * SLOT_MS) - Math.max(from, number * SLOT_MS)) / SLOT_MS;
      sum.admitted += slot.admitted * part;
      sum.accepted += slot.accepted * part;
      sum.input += slot.input * part;
      sum.output += slot.output * part;
    }
    return sum;
  }
}

export function sumOf(amounts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const amount of amounts.values()) sum += amount;
  return sum;
}
