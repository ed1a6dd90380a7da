import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface VirtualRowsOptions {
  readonly count: number;
  /** Pixels, before a row was measured; asked of all rows behind one whose height changes. Rows are named by their numbers: other rows are another list. */
  readonly estimate: (index: number) => number;
  /** What scrolls: the page, or the list's own box. */
  readonly scrolls: "page" | "own";
  /** Stays in the page wherever one scrolls to: it has the focus. */
  readonly held: number;
}

export interface VirtualRows {
  readonly items: readonly VirtualItem[];
  readonly box: RefObject<HTMLElement | null>;
  readonly list: RefObject<HTMLDivElement | null>;
  /** Pixels above the list in what scrolls: a part of the places of its rows. */
  readonly margin: number;
  /** Of each row, which says its number in `data-index`. */
  readonly measure: (element: HTMLElement | null) => void;
  scrollTo(index: number, align?: "auto" | "start"): void;
}

type Rows = Virtualizer<Window, HTMLElement> | Virtualizer<HTMLElement, HTMLElement>;

/** Rows near what is seen above a screen's edges. */
const OVERSCAN = 4;

/** Rows of heights that nobody knows before they are drawn, of which only those that are seen are. */
export function useVirtualRows({ count, estimate, scrolls, held }: VirtualRowsOptions): VirtualRows {
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const margin = useRef(0);
  const [, draw] = useState(0);
  const shared = {
    count,
    estimateSize: estimate,
    overscan: OVERSCAN,
    scrollMargin: margin.current,
    onChange: () => draw((drawn) => drawn + 1),
    rangeExtractor: ({ startIndex, endIndex, overscan }: { readonly startIndex: number; readonly endIndex: number; readonly overscan: number }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)];
      const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
      if (held < 0 || held >= count || (held >= first && held <= last)) return shown;
      return held < first ? [held, ...shown] : [...shown, held];
    },
  };
  const made = useRef<Rows | null>(null);
  if (scrolls === "page") {
    const options = {
      ...shared,
      getScrollElement: () => window,
      observeElementRect: observeWindowRect,
      observeElementOffset: observeWindowOffset,
      scrollToFn: windowScroll,
    };
    if (made.current === null) made.current = new Virtualizer<Window, HTMLElement>(options);
    else (made.current as Virtualizer<Window, HTMLElement>).setOptions(options);
  } else {
    const options = {
      ...shared,
      getScrollElement: () => box.current,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
    };
    if (made.current === null) made.current = new Virtualizer<HTMLElement, HTMLElement>(options);
    else (made.current as Virtualizer<HTMLElement, HTMLElement>).setOptions(options);
  }
  const rows = made.current;
  useLayoutEffect(() => rows._didMount(), [rows]);
  useLayoutEffect(() => {
    rows._willUpdate();
    const element = list.current;
    if (element === null) return;
    if (scrolls === "page") {
      const top = Math.round(element.getBoundingClientRect().top + window.scrollY);
      if (Math.abs(top - margin.current) > 1) {
        margin.current = top;
        draw((drawn) => drawn + 1);
      }
    }
    element.style.setProperty("height", `${rows.getTotalSize()}px`);
  });
  return {
    items: rows.getVirtualItems(),
    box,
    list,
    margin: margin.current,
    measure: (element) => rows.measureElement(element),
    scrollTo: (index, align = "auto") => rows.scrollToIndex(index, { align }),
  };
}
