import { useLayoutEffect, useRef } from "preact/hooks";
import { CallView } from "./call-view.tsx";
import { MessageView } from "./message-view.tsx";
import type { RowProps } from "./transcript-props.ts";
import type { TranscriptRow } from "./transcript-rows.ts";

interface PlacedRowProps extends RowProps {
  readonly row: TranscriptRow;
  readonly index: number;
  /** Among the rows that are measured. */
  readonly place: number;
  /** Pixels from the top of the list. */
  readonly top: number;
  readonly measure: (element: HTMLElement | null) => void;
  readonly onFocus: () => void;
}

/** A row where it stands in the list. */
export function PlacedRow({ row, index, place, top, measure, onFocus, ...props }: PlacedRowProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.style.setProperty("transform", `translateY(${top}px)`), [top]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is measured when it comes, and whenever its size changes
  useLayoutEffect(() => {
    measure(box.current);
    return () => measure(null);
  }, [index]);
  return (
    <div class="transcript-row" data-index={index} data-place={place} ref={box} onFocusCapture={onFocus}>
      {row.kind === "message" ? <MessageView {...props} row={row} /> : <CallView {...props} row={row} />}
    </div>
  );
}
