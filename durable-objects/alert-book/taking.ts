import { hear, isWanted } from "../../src/alerts/telling.ts";
import type { Occurrence } from "../../src/alerts/occurrence.ts";
import { MAX_WAITING_MESSAGES } from "../../src/limits.ts";
import type { AlertBookStore, StoredAlert } from "./alert-book-store.ts";

/** A message for each alert that wants to know of it, unless it is told already or no news. `now`: Unix milliseconds. */
export function takeOccurrence(store: AlertBookStore, occurrence: Occurrence, alerts: readonly StoredAlert[], drawId: () => string, now: number): void {
  const { id, condition } = occurrence;
  const wanting = alerts.filter(({ definition, disabled }) => disabled === null && isWanted(definition, occurrence));
  // What nobody wants and what lasts no time leaves nothing.
  if (condition === undefined && wanting.length === 0) return;
  if (!store.noteOccurrence(id, now)) return;
  const heard = hear(condition === undefined ? null : store.condition(condition.key), occurrence);
  if (condition !== undefined && heard.known !== null) store.putCondition(condition.key, heard.known);
  if (!heard.isNews) return;
  for (const alert of wanting) {
    if (heard.madeBefore !== null && alert.created_at > heard.madeBefore) continue;
    store.addDelivery(drawId(), alert, occurrence, now);
    store.keepNewest(alert.id, MAX_WAITING_MESSAGES);
  }
}
