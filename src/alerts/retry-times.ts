/**
 * When a message that was not taken is sent again: the waits that the Standard Webhooks specification proposes ("Deliverability and reliability"), so that a
 * day is covered. Pure; times are Unix milliseconds.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** From the first attempt to each of the others. */
export const RETRY_AFTER_MS: readonly number[] = [5_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 19 * HOUR, 24 * HOUR];

/** A part of each wait, so that what failed together is not sent again together. */
const SPREAD = 0.1;

/** Longest that a receiver may ask for by `Retry-After`. */
const MOST_ASKED_MS = HOUR;

export interface Tried {
  /** Of the message when it was first sent. */
  readonly first_at: number;
  /** Attempts there were, this one counted. */
  readonly tries: number;
  /** What the receiver asked for; null = nothing. */
  readonly asked_ms: number | null;
}

/** When the next attempt is due; null: there is none. `draw`: 0 to 1. */
export function nextAttempt({ first_at, tries, asked_ms }: Tried, now: number, draw: number): number | null {
  const after = RETRY_AFTER_MS[tries - 1];
  if (after === undefined) return null;
  const before = RETRY_AFTER_MS[tries - 2] ?? 0;
  const due = first_at + after + Math.round((after - before) * SPREAD * draw);
  // One that was late is not followed by all that it was late for.
  const least = now + Math.min(after - before, 5_000);
  return Math.max(due, least, asked_ms === null ? 0 : now + Math.min(asked_ms, MOST_ASKED_MS));
}

const REST = { first: 5_000, last: 5 * MINUTE };

/** How long a receiver that did not take the last so many messages is left alone, whatever waits for it. */
export const restAfter = (failures: number): number => (failures === 0 ? 0 : Math.min(REST.last, REST.first * 2 ** Math.min(failures - 1, 10)));
