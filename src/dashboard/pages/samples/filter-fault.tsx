import { singleLine } from "../../../report/text/printable.ts";
import type { FilterProblem } from "../../samples/filter/filter.ts";

interface FilterFaultProps {
  readonly id: string;
  readonly filter: string;
  readonly problem: FilterProblem;
}

/** Characters before and behind what is wrong. */
const AROUND = 40;

/** What is wrong with a filter: the place is marked, and what may stand there named. */
export function FilterFault({ id, filter, problem: { span, text, allowed } }: FilterFaultProps) {
  const { start, end } = span;
  return (
    <p id={id} class="filter-fault" role="alert">
      <code>
        {start > AROUND ? "…" : ""}
        {singleLine(filter.slice(Math.max(0, start - AROUND), start))}
        <mark>{start === end ? "‸" : singleLine(filter.slice(start, end).slice(0, AROUND))}</mark>
        {singleLine(filter.slice(end, end + AROUND))}
      </code>{" "}
      At character {start + 1}: {singleLine(text)}
      {allowed.length === 0 ? null : <> Allowed: {allowed.map(singleLine).join(", ")}.</>}
    </p>
  );
}
