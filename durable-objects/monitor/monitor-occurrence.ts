import type { Occurrence } from "../../src/alerts/occurrence.ts";
import type { MonitorState, Telling } from "../../src/monitors/state.ts";

/** What alerts are told when a monitor is lost or back. `now`: Unix milliseconds. */
export function occurrenceOf(
  { name, id, definition: { every, grace }, created_at }: MonitorState,
  { state, number, last_beat, reason }: Telling,
  now: number,
): Occurrence {
  const beat = last_beat === null ? "no beat has come" : `the last known beat was at ${new Date(last_beat).toISOString()}`;
  const text =
    state === "lost"
      ? `Monitor ${name} is lost: ${reason ?? `${beat}, and one is expected every ${every} (grace ${grace})`}.`
      : `Monitor ${name} is back: ${reason ?? "a beat has come"}.`;
  return {
    // The object may be made anew under its id; the numbers of its losses begin again then.
    id: `heartbeat.${state} ${id} ${created_at} ${number}`,
    type: `heartbeat.${state}`,
    at: now,
    names: [name],
    subject: { monitor: name },
    condition: { key: `monitor ${id}`, state: state === "lost" ? "on" : "off" },
    text,
    data: { monitor: name, every, grace, last_beat_at: last_beat === null ? null : new Date(last_beat).toISOString(), reason },
  };
}
