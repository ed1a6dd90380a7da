import { thousands } from "../../../report/text/format.ts";
import type { SamplesView } from "../../address/samples-view.ts";
import type { SamplesList } from "../../samples/samples-list.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";

interface SamplesCountProps {
  readonly source: SamplesSource;
  readonly list: SamplesList;
  readonly view: SamplesView;
}

/** How many rollouts are listed, of how many that are there, of how many that are to be. */
export function SamplesCount({ source, list, view }: SamplesCountProps) {
  // Another one with each line that comes.
  void source.version.value;
  const table = source.table.value;
  const rows = list.rows.value;
  if (table === null || rows === null) return null;
  const there = table.done + table.open;
  if (there === 0 && !source.isWhole.value) return null;
  const parts = [`${thousands(there)} ${there === 1 ? "rollout" : "rollouts"}`];
  if (view.filter.trim() !== "") parts.unshift(`${thousands(rows.length)} ${view.attempts ? "examples" : ""} found of`);
  if (there < table.rows - table.missing) parts.push(`of ${thousands(table.rows)}`);
  if (table.open > 0) parts.push(`(${thousands(table.open)} not counted yet)`);
  if (table.missing > 0) parts.push(`(${thousands(table.missing)} missing)`);
  return (
    <p class="count" role="status">
      {parts.join(" ").replaceAll("  ", " ")}
    </p>
  );
}
