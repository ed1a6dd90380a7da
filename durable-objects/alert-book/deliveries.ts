import { type Attempt, type Verdict, verdictOf } from "../../src/alerts/answer.ts";
import { nextAttempt, RETRY_AFTER_MS, restAfter } from "../../src/alerts/retry-times.ts";
import type { AlertBookStore, StoredAlert, StoredDelivery } from "./alert-book-store.ts";

/** What becomes of messages: who is sent for them, and what an attempt leaves. Times are Unix milliseconds. */

/** Messages of one receiver that are under way at once; one that did not take the last is tried by one. */
const LANES = 4;
/** Whoever is sent for a message has begun by then, and whoever began it has told what came of it by then. */
export const HELD_MS = 60_000;
/** Attempts that a message keeps. */
const MOST_ATTEMPTS = 15;
/** A message waits no longer for a receiver that takes none. */
const OVER_MS = (RETRY_AFTER_MS.at(-1) ?? 0) + 3_600_000;

const freeLanes = (store: AlertBookStore, { id, failures }: StoredAlert, now: number): number => (failures > 0 ? 1 : LANES) - store.held(id, now);

/** Messages that somebody is to be sent for now; each is held, so that nobody else is. */
export function takeDue(store: AlertBookStore, now: number): string[] {
  return store.alerts().flatMap((alert) => {
    if (alert.disabled !== null || alert.rests_until > now) return [];
    const free = freeLanes(store, alert, now);
    const due = free <= 0 ? [] : store.due(alert.id, now, free);
    for (const id of due) store.hold(id, now + HELD_MS);
    return due;
  });
}

/** When somebody is to look again; null = nothing waits. */
export function nextLook(store: AlertBookStore, now: number): number | null {
  const times = store.alerts().flatMap((alert) => {
    if (alert.disabled !== null) return [];
    const next = freeLanes(store, alert, now) > 0 ? store.nextOf(alert.id) : store.heldUntil(alert.id, now);
    return next === null ? [] : [Math.max(next, alert.rests_until)];
  });
  return times.length === 0 ? null : Math.min(...times);
}

/** Somebody begins with a message; null where it is not to be sent now. One that was begun and never heard of again is begun anew. */
export function begun(store: AlertBookStore, id: string, now: number): StoredDelivery | null {
  const delivery = store.delivery(id);
  if (delivery === null || delivery.next_at === null || delivery.next_at > now || (delivery.begun && delivery.held_until > now)) return null;
  const after = { ...delivery, begun: true, held_until: now + HELD_MS, tries: delivery.tries + 1, first_at: delivery.tries === 0 ? now : delivery.first_at };
  store.putDelivery(after);
  return after;
}

/** What came of an attempt. `draw`: 0 to 1. Says what it means, or null where it counts for nothing: another attempt was begun meanwhile. */
export function ended(store: AlertBookStore, alert: StoredAlert, delivery: StoredDelivery, result: Attempt, now: number, draw: number): Verdict {
  const verdict = verdictOf(result);
  const attempts = [...delivery.attempts, result].slice(-MOST_ATTEMPTS);
  const next = verdict === "again" ? nextAttempt({ first_at: delivery.first_at, tries: delivery.tries, asked_ms: result.asked_ms }, now, draw) : null;
  const over = next === null || now - delivery.first_at > OVER_MS;
  const state = verdict === "taken" ? "delivered" : over ? "failed" : "waiting";
  store.putDelivery({ ...delivery, state, next_at: state === "waiting" ? next : null, attempts, begun: false, held_until: 0 });
  const failures = verdict === "taken" ? 0 : alert.failures + 1;
  const disabled = verdict === "gone" ? { at: now, reason: "the receiver said that it is gone (410)" } : alert.disabled;
  if (failures > 0 || alert.failures > 0) store.putAlert({ ...alert, failures, rests_until: failures === 0 ? 0 : now + restAfter(failures), disabled });
  if (verdict !== "taken") store.giveUp(alert.id, verdict === "gone" ? now : now - OVER_MS);
  return verdict;
}
