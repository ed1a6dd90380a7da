import { DONE, OPEN } from "../../samples/columns/column-table.ts";
import { ErrorCell, NumberCell, type SampleCellProps, TextCell } from "./sample-cell.tsx";

/** One of the attempts at an example: its number, whether it failed, and in tall rows what it answered. `column`: of the number. */
export function AttemptCell({ column, table, previews, row, tall, address }: Omit<SampleCellProps, "wholeExample">) {
  const state = table.state(row);
  if (state !== DONE && state !== OPEN) return <span title={table.settled ? "Missing" : "Not done yet"}>–</span>;
  const code = table.error(row);
  const answer = tall && code === null ? <TextCell value={previews.value(table, row, "completion")} fault={previews.fault(table, row)} tall /> : null;
  return (
    <>
      <a href={address} tabIndex={-1} class="attempt">
        {code === null ? (NumberCell({ column, table, row }) ?? "no number") : <ErrorCell code={code} message={undefined} tall={false} />}
      </a>
      {answer}
    </>
  );
}
