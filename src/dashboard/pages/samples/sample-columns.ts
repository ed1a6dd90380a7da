import { metricColumn, metricOf, STANDARD_COLUMNS } from "../../../cells/column-names.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { GridColumn } from "../../design/grid/grid-column.ts";
import type { HeatTone } from "../../design/grid/heat.ts";
import { ROLLOUT, TOKENS } from "../../samples/filter/names.ts";

/** How a cell of a column is drawn. `preview`: what the service reads out of the row, for rows that are seen. */
export type SampleKind = "place" | "number" | "count" | "dollars" | "error" | "truth" | "text" | "turns" | "seconds";

export interface SampleColumn extends GridColumn {
  readonly kind: SampleKind;
  readonly tone?: HeatTone;
}

export const PLACE = "example";
const NUMBER = 104;
const TEXT = 180;
/** Metrics that are shown where nobody chose columns. */
const USUAL_METRICS = 6;

const number = (key: string, title: string, kind: SampleKind, tone?: HeatTone): SampleColumn => ({
  ...{ key, title, kind, width: NUMBER, align: "end", sorts: true },
  ...(tone === undefined ? {} : { tone }),
});
const text = (key: string, title: string): SampleColumn => ({ key, title, kind: "text", width: TEXT, grows: true, sorts: false });

const FIXED: readonly SampleColumn[] = [
  { key: PLACE, title: "Example", kind: "place", width: 112, sorts: true },
  text("prompt", "Prompt"),
  text("completion", "Completion"),
  { ...text("answer", "Answer"), width: 110 },
  number("reward", "Reward", "number", "good"),
  { key: "error", title: "Error", kind: "error", width: 130, sorts: true },
  number("truncated", "Cut off", "truth"),
  number(TOKENS, "Tokens", "count", "plain"),
  number("cost", "Cost", "dollars", "plain"),
  { ...number("turns", "Turns", "turns"), sorts: false },
  { ...number("seconds", "Time", "seconds"), sorts: false },
  { key: "stop_condition", title: "Stop condition", kind: "text", width: 160, sorts: false },
];
const BEFORE_METRICS = 6;
const DOLLARS: readonly string[] = ["cost", "judge_cost"];
/** What stands in place of all others on a phone. */
const NARROW: readonly string[] = [PLACE, "reward", "completion", "error"];
const INFO = "info.";

/** Every column that a run can show. `infoKeys`: those that were seen. */
export function allColumns(metrics: readonly string[], infoKeys: readonly string[]): readonly SampleColumn[] {
  const known = new Set([...FIXED.map(({ key }) => key), ROLLOUT]);
  const standard = STANDARD_COLUMNS.filter((key) => !known.has(key));
  return [
    ...FIXED.slice(0, BEFORE_METRICS),
    ...metrics.filter((metric) => metric !== "reward").map((metric) => number(metricColumn(metric), singleLine(metric), "number", "good")),
    ...FIXED.slice(BEFORE_METRICS),
    ...standard.map((key) => number(key, titleOf(key), DOLLARS.includes(key) ? "dollars" : "count", "plain")),
    ...infoKeys.map((key) => text(INFO + key, singleLine(INFO + key))),
  ];
}

/** Columns that are shown. `chosen` null: the usual ones. What is chosen and not known yet is there once it is. */
export function shownColumns(all: readonly SampleColumn[], chosen: readonly string[] | null, isNarrow: boolean): readonly SampleColumn[] {
  const place = all.filter(({ key }) => key === PLACE);
  if (chosen !== null) return [...place, ...chosen.flatMap((key) => (key === PLACE ? [] : (all.find((each) => each.key === key) ?? madeOf(key) ?? [])))];
  if (isNarrow) return NARROW.flatMap((key) => all.find((each) => each.key === key) ?? []);
  let metrics = 0;
  const usual = [...FIXED.map(({ key }) => key).filter((key) => key !== "truncated" && key !== "stop_condition")];
  return all.filter(({ key }) => usual.includes(key) || (metricOf(key) !== null && ++metrics <= USUAL_METRICS));
}

/** A key of `info` that nobody saw yet is a column all the same. */
const madeOf = (key: string): SampleColumn | null => (key.startsWith(INFO) && key.length > INFO.length ? text(key, singleLine(key)) : null);

const titleOf = (key: string): string => {
  const words = key.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
};
