import { panelNumber } from "../../../report/text/format.ts";
import { signedText } from "../../../report/text/signed-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import type { Schedule, ScheduleEvent, SeriesEntry } from "../../api/schedule-answers.ts";
import { utcText } from "../../design/times.ts";
import type { ChartMark, LinePlot } from "../../design/chart/plot.ts";
import type { ScheduleView } from "./schedule-view.ts";

/** The series of a schedule as a chart. */

export interface SeriesPlot {
  readonly plot: LinePlot;
  readonly says: string;
  /** Run of each place, in the order of the plot. */
  readonly runs: readonly string[];
}

interface SeriesWish {
  readonly measure: ScheduleView["measure"];
  /** The newest so many runs; null = all. */
  readonly span: number | null;
}

interface Place {
  readonly at: number;
  readonly run: string;
  readonly value: number;
  readonly ci95: readonly [number, number] | null;
}

/** Events that say of the numbers after them that they are not as those before: what is looked for, and what the ruler is. */
const MARKS: Readonly<Record<string, string>> = {
  "drift.began": "New baseline",
  "drift.worse": "Worse",
  "drift.better": "Better",
  "drift.steady": "Steady again",
  "data.changed": "Other data",
  "code.changed": "Other code",
  "model.changed": "Other model answers",
  "schedule.changed": "Other definition",
};

/** Null where no run has such a number. */
export function seriesPlot({ series, events, definition, drift }: Schedule, { measure, span }: SeriesWish): SeriesPlot | null {
  const all = series.flatMap((entry) => placeOf(entry, measure) ?? []).sort((a, b) => a.at - b.at);
  const places = span === null ? all : all.slice(-span);
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return null;
  const ends = (end: 0 | 1): readonly number[] => places.map(({ ci95 }) => ci95?.[end] ?? Number.NaN);
  const metric = singleLine(definition.drift.metric);
  const name = measure === "reward" ? "Mean reward" : `${metric} less its baseline`;
  const marks = marksOf(events, series).filter(({ at }) => places.length === all.length || at >= first.at);
  const baseline = measure === "reward" && definition.drift.metric === "reward" ? baselineOf(series) : null;
  const level = measure === "difference" ? { at: 0, name: "The baseline" } : baseline === null ? null : { at: baseline, name: "The baseline" };
  const plot: LinePlot = {
    kind: "lines",
    x: { name: "Due", text: (at) => utcText(new Date(at).toISOString()), isTime: true },
    y: { name, text: measure === "reward" ? panelNumber : signedText },
    xs: places.map(({ at }) => at),
    lines: [{ name, ys: places.map(({ value }) => value), low: ends(0), high: ends(1), look: "dots" }],
    marks,
    ...(level === null ? {} : { levels: [level] }),
  };
  const newest = measure === "reward" ? panelNumber(last.value) : signedText(last.value);
  const between = last.ci95 === null ? "" : ` (95 %: ${intervalText(last.ci95)})`;
  const standing = drift === null ? "" : ` The series is ${drift.verdict}${drift.since === null ? "" : ` since run ${drift.since}`}.`;
  const marked = marks.length === 0 ? "" : ` ${marks.length === 1 ? "One change is" : `${marks.length} changes are`} marked.`;
  return {
    plot,
    says: `${places.length === 1 ? "One run" : `${places.length} runs`}, the newest ${newest}${between}.${standing}${marked}`,
    runs: places.map(({ run }) => run),
  };
}

function placeOf({ due_at, run_id, reward, reward_ci95, drift }: SeriesEntry, measure: ScheduleView["measure"]): Place | null {
  if (run_id === null) return null;
  const [at, run] = [Date.parse(due_at), run_id];
  if (measure === "reward") return reward === null ? null : { at, run, value: reward, ci95: reward_ci95 };
  return drift !== null && "difference" in drift ? { at, run, value: drift.difference, ci95: drift.ci95 } : null;
}

/** Mean of the baseline, as the newest comparison has it. */
function baselineOf(series: readonly SeriesEntry[]): number | null {
  const judged = series.map(({ drift }) => drift).find((each) => each !== null && "baseline" in each);
  return judged !== undefined && judged !== null && "baseline" in judged ? judged.baseline : null;
}

/** What is told of a run stands at its due time; of everything else when it happened. */
function marksOf(events: readonly ScheduleEvent[], series: readonly SeriesEntry[]): readonly ChartMark[] {
  const due = new Map(series.flatMap(({ run_id, due_at }) => (run_id === null ? [] : [[run_id, due_at] as const])));
  return events
    .flatMap(({ type, at, detail }) => {
      const name = MARKS[type];
      if (name === undefined) return [];
      const of = typeof detail.since === "string" ? detail.since : detail.run_id;
      return [{ at: Date.parse((typeof of === "string" ? due.get(of) : undefined) ?? at), name }];
    })
    .sort((a, b) => a.at - b.at);
}
