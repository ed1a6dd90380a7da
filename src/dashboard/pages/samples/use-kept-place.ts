import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { samplesAddress } from "../../address/links.ts";
import { samplesQuery, type SamplesView } from "../../address/samples-view.ts";
import { useDashboard } from "../../context.ts";
import type { GridCell, GridHandle } from "../../design/grid/grid-parts.ts";
import type { ColumnTable } from "../../samples/columns/column-table.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";

interface KeptPlace {
  readonly source: SamplesSource;
  readonly table: ColumnTable;
  readonly view: SamplesView;
  readonly listKey: string;
  readonly grid: RefObject<GridHandle | null>;
  readonly columns: number;
  /** The rollout of a cell, as a row of the table; null where there is none. */
  readonly rowAt: (cell: GridCell) => number | null;
  /** Number in the list of the row with that rollout; -1 = it is not listed. */
  readonly indexOf: (row: number) => number;
}

/** Behind the last move: a browser takes some hundred changes of an address in half a minute. */
const ADDRESS_MS = 400;

/** Where each list was scrolled to when it was left. */
const lefts = new WeakMap<SamplesSource, { readonly listKey: string; readonly top: number }>();

/**
 * The cell that the keys are at, which is a rollout and stays at it while rows come and go. The address says which it is, so that the way back, and whoever is
 * sent the address, come to the same place.
 */
export function useKeptPlace({ source, table, view, listKey, grid, columns, rowAt, indexOf }: KeptPlace) {
  const { link } = useDashboard();
  const [at, setAt] = useState<{ readonly row: number; readonly column: number } | null>(() => {
    const row = view.at === null ? null : table.rowOf(view.at);
    return row === null ? null : { row, column: 0 };
  });
  const index = at === null ? -1 : indexOf(at.row);
  const active: GridCell | null = at === null || index < 0 ? null : { row: index, column: Math.min(at.column, columns - 1) };

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (row: number): void => {
    clearTimeout(timer.current);
    const path = samplesAddress(source.id);
    // While the script of the next page is loaded, this one is still drawn.
    if (location.pathname !== path) return;
    const address = link(path, samplesQuery({ ...view, at: table.placeOf(row) }));
    // Not by the router: nothing of the page is another one by it.
    history.replaceState(history.state, "", address);
  };
  const goTo = (cell: GridCell, reveals = true): boolean => {
    const row = rowAt(cell);
    if (row === null) return false;
    setAt({ row, column: cell.column });
    grid.current?.focus();
    if (reveals) grid.current?.reveal(cell.row, "nearest");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => write(row), ADDRESS_MS);
    return true;
  };
  const leave = (cell: GridCell): void => {
    lefts.set(source, { listKey, top: grid.current?.top() ?? 0 });
    const row = rowAt(cell);
    if (row !== null) write(row);
  };
  // To where the list was left, or to the rollout that the address names, or to the top.
  const shown = useRef("");
  useLayoutEffect(() => {
    if (shown.current === listKey) return;
    const isFirst = shown.current === "";
    shown.current = listKey;
    const left = lefts.get(source);
    lefts.delete(source);
    if (isFirst && left?.listKey === listKey) grid.current?.toTop(left.top);
    else if (index >= 0) grid.current?.reveal(index, "center");
    else grid.current?.toTop(0);
    // Not from under somebody who types.
    // Nothing on the page has the focus: not what somebody has gone to meanwhile.
    const holder = document.activeElement;
    if (isFirst && index >= 0 && (holder === document.body || holder?.id === "content")) grid.current?.focus();
  });
  return { active, goTo, leave };
}
