/** What of a schedule is shown, as its address keeps it. */

export const MEASURES = ["reward", "difference"] as const;
/** `difference`: each run less what it is held against. */
export type Measure = (typeof MEASURES)[number];

/** The newest so many runs; null = all that there are. */
export const SPANS = [30, 100, null] as const;

export interface ScheduleView {
  readonly measure: Measure;
  readonly span: (typeof SPANS)[number];
  /** Ids of runs that are chosen to be compared, in the order in which they were chosen. */
  readonly chosen: readonly string[];
}

/** Runs that one comparison of this page takes. */
const MOST_CHOSEN = 2;

/** What an address means; whatever it says wrong is as if it did not say it. */
export function scheduleViewOf({ metric, last = "", chosen = "" }: Readonly<Record<string, string | undefined>>): ScheduleView {
  const ids = chosen.split(",").filter((id) => /^[0-9a-f]{8}$/.test(id));
  return {
    measure: MEASURES.find((each) => each === metric) ?? "reward",
    span: last === "all" ? null : (SPANS.find((each) => String(each) === last) ?? 100),
    chosen: [...new Set(ids)].slice(0, MOST_CHOSEN),
  };
}

/** As an address says it: what is as usual is left out. */
export function addressOfView({ measure, span, chosen }: ScheduleView): Readonly<Record<string, string>> {
  return {
    ...(measure === "reward" ? {} : { metric: measure }),
    ...(span === 100 ? {} : { last: span === null ? "all" : String(span) }),
    ...(chosen.length === 0 ? {} : { chosen: chosen.join(",") }),
  };
}

/** A run is added to those that are chosen, or taken from them; a third takes the place of the one chosen before it. */
export function toggledRun({ chosen }: ScheduleView, id: string): readonly string[] {
  if (chosen.includes(id)) return chosen.filter((each) => each !== id);
  return [...chosen.slice(0, MOST_CHOSEN - 1), id];
}
