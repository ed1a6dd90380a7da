import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { thousands } from "../../../report/text/format.ts";
import { rolloutAddress } from "../../address/links.ts";
import { samplesQuery, type SamplesView } from "../../address/samples-view.ts";
import { useDashboard } from "../../context.ts";
import { Grid, mostRows } from "../../design/grid/grid.tsx";
import type { GridCell, GridColumn, GridHandle } from "../../design/grid/grid-parts.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import type { ColumnTable } from "../../samples/columns/column-table.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";
import { PLACE, type SampleColumn } from "./sample-columns.ts";
import { SampleCell } from "./sample-cell.tsx";
import { useGridKeys } from "./use-grid-keys.ts";
import { useKeptPlace } from "./use-kept-place.ts";

interface SamplesGridProps {
  readonly source: SamplesSource;
  readonly table: ColumnTable;
  readonly rows: Uint32Array;
  readonly columns: readonly SampleColumn[];
  readonly view: SamplesView;
  readonly go: (next: SamplesView, replaces?: boolean) => void;
}

/** Pixels of a row. */
const COMPACT = 30;
const TALL = 88;

export function SamplesGrid({ source, table, rows, columns, view, go }: SamplesGridProps) {
  const { link } = useDashboard();
  const { route } = useLocation();
  const grid = useRef<GridHandle>(null);
  const rowHeight = view.tall ? TALL : COMPACT;
  const listKey = JSON.stringify([view.filter, view.sort, view.order, view.attempts, view.tall]);
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const { active, goTo, leave } = useKeptPlace({ source, table, rows, view, listKey, grid, columns: columns.length });

  const carried = useMemo(() => samplesQuery({ ...view, at: null }), [view]);
  const addressOf = useCallback(
    (row: number) => {
      const { example, rollout } = table.placeOf(row);
      return link(rolloutAddress(source.id, example, rollout), carried);
    },
    [link, source, table, carried],
  );
  const version = source.version.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version is another table within the same
  const draw = useCallback(
    (column: GridColumn, row: number) => <SampleCell column={column as SampleColumn} table={table} row={row} address={addressOf(row)} />,
    [table, addressOf, version],
  );
  const open = (cell: GridCell): boolean => {
    const row = rows[cell.row];
    if (row === undefined) return false;
    leave(cell);
    route(addressOf(row));
    return true;
  };
  const onCell = (cell: GridCell, opens: boolean): void => {
    goTo(cell, false);
    if (opens) open(cell);
    else leave(cell);
  };
  const sortBy = (key: string): void => {
    const sort = key === PLACE ? "" : key;
    const first = sort === "" ? "asc" : "desc";
    go({ ...view, sort, order: view.sort === sort ? (view.order === "asc" ? "desc" : "asc") : first, at: null }, false);
  };
  const mark = (): boolean => {
    const row = active === null ? undefined : rows[active.row];
    if (row === undefined) return false;
    setMarked(marked.has(row) ? new Set([...marked].filter((each) => each !== row)) : new Set([...marked, row]));
    return true;
  };
  const error = (by: 1 | -1): boolean => {
    for (let at = (active?.row ?? (by === 1 ? -1 : rows.length)) + by; at >= 0 && at < rows.length; at += by) {
      if (table.error(rows[at] ?? 0) !== null) return goTo({ row: at, column: active?.column ?? 0 });
    }
    return false;
  };
  useGridKeys({ count: Math.min(rows.length, mostRows(rowHeight)), columns: columns.length, active, page: () => grid.current?.page() ?? 1, go: goTo });
  useShortcuts([
    { keys: ["Enter"], does: "Open the rollout", run: () => active !== null && grid.current?.isFocused() === true && open(active) },
    { keys: ["x"], does: "Mark the rollout", run: mark },
    { keys: ["n"], does: "Next error", run: () => error(1) },
    { keys: ["p"], does: "Error before", run: () => error(-1) },
    {
      keys: ["s"],
      does: "Sort by the column",
      run: () => {
        const column = columns[active?.column ?? -1];
        if (column?.sorts !== true) return false;
        sortBy(column.key);
        return true;
      },
    },
  ]);
  return (
    <>
      <Grid
        label="Rollouts"
        columns={columns}
        keys={rows}
        listKey={listKey}
        rowHeight={rowHeight}
        active={active}
        marked={marked}
        sort={{ key: view.sort === "" ? PLACE : view.sort, order: view.order }}
        busy={!source.isWhole.value}
        draw={draw}
        onSort={sortBy}
        onCell={onCell}
        onWindow={useCallback(() => undefined, [])}
        handle={grid}
      />
      {rows.length > mostRows(rowHeight) ? (
        <p role="status">
          The first {thousands(mostRows(rowHeight))} of {thousands(rows.length)} are listed: a filter, or another order, leads to the others.
        </p>
      ) : null}
    </>
  );
}
