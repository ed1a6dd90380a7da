import type { Slice } from "../../metrics/one-run/breakdown.ts";
import { columnLines } from "../text/columns.ts";
import { fixed } from "../text/format.ts";
import { intervalText } from "./uncertainty.ts";

/** Values that are shown; the smallest are counted. */
const SHOWN = 40;

/** The reward by what examples have under `key`: a table, the largest slice first. */
export function breakdownLines(key: string, slices: readonly Slice[], width: number): readonly string[] {
  const rows = slices
    .slice(0, SHOWN)
    .map(({ value, examples, rollouts, errored, reward: { mean, ci95 } }) => [
      value,
      String(examples),
      String(rollouts),
      errored === 0 ? "" : String(errored),
      errored === rollouts ? "none" : fixed(mean, 3),
      ci95 === null ? "-" : intervalText(ci95),
    ]);
  const columns = [
    { title: key, flexible: true },
    { title: "examples", align: "right" as const },
    { title: "rollouts", align: "right" as const },
    { title: "errors", align: "right" as const },
    { title: "reward", align: "right" as const },
    { title: "95% interval" },
  ];
  const more = slices.length - SHOWN;
  return [...columnLines(columns, rows, width), ...(more > 0 ? [`… ${more} more values, of fewer rollouts each`] : [])];
}
