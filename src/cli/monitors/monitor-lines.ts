import { columnLines, fieldLines } from "../../report/text/columns.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { ListedMonitor, ShownHistory, ShownMonitor } from "./monitor-answer.ts";

/** Monitors as a terminal shows them. */

const SHOWN_ENTRIES = 20;

const expected = ({ every, grace }: Pick<ListedMonitor, "every" | "grace">): string => `every ${every}, grace ${grace}`;
const state = ({ state: standing, paused }: ListedMonitor): string => (paused === null ? standing : `paused: ${paused.reason}`);

const historyText = ({ at, type, detail }: ShownHistory): string =>
  `${at}  ${type}  ${Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(" ")}`.trimEnd();

export function listLines(monitors: readonly ListedMonitor[], width: number): readonly string[] {
  const columns = [{ title: "MONITOR" }, { title: "STATE", flexible: true }, { title: "SINCE" }, { title: "LAST BEAT" }, { title: "EXPECTED" }];
  return columnLines(
    columns,
    monitors.map((each) => [each.name, state(each), each.since, each.last_beat_at ?? "-", expected(each)]),
    width,
  );
}

export function monitorLines(monitor: ShownMonitor): readonly string[] {
  const fields = [
    ["Monitor", monitor.name],
    ["Expected", expected(monitor)],
    ["State", `${state(monitor)} since ${monitor.since}`],
    ["Last beat", monitor.last_beat_at ?? "-"],
    ["Losses", String(monitor.losses)],
    ["By", monitor.created_by ?? "a run"],
  ] as const;
  return [...fieldLines(fields), ...monitor.history.slice(0, SHOWN_ENTRIES).map((entry) => singleLine(historyText(entry)))];
}

/** How a job says that it is alive. */
export const beatLines = (url: string): readonly string[] => [
  "The job calls this address, which is shown here and nowhere else:",
  `  ${url}`,
  `Such as:  vf-eval … --heartbeat-url ${url}`,
  `At its end:  curl '${url}?done=1'`,
];
