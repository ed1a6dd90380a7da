import { columnLines, fieldLines } from "../../report/text/columns.ts";
import { singleLine } from "../../report/text/printable.ts";
import { sparkline } from "../../report/statistics/sparkline.ts";
import { driftText, verdictText } from "../../report/schedules/drift-text.ts";
import { detailText } from "../../report/schedules/detail-text.ts";
import { timingText } from "../../report/schedules/timing-text.ts";
import type { ListedEntry, ListedEvent, ListedSchedule, ShownSchedule } from "./schedule-answer.ts";

/** Schedules as a terminal shows them. */

/** Runs that the line of bars shows. */
const BARS = 60;
const SHOWN_ENTRIES = 10;
const SHOWN_EVENTS = 5;

const state = ({ paused, active, next }: ListedSchedule): string => {
  if (paused !== null) return `paused: ${paused.reason}`;
  if (active !== null) return active.run_id === null ? `beginning${active.failure === null ? "" : `: ${active.failure.message}`}` : `run ${active.run_id}`;
  return next.length === 0 ? "over" : "waits";
};

const cameTo = ({ outcome, status, reward, run_id, reason, removed }: ListedEntry): string =>
  outcome === "run" ? `${run_id} ${status ?? (removed ? "gone" : "at work")}${reward === null ? "" : ` ${reward.toFixed(3)}`}` : `${outcome}: ${reason}`;

const eventText = ({ at, type, detail }: ListedEvent): string => `${at}  ${type}  ${detailText(detail)}`;

export function listLines(schedules: readonly ListedSchedule[], width: number): readonly string[] {
  const columns = [{ title: "SCHEDULE" }, { title: "WHEN" }, { title: "NEXT" }, { title: "STATE", flexible: true }, { title: "LAST", flexible: true }];
  const rows = schedules.map((each) => [
    each.name,
    timingText(each.definition),
    each.next[0] ?? "-",
    state(each),
    each.last === null ? "-" : cameTo(each.last),
  ]);
  return columnLines(columns, rows, width);
}

/** What is said of one that was just added: when it comes. */
export const nextLines = ({ next }: Pick<ListedSchedule, "next">): readonly string[] =>
  next.length === 0 ? ["Nothing is due."] : ["Next:", ...next.map((time) => `  ${time}`)];

export function scheduleLines(schedule: ShownSchedule, width: number): readonly string[] {
  const { definition, series, events, pinned_dataset_digest: pinned, env_digest: code } = schedule;
  const runs = series.filter(({ outcome }) => outcome === "run").slice(0, BARS);
  const fields = [
    ["Schedule", schedule.name],
    ["When", timingText(definition)],
    ["State", state(schedule)],
    ["Policy", `overlap ${definition.overlap}, catch up ${definition.catch_up}${definition.keep === undefined ? "" : `, keep ${definition.keep}`}`],
    ["Until", definition.until ?? "-"],
    ["Evaluation", JSON.stringify(definition.eval)],
    ["Data", definition.data === "latest" ? "latest" : (pinned ?? "those of the first run")],
    ["Code", code ?? "-"],
    ["Drift", driftText(schedule)],
    ["By", schedule.created_by],
    ["Waiting", String(schedule.waiting.length)],
  ] as const;
  const rewards = runs.map(({ reward }) => reward).reverse();
  const known = rewards.filter((reward) => reward !== null);
  return [
    ...fieldLines(fields),
    ...nextLines(schedule),
    ...(known.length === 0 ? [] : [`Reward: ${sparkline(rewards)} ${Math.min(...known).toFixed(3)} to ${Math.max(...known).toFixed(3)}, the newest last`]),
    ...(series.length === 0
      ? ["No due time has come."]
      : columnLines(
          [{ title: "DUE" }, { title: "KIND" }, { title: "CAME TO", flexible: true }, { title: "DRIFT", flexible: true }],
          series.slice(0, SHOWN_ENTRIES).map((entry) => [entry.due_at, entry.kind, cameTo(entry), verdictText(entry.drift)]),
          width,
        )),
    // Its runs stand above.
    ...events
      .filter(({ type }) => !type.startsWith("run."))
      .slice(0, SHOWN_EVENTS)
      .map((event) => singleLine(eventText(event))),
  ];
}

/** Due times that passed while nobody kept schedules. */
export function missedLine({ name, missed, definition }: Pick<ListedSchedule, "name" | "missed" | "definition">): string {
  const { count, first, last, caught_up } = missed?.detail ?? {};
  const when = first === last ? `was due at ${String(first)}` : `was due ${String(count)} times from ${String(first)} to ${String(last)}`;
  const follows = caught_up === 0 ? "none of them is run" : `${String(caught_up)} of them ${caught_up === 1 ? "is" : "are"} run now`;
  return singleLine(`schedule ${name} ${when}, and no service ran then (catch_up = ${definition.catch_up}: ${follows})`);
}
