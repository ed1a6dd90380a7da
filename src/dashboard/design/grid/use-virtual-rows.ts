import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualizerOptions } from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualRowsOptions {
  readonly count: number;
  /** Pixels, of every row. */
  readonly height: number;
  readonly element: () => HTMLElement | null;
  /** Pixels above the first row that stay while rows go by. */
  readonly head: number;
}

/** Rows beyond the edges of what is seen, so that a turn of the wheel meets no hole. */
const OVERSCAN = 6;

export type VirtualRows = Virtualizer<HTMLElement, HTMLElement>;

/** Which rows are drawn, of many of one height. */
export function useVirtualRows({ count, height, element, head }: VirtualRowsOptions): VirtualRows {
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    estimateSize: () => height,
    getScrollElement: element,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: OVERSCAN,
    paddingStart: head,
    scrollPaddingStart: head,
    onChange: () => draw(undefined),
  };
  const [rows] = useState(() => new Virtualizer(options));
  rows.setOptions(options);
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are counted anew where the height is another one
  useLayoutEffect(() => rows.measure(), [height]);
  useLayoutEffect(() => rows._didMount(), [rows]);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}
