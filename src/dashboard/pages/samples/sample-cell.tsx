import { dollarsText } from "../../../report/text/cost-text.ts";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { heatOf } from "../../design/grid/heat.ts";
import { HeatMark } from "../../design/grid/heat-mark.tsx";
import { type ColumnTable, OPEN } from "../../samples/columns/column-table.ts";
import type { SampleColumn } from "./sample-columns.ts";

interface SampleCellProps {
  readonly column: SampleColumn;
  readonly table: ColumnTable;
  readonly row: number;
  /** Address of the rollout. */
  readonly address: string;
}

/** What one rollout says in one column. */
export function SampleCell({ column, table, row, address }: SampleCellProps) {
  if (column.kind === "place") return <PlaceCell table={table} row={row} address={address} />;
  if (column.kind === "error") return <ErrorCell code={table.error(row)} />;
  return <NumberCell column={column} table={table} row={row} />;
}

function PlaceCell({ table, row, address }: Omit<SampleCellProps, "column">) {
  const { example, rollout } = table.placeOf(row);
  const id = table.exampleId(example);
  return (
    <span class="one-line">
      <a href={address} tabIndex={-1}>
        {id === null ? `(${example})` : singleLine(String(id))}
        {table.rollouts === 1 ? "" : ` · ${rollout + 1}`}
      </a>
      {table.state(row) === OPEN ? <span title="Generated, and not counted yet"> …</span> : null}
    </span>
  );
}

const ErrorCell = ({ code }: { readonly code: string | null }) =>
  code === null ? null : (
    <span class="one-line bad-text">
      <span aria-hidden="true">✕</span> {code}
    </span>
  );

function NumberCell({ column: { key, kind, tone = "plain" }, table, row }: Omit<SampleCellProps, "address">) {
  const value = table.value(key, row);
  if (Number.isNaN(value)) return null;
  if (kind === "truth") return value === 1 ? "yes" : "";
  const text = kind === "dollars" ? dollarsText(value) : kind === "count" ? thousands(value) : panelNumber(value);
  return <HeatMark text={text} step={heatOf(value, table.extent(key))} tone={tone} />;
}
