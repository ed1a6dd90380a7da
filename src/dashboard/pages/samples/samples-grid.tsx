import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { thousands } from "../../../report/text/format.ts";
import { rolloutAddress, runAddress } from "../../address/links.ts";
import { samplesQuery } from "../../address/samples-view.ts";
import { useDashboard } from "../../context.ts";
import { Grid, mostRows } from "../../design/grid/grid.tsx";
import type { GridColumn } from "../../design/grid/grid-column.ts";
import type { GridCell, GridHandle } from "../../design/grid/grid-parts.ts";
import { Failure } from "../../design/notice.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import type { ColumnTable } from "../../samples/columns/column-table.ts";
import { PreviewStore } from "../../samples/previews.ts";
import { AttemptCell } from "./attempt-cell.tsx";
import type { AttemptColumn } from "./attempt-columns.ts";
import { MarkedSamples } from "./marked-samples.tsx";
import { SampleCell } from "./sample-cell.tsx";
import { PLACE, type SampleColumn } from "./sample-columns.ts";
import type { SamplesProps } from "./samples-props.ts";
import { useGridKeys } from "./use-grid-keys.ts";
import { useKeptPlace } from "./use-kept-place.ts";

interface SamplesGridProps extends Pick<SamplesProps, "source" | "view" | "go"> {
  readonly table: ColumnTable;
  readonly rows: Uint32Array;
  readonly columns: readonly (SampleColumn | AttemptColumn)[];
  /** What attempts say of themselves. */
  readonly measure: SampleColumn;
  /** Beyond the last column, or the first. */
  readonly beyond: (by: 1 | -1) => boolean;
}

/** Pixels of a row. */
const COMPACT = 30;
const TALL = 88;

/** The attempt that a column is of. */
const attemptOf = (column: GridColumn | undefined): number | null => (column !== undefined && "attempt" in column ? (column as AttemptColumn).attempt : null);
/** What is asked of rows beside their numbers. */
const PREVIEWED: readonly SampleColumn["kind"][] = ["text", "turns", "seconds", "error"];

export function SamplesGrid({ source, table, rows, columns, measure, view, go, beyond }: SamplesGridProps) {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const grid = useRef<GridHandle>(null);
  const { tall, attempts } = view;
  const rowHeight = tall ? TALL : COMPACT;
  const listKey = JSON.stringify([view.filter, view.sort, view.order, attempts, tall]);
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const previews = useMemo(() => new PreviewStore(source.id, api), [source, api]);
  useEffect(() => () => previews.close(), [previews]);

  const rowAt = ({ row, column }: GridCell): number | null => {
    const key = rows[row];
    return key === undefined ? null : key + (attemptOf(columns[column]) ?? 0);
  };
  const indexOf = (row: number): number => rows.indexOf(attempts ? row - (row % table.rollouts) : row);
  const { active, goTo, leave } = useKeptPlace({ source, table, view, listKey, grid, columns: columns.length, rowAt, indexOf });

  const carried = useMemo(() => samplesQuery({ ...view, at: null }), [view]);
  const addressOf = useCallback(
    (row: number) => {
      const { example, rollout } = table.placeOf(row);
      return link(rolloutAddress(source.id, example, rollout), carried);
    },
    [link, source, table, carried],
  );
  // Another version is another table, or other texts, within the same.
  const versions = `${source.version.value} ${previews.version.value}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const draw = useCallback(
    (column: GridColumn, key: number) => {
      const attempt = attemptOf(column);
      const row = key + (attempt ?? 0);
      const of = { table, previews, row, tall, address: addressOf(row) };
      // Called, not made components of: there are hundreds, each time rows pass by.
      return attempt === null ? SampleCell({ column: column as SampleColumn, wholeExample: attempts, ...of }) : AttemptCell({ column: measure, ...of });
    },
    [table, previews, addressOf, measure, tall, attempts, versions],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: attempts that were not there yet are wanted again once there are more
  const onWindow = useCallback(
    (keys: readonly number[]) => {
      const shown = columns.flatMap((column) => attemptOf(column) ?? []);
      if (shown.length > 0 && tall)
        return previews.want(
          table,
          keys.flatMap((key) => shown.map((attempt) => key + attempt)),
          ["completion", "prompt"],
        );
      return previews.want(table, keys, attempts ? ["prompt"] : columns.flatMap(({ key, kind }) => (PREVIEWED.includes(kind) ? key : [])));
    },
    [table, previews, columns, tall, attempts, table.done + table.open],
  );
  const open = (cell: GridCell): boolean => {
    const row = rowAt(cell);
    if (row === null) return false;
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
    const key = active === null ? undefined : rows[active.row];
    if (key === undefined) return false;
    setMarked(new Set(marked.has(key) ? [...marked].filter((each) => each !== key) : [...marked, key]));
    return true;
  };
  const fails = (key: number): boolean => {
    for (let row = key; row < key + (attempts ? table.rollouts : 1); row++) if (table.error(row) !== null) return true;
    return false;
  };
  const error = (by: 1 | -1): boolean => {
    for (let at = (active?.row ?? (by === 1 ? -1 : rows.length)) + by; at >= 0 && at < rows.length; at += by)
      if (fails(rows[at] ?? 0)) return goTo({ row: at, column: active?.column ?? 0 });
    return false;
  };
  const sort = (): boolean => {
    const column = columns[active?.column ?? -1];
    if (column?.sorts !== true) return false;
    sortBy(column.key);
    return true;
  };
  const up = (): boolean => {
    // It is the dialog's own.
    if (document.querySelector("dialog[open]") !== null) return false;
    if (marked.size > 0) setMarked(new Set());
    else if (attempts) go({ ...view, attempts: false }, false);
    else route(link(runAddress(source.id)));
    return true;
  };
  useGridKeys({ count: Math.min(rows.length, mostRows(rowHeight)), columns: columns.length, active, page: () => grid.current?.page() ?? 1, go: goTo, beyond });
  useShortcuts([
    { keys: ["Enter"], does: "Open the rollout", run: () => active !== null && grid.current?.isFocused() === true && open(active) },
    { keys: ["x"], does: "Mark the row", run: mark },
    { keys: ["n"], does: "Next error", run: () => error(1) },
    { keys: ["p"], does: "Error before", run: () => error(-1) },
    { keys: ["s"], does: "Sort by the column", run: sort },
    { keys: ["Escape"], does: "One level up: no marks, no attempts, the run", run: up },
  ]);
  const problem = previews.problem.value;
  return (
    <>
      {problem === null ? null : <Failure problem={problem} again={() => previews.again()} />}
      <Grid
        label={attempts ? "Examples, with their attempts beside each other" : "Rollouts"}
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
        onWindow={onWindow}
        handle={grid}
      />
      {rows.length > mostRows(rowHeight) ? (
        <p role="status">
          The first {thousands(mostRows(rowHeight))} of {thousands(rows.length)} are listed: a filter, or another order, leads to the others.
        </p>
      ) : null}
      <MarkedSamples table={table} marked={marked} clear={() => setMarked(new Set())} />
    </>
  );
}
