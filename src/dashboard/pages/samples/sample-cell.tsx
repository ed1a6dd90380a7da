import { dollarsText } from "../../../report/text/cost-text.ts";
import { formatSeconds, panelNumber, thousands } from "../../../report/text/format.ts";
import { printable, singleLine } from "../../../report/text/printable.ts";
import { heatOf } from "../../design/grid/heat.ts";
import { HeatMark } from "../../design/grid/heat-mark.tsx";
import { type ColumnTable, OPEN } from "../../samples/columns/column-table.ts";
import type { PreviewStore } from "../../samples/previews.ts";
import type { SampleColumn } from "./sample-columns.ts";

export interface SampleCellProps {
  readonly column: SampleColumn;
  readonly table: ColumnTable;
  readonly previews: PreviewStore;
  readonly row: number;
  readonly tall: boolean;
  /** Address of the rollout. */
  readonly address: string;
  /** The row stands for all attempts at the example. */
  readonly wholeExample: boolean;
}

/** What one rollout says in one column. */
export function SampleCell({ column, table, previews, row, tall, address, wholeExample }: SampleCellProps) {
  const { key, kind } = column;
  if (kind === "place") return <PlaceCell table={table} row={row} address={address} wholeExample={wholeExample} />;
  if (kind === "error") return <ErrorCell code={table.error(row)} message={previews.value(table, row, key)} tall={tall} />;
  if (kind === "text") return <TextCell value={previews.value(table, row, key)} fault={previews.fault(table, row)} tall={tall} />;
  if (kind === "turns" || kind === "seconds") {
    const value = previews.value(table, row, key);
    return typeof value !== "number" ? null : kind === "turns" ? thousands(value) : formatSeconds(value);
  }
  return <NumberCell column={column} table={table} row={row} />;
}

function PlaceCell({ table, row, address, wholeExample }: Pick<SampleCellProps, "table" | "row" | "address" | "wholeExample">) {
  const place = table.placeOf(row);
  const id = table.exampleId(place.example);
  const rollout = wholeExample || table.rollouts === 1 ? null : place.rollout;
  return (
    <span class="one-line">
      <a href={address} tabIndex={-1}>
        {id === null ? `(${place.example})` : singleLine(String(id))}
        {rollout === null ? "" : ` · ${rollout}`}
      </a>
      {!wholeExample && table.state(row) === OPEN ? <span title="Generated, and not counted yet"> …</span> : null}
    </span>
  );
}

interface ErrorCellProps {
  readonly code: string | null;
  readonly message: unknown;
  readonly tall: boolean;
}

export const ErrorCell = ({ code, message, tall }: ErrorCellProps) =>
  code === null ? null : (
    <>
      <span class="one-line bad-text" title={typeof message === "string" ? singleLine(message) : undefined}>
        <span aria-hidden="true">✕</span> {code}
      </span>
      {tall && typeof message === "string" ? <span class="some-lines is-short">{printable(message)}</span> : null}
    </>
  );

interface TextCellProps {
  /** Undefined: not read yet. */
  readonly value: unknown;
  /** Why its row cannot be read; null where it can. */
  readonly fault: string | null;
  readonly tall: boolean;
}

export function TextCell({ value, fault, tall }: TextCellProps) {
  if (fault !== null)
    return (
      <span class="one-line bad-text" title={singleLine(fault)}>
        row cannot be read
      </span>
    );
  if (value === undefined) return <span class="pending">…</span>;
  if (value === null) return null;
  return tall ? <span class="some-lines">{printable(String(value))}</span> : <span class="one-line">{printable(String(value)).replaceAll("\n", " ")}</span>;
}

export function NumberCell({ column: { key, kind, tone = "plain" }, table, row }: Pick<SampleCellProps, "column" | "table" | "row">) {
  const value = table.value(key, row);
  if (Number.isNaN(value)) return null;
  if (kind === "truth") return value === 1 ? "yes" : "";
  // The 0 that a row has where nothing could be scored is no score.
  if (tone === "good" && value === 0 && table.error(row) !== null) return <span title="Not scored: the rollout ended in an error">–</span>;
  const text = kind === "dollars" ? dollarsText(value) : kind === "count" ? thousands(value) : panelNumber(value);
  return <HeatMark text={text} step={heatOf(value, table.extent(key))} tone={tone} />;
}
