import "./transcript.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MessageOutline } from "../../../cells/outline.ts";
import { heightOf, isFoldedUnasked } from "./folding.ts";
import { PlacedRow } from "./placed-row.tsx";
import type { TranscriptHandle, TranscriptProps } from "./transcript-props.ts";
import { type TranscriptRow, rowKey, transcriptRows } from "./transcript-rows.ts";
import { useVirtualRows } from "./virtual-rows.ts";

/** A conversation: messages, calls of tools beside their results, with what is long folded, and of any number of them only those that are seen. */
export function Transcript(props: TranscriptProps) {
  const { label, source, scrolls, onHandle, onRow } = props;
  const { outlines } = source;
  const rows = useMemo(() => transcriptRows(outlines), [outlines]);
  const [held, setHeldRow] = useState(-1);
  const setHeld = (index: number): void => {
    setHeldRow(index);
    onRow?.(index);
  };
  // What somebody opened or folded, by the keys of rows.
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isFolded = (row: TranscriptRow): boolean => {
    const outline = outlines[row.number];
    return folds.get(rowKey(row)) ?? (row.kind === "message" && outline !== undefined && isFoldedUnasked(outline));
  };
  const heights = useMemo(() => Float64Array.from(rows, (row) => unmeasuredHeight(row, outlines)), [rows, outlines]);
  const virtual = useVirtualRows({ count: rows.length, estimate: (index) => heights[index] ?? 0, scrolls, held });
  const toggle = (index: number): void => {
    const row = rows[index];
    if (row !== undefined) setFolds(new Map([...folds, [rowKey(row), !isFolded(row)]]));
  };
  // The row that is to have the focus once it is drawn.
  const wanted = useRef(-1);
  const [, draw] = useState(0);
  const go = (index: number): boolean => {
    if (rows[index] === undefined) return false;
    wanted.current = index;
    setHeld(index);
    draw((drawn) => drawn + 1);
    virtual.scrollTo(index);
    return true;
  };
  useEffect(() => {
    if (wanted.current < 0) return;
    const row = virtual.list.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] [data-row]`);
    if (row === null || row === undefined) return;
    wanted.current = -1;
    row.focus({ preventScroll: true });
  });
  const handle: TranscriptHandle = { rows, at: () => held, go, toggle };
  const newest = useRef(handle);
  newest.current = handle;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the handle reads what is newest
  useEffect(() => {
    onHandle?.({
      get rows() {
        return newest.current.rows;
      },
      at: () => newest.current.at(),
      go: (index) => newest.current.go(index),
      toggle: (index) => newest.current.toggle(index),
    });
    return () => onHandle?.(null);
  }, []);
  return (
    <section class={`transcript scrolls-${scrolls}`} ref={virtual.box} tabIndex={scrolls === "own" ? 0 : undefined} aria-label={label}>
      <div class="transcript-rows" ref={virtual.list} role="feed" aria-label={label}>
        {virtual.items.map(({ index, place, top }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <PlacedRow
              key={rowKey(row)}
              {...props}
              row={row}
              index={index}
              position={[index + 1, rows.length]}
              place={place}
              top={top}
              measure={virtual.measure}
              isFolded={isFolded(row)}
              toggle={() => toggle(index)}
              onFocus={() => setHeld(index)}
            />
          );
        })}
      </div>
    </section>
  );
}

function unmeasuredHeight(row: TranscriptRow, outlines: readonly MessageOutline[]): number {
  const outline = outlines[row.kind === "call" && row.result !== null ? row.result : row.number];
  return outline === undefined ? 0 : heightOf(outline, outlines.length, row.kind === "message" && isFoldedUnasked(outline));
}
