// biome-ignore-all lint/a11y/useSemanticElements: a table lays out all of its rows, and is no grid
import "./grid.css";
import type { Ref } from "preact";
import { useEffect, useId, useImperativeHandle, useLayoutEffect, useRef } from "preact/hooks";
import type { GridColumn } from "./grid-column.ts";
import type { DrawCell, GridCell, GridHandle } from "./grid-parts.ts";
import { GridHead } from "./grid-head.tsx";
import { GridRow } from "./grid-row.tsx";
import { useVirtualRows } from "./use-virtual-rows.ts";

interface GridProps {
  readonly label: string;
  readonly columns: readonly GridColumn[];
  /** What each row is of, in their order; no key twice. */
  readonly keys: Uint32Array;
  /** Another one where the list is another view: one that only grew stays where it is. */
  readonly listKey: string;
  readonly rowHeight: number;
  readonly active: GridCell | null;
  readonly marked: ReadonlySet<number>;
  readonly sort: { readonly key: string; readonly order: "asc" | "desc" } | null;
  readonly busy: boolean;
  readonly draw: DrawCell;
  readonly onSort: (key: string) => void;
  readonly onCell: (cell: GridCell, opens: boolean) => void;
  /** The rows that are drawn. */
  readonly onWindow: (keys: readonly number[]) => void;
  readonly handle: Ref<GridHandle>;
}

/** Pixels; also in grid.css. */
const HEAD = 32;
/** Pixels that browsers can scroll through: Firefox ends at 17.9 million. */
const MOST_PIXELS = 15_000_000;

/** Rows of one height that a grid can show at once. */
export const mostRows = (rowHeight: number): number => Math.floor(MOST_PIXELS / rowHeight);

/**
 * A grid of any length, of which only the rows that are seen are in the page. The focus is on the grid itself and names its cell, so that rows may come and
 * go under it.
 */
export function Grid({ label, columns, keys, listKey, rowHeight, active, marked, sort, busy, draw, onSort, onCell, onWindow, handle }: GridProps) {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const drawn = useRef<HTMLDivElement>(null);
  const count = Math.min(keys.length, mostRows(rowHeight));
  const rows = useVirtualRows({ count, height: rowHeight, element: () => place.current, head: HEAD });
  const items = rows.getVirtualItems();
  const slots = useRef(1);
  slots.current = Math.max(slots.current, items.length);
  const start = items[0]?.start ?? HEAD;
  const total = rows.getTotalSize();

  useImperativeHandle(handle, () => ({
    focus: () => place.current?.focus({ preventScroll: true }),
    isFocused: () => document.activeElement === place.current,
    reveal: (row, where) => rows.scrollToIndex(row, { align: where === "nearest" ? "auto" : where }),
    top: () => place.current?.scrollTop ?? 0,
    toTop: (pixels) => rows.scrollToOffset(pixels),
    page: () => Math.max(1, Math.floor(((place.current?.clientHeight ?? 0) - HEAD) / rowHeight)),
  }));
  // The policy of the page refuses styles in its markup; what is set here is no markup.
  useLayoutEffect(() => {
    const template = columns.map(({ width, grows }) => (grows ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" ");
    canvas.current?.style.setProperty("--grid-columns", template);
    canvas.current?.style.setProperty("min-width", `${columns.reduce((sum, { width }) => sum + width, 0)}px`);
    canvas.current?.style.setProperty("--grid-row", `${rowHeight}px`);
  }, [columns, rowHeight]);
  useLayoutEffect(() => canvas.current?.style.setProperty("height", `${total}px`), [total]);
  useLayoutEffect(() => drawn.current?.style.setProperty("transform", `translateY(${start - HEAD}px)`), [start]);
  useSteadyRows({ keys, listKey, rowHeight, place });
  const seen = items.map(({ index }) => keys[index] ?? 0);
  const told = seen.join(",");
  // biome-ignore lint/correctness/useExhaustiveDependencies: told where other rows are drawn
  useEffect(() => onWindow(seen), [told, onWindow]);

  const isDrawn = active !== null && items.some(({ index }) => index === active.row);
  return (
    <div
      ref={place}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={keys.length + 1}
      aria-colcount={columns.length}
      aria-multiselectable="true"
      aria-busy={busy}
      aria-activedescendant={isDrawn ? id : undefined}
    >
      <div ref={canvas} class="grid-canvas">
        <GridHead columns={columns} sort={sort} active={active?.column ?? -1} onSort={onSort} />
        <div ref={drawn} role="rowgroup" class="grid-rows">
          {items.map(({ index }) => (
            <GridRow
              // Elements of rows that went by are those of rows that come.
              key={index % slots.current}
              id={id}
              index={index}
              rowKey={keys[index] ?? 0}
              columns={columns}
              active={active?.row === index ? active.column : -1}
              marked={marked.has(keys[index] ?? 0)}
              draw={draw}
              onCell={onCell}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface SteadyRows extends Pick<GridProps, "keys" | "listKey" | "rowHeight"> {
  readonly place: { readonly current: HTMLElement | null };
}

/** Keeps what is seen where it is while rows come in above it. At the very top new rows are seen as they come. */
function useSteadyRows({ keys, listKey, rowHeight, place }: SteadyRows): void {
  const before = useRef({ keys, listKey });
  useLayoutEffect(() => {
    const old = before.current;
    before.current = { keys, listKey };
    const element = place.current;
    if (element === null || old.keys === keys || old.listKey !== listKey || element.scrollTop <= 0) return;
    const first = Math.floor(element.scrollTop / rowHeight);
    const anchor = old.keys[first];
    const now = anchor === undefined ? -1 : keys[first] === anchor ? first : keys.indexOf(anchor);
    if (now >= 0 && now !== first) element.scrollTop += (now - first) * rowHeight;
  }, [keys, listKey, rowHeight, place]);
}
