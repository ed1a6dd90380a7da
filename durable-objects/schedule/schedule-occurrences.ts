import type { Occurrence } from "../../src/alerts/occurrence.ts";
import type { Note, ScheduleState, SeriesEvent } from "../../src/schedules/state.ts";

/** What alerts are to know of what a schedule decided. Pure; times are Unix milliseconds. */

const iso = (at: number): string => new Date(at).toISOString();
const MOST_TEXT = 500;

/**
 * Two things may last: due times are missed, until one is begun in time; and the schedule has paused itself, until somebody resumes it. A creation that is given up
 * is a due time that did not come, too. `alerting`: what lasts already.
 */
export function occurrencesOf(state: ScheduleState, notes: readonly Note[], alerting: readonly string[], now: number): readonly Occurrence[] {
  const { name, id, definition } = state;
  const env = definition.eval.env_id;
  const said = (what: string, text: string, rest: Pick<Occurrence, "data" | "condition">): Occurrence => ({
    id: `schedule/${id}/${what}`,
    type: "schedule.missed",
    at: now,
    names: [name, ...(typeof env === "string" ? [env.slice(0, 200)] : [])],
    subject: { schedule: name },
    text: text.slice(0, MOST_TEXT),
    ...rest,
  });
  const missing = `schedule/${id}/missed`;
  const paused = `schedule/${id}/paused`;
  const lasting = new Set(alerting);
  const begins = (key: string) => {
    lasting.add(key);
    return { key, state: "on" as const };
  };
  const ends = (key: string, what: string, text: string): readonly Occurrence[] =>
    lasting.delete(key) ? [said(what, text, { data: { reason: "over" }, condition: { key, state: "off" } })] : [];

  const ofEvent = (event: SeriesEvent): readonly Occurrence[] => {
    if (event.type === "schedule.missed") {
      const { count, first, last, caught_up } = event;
      const when = count === 1 ? `at ${iso(first)}` : `${count} times from ${iso(first)} to ${iso(last)}`;
      const text = `${name} was due ${when} and could not be begun in time; ${caught_up} of them ${caught_up === 1 ? "is" : "are"} run now.`;
      return [said(`missed/${last}`, text, { data: { reason: "missed", count, first: iso(first), last: iso(last), caught_up }, condition: begins(missing) })];
    }
    if (event.type === "schedule.failed") {
      const { due, failure } = event;
      const text = `The run of ${name} due at ${iso(due)} could not be created: ${failure.message}`;
      return [said(`failed/${due}`, text, { data: { reason: "not_created", due: iso(due), failure: failure.code }, condition: begins(missing) })];
    }
    if (event.type === "schedule.paused" && event.by === null) {
      const text = `${name} has paused itself: ${event.reason}`;
      const data = { reason: "paused", ...(event.failure === undefined ? {} : { failure: event.failure.code }) };
      return [said(`paused/${event.at}`, text, { data, condition: begins(paused) })];
    }
    if (event.type === "schedule.resumed") return ends(paused, `resumed/${now}`, `${name} was resumed by ${event.by}.`);
    return [];
  };

  return notes.flatMap((note) => {
    if (note.note === "event") return ofEvent(note.event);
    const begun = note.note === "outcome" && note.due_kind === "due" && note.outcome.kind === "run";
    return begun ? ends(missing, `in-time/${note.due}`, `${name} is begun in time again: the run of ${iso(note.due)} is made.`) : [];
  });
}
