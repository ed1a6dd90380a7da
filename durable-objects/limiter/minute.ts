import type { LimiterView, Sightings } from "./limiter-control.ts";

const SLOT_MS = 5_000;
/** Slots of the last minute, and of the ten minutes that times of requests are told of. */
const MINUTE_SLOTS = 60_000 / SLOT_MS;
const LATENCY_SLOTS = 10 * MINUTE_SLOTS;

interface Slot {
  readonly number: number;
  sent: number;
  accepted: number;
  refused: number;
  input_tokens: number;
  output_tokens: number;
  readonly latencies: number[];
  /** Accepted requests by party. */
  readonly by: Map<string, number>;
}

/** What happened at an endpoint in the last minutes, for people. Times are milliseconds of one clock, handed in. */
export class Minute {
  #slots: Slot[] = [];

  heard({ sent, accepted, rate_limited, overloaded, used, latencies }: Sightings, by: Iterable<readonly [party: string, accepted: number]>, now: number): void {
    const slot = this.#slot(now);
    slot.sent += sent;
    slot.accepted += accepted;
    slot.refused += rate_limited + overloaded;
    slot.input_tokens += used.input_tokens;
    slot.output_tokens += used.output_tokens;
    for (const [entry, count] of latencies.entries()) slot.latencies[entry] = (slot.latencies[entry] ?? 0) + count;
    for (const [party, count] of by) if (count > 0) slot.by.set(party, (slot.by.get(party) ?? 0) + count);
  }

  minute(now: number): LimiterView["minute"] {
    const recent = this.#last(MINUTE_SLOTS, now);
    const sum = (amount: (slot: Slot) => number): number => recent.reduce((total, slot) => total + amount(slot), 0);
    return {
      sent: sum(({ sent }) => sent),
      accepted: sum(({ accepted }) => accepted),
      refused: sum(({ refused }) => refused),
      used: { input_tokens: sum(({ input_tokens }) => input_tokens), output_tokens: sum(({ output_tokens }) => output_tokens) },
    };
  }

  /** Requests of a party that were accepted in the last minute. */
  accepted(party: string, now: number): number {
    return this.#last(MINUTE_SLOTS, now).reduce((sum, { by }) => sum + (by.get(party) ?? 0), 0);
  }

  latency(now: number): LimiterView["latency_ms"] {
    const counts: number[] = [];
    for (const { latencies } of this.#last(LATENCY_SLOTS, now)) for (const [entry, count] of latencies.entries()) counts[entry] = (counts[entry] ?? 0) + count;
    const all = counts.reduce((sum, count) => sum + (count ?? 0), 0);
    return all === 0 ? null : { p50: quantile(counts, all * 0.5), p95: quantile(counts, all * 0.95), p99: quantile(counts, all * 0.99) };
  }

  #last(slots: number, now: number): readonly Slot[] {
    const current = Math.floor(now / SLOT_MS);
    return this.#slots.filter(({ number }) => number > current - slots && number <= current);
  }

  #slot(now: number): Slot {
    const number = Math.floor(now / SLOT_MS);
    const newest = this.#slots.at(-1);
    if (newest !== undefined && newest.number >= number) return newest;
    const slot: Slot = { number, sent: 0, accepted: 0, refused: 0, input_tokens: 0, output_tokens: 0, latencies: [], by: new Map() };
    this.#slots = [...this.#slots.filter((each) => each.number > number - LATENCY_SLOTS), slot];
    return slot;
  }
}

/** Entry i counts times in [2^i, 2^(i+1)) ms; within it they are taken to lie evenly. */
function quantile(counts: readonly number[], rank: number): number {
  let below = 0;
  for (const [entry, count = 0] of counts.entries()) {
    if (below + count >= rank && count > 0) return Math.round(2 ** entry * (1 + (rank - below) / count));
    below += count;
  }
  return 2 ** counts.length;
}
