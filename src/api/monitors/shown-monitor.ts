import type { MonitorFacts, MonitorView, StoredHistory } from "../../../durable-objects/monitor/monitor-control.ts";
import { mask } from "../../errors/masking.ts";

/** A monitor as the service shows it. */

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** Names of members that are moments. */
const MOMENTS = ["last_beat", "lost_at", "until"];

function entryShown({ seq, at, entry }: StoredHistory) {
  const { type, ...detail } = entry;
  const shown = Object.entries(detail).map(([name, value]) => {
    if (MOMENTS.includes(name) && typeof value === "number") return [name, iso(value)];
    return [name, typeof value === "string" ? mask(value) : value];
  });
  return { seq, at: iso(at), type, detail: Object.fromEntries(shown) as Record<string, unknown> };
}

/** `watched`: whether this service watches. */
export const factsShown = (
  { name, definition: { every, grace }, standing, since, beat_at, losses, paused, created_by, created_at, updated_at }: MonitorFacts,
  watched: boolean,
) => ({
  name,
  every,
  grace,
  state: paused === null ? standing : ("paused" as const),
  since: iso(paused === null ? since : paused.at),
  last_beat_at: isoOrNull(beat_at),
  losses,
  paused: paused === null ? null : { at: iso(paused.at), by: paused.by, reason: mask(paused.reason) },
  created_by,
  created_at: iso(created_at),
  updated_at: iso(updated_at),
  watched,
});

export const monitorShown = (view: MonitorView, watched: boolean) => ({ ...factsShown(view, watched), history: view.history.map(entryShown) });
