import type { Occurrence } from "../alerts/occurrence.ts";
import type { DriftEvent } from "./series.ts";

/** What alerts are to know of a series. Pure; times are Unix milliseconds. */

/** Whose series it is. */
export interface SeriesOwner {
  readonly name: string;
  /** Another schedule of the same name has another one. */
  readonly id: string;
  readonly env: string | null;
}

const DIRECTIONS = ["worse", "better"] as const;
type Direction = (typeof DIRECTIONS)[number];

/** That a series is worse, and that it is better, last until it is not so any more, or begins anew. `alerting`: keys of what lasts already. */
export function driftOccurrences(
  { name, id, env }: SeriesOwner,
  events: readonly DriftEvent[],
  alerting: readonly string[],
  now: number,
): readonly Occurrence[] {
  const lasting = new Set(alerting);
  const keyOf = (direction: Direction): string => `schedule/${id}/drift/${direction}`;
  const said = (what: string, run_id: string | null, rest: Pick<Occurrence, "text" | "data" | "condition">): Occurrence => ({
    id: `schedule/${id}/drift/${run_id ?? now}/${what}`,
    type: "drift",
    at: now,
    names: [name, ...(env === null ? [] : [env.slice(0, 200)])],
    subject: { schedule: name, ...(run_id === null ? {} : { run_id }) },
    ...rest,
  });
  const ends = (directions: readonly Direction[], run_id: string | null, because: string): Occurrence[] =>
    directions
      .filter((direction) => lasting.delete(keyOf(direction)))
      .map((direction) =>
        said(`${direction}-over`, run_id, {
          text: `${name} is ${direction} no more: ${because}.`,
          data: { verdict: "steady", reason: because },
          condition: { key: keyOf(direction), state: "off" },
        }),
      );
  return events.flatMap((event) => {
    if (event.type === "drift.began") return ends(DIRECTIONS, event.run_id, `its comparisons begin anew (${event.reason})`);
    const { run_id, since, difference, ci95 } = event;
    const size = `${signed(difference)} (${signed(ci95[0])} to ${signed(ci95[1])})`;
    if (event.type === "drift.steady") return ends(DIRECTIONS, run_id, `it is at ${size} of where it was`);
    const direction = event.type === "drift.worse" ? "worse" : "better";
    const over = ends([direction === "worse" ? "better" : "worse"], run_id, `it is ${direction} now`);
    lasting.add(keyOf(direction));
    const text = `${name} is ${direction} since run ${since}: ${size} of where it was, as run ${run_id} shows.`;
    const data = { verdict: direction, since, difference, ci95: [...ci95] };
    return [...over, said(direction, run_id, { text, data, condition: { key: keyOf(direction), state: "on" } })];
  });
}

const signed = (value: number): string => `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
