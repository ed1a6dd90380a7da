import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Stretch } from "./stretch.ts";

interface VirtualRowsOptions {
  readonly count: number;
  /** Pixels, before a row was measured; asked once of each row. Rows are named by their numbers: other rows are another list. */
  readonly estimate: (index: number) => number;
  /** What scrolls: the page, or the list's own box. */
  readonly scrolls: "page" | "own";
  /** Stays in the page wherever one scrolls to: it has the focus. */
  readonly held: number;
}

export interface VirtualRow {
  readonly index: number;
  /** Among the rows that are measured now; below 0 or beyond them where it is none of them. */
  readonly place: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}

export interface VirtualRows {
  readonly items: readonly VirtualRow[];
  readonly box: RefObject<HTMLElement | null>;
  readonly list: RefObject<HTMLDivElement | null>;
  /** Of each row, which says its `place` in `data-place`. */
  readonly measure: (element: HTMLElement | null) => void;
  scrollTo(index: number, align?: "auto" | "start"): void;
}

type Rows = Virtualizer<Window, HTMLElement> | Virtualizer<HTMLElement, HTMLElement>;

/** Rows near what is seen above a screen's edges. */
const OVERSCAN = 4;
/** Rows that a place which is gone to has on both sides. */
const AROUND = 600;
/** How long what was scrolled to may take to be where the page is, in milliseconds. */
const SCROLLS_MS = 1_000;

/** Rows of heights that nobody knows before they are drawn, of which only those that are seen are. */
export function useVirtualRows({ count, estimate, scrolls, held }: VirtualRowsOptions): VirtualRows {
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const margin = useRef(0);
  const [, draw] = useState(0);
  const known = useRef<Stretch | null>(null);
  if (known.current?.count !== count) known.current = new Stretch(count, estimate);
  const stretch = known.current;
  const made = useRef<Rows | null>(null);
  // Until then the page may still be where it was before it was scrolled.
  const scrollsUntil = useRef(0);
  const place = (): Rows => {
    const { first, end } = stretch;
    const shared = {
      count: end - first,
      estimateSize: (at: number) => stretch.height(first + at),
      getItemKey: stretch.indexOf,
      indexAttribute: "data-place",
      measureElement: <Scrolls extends Window | HTMLElement>(
        element: HTMLElement,
        entry: ResizeObserverEntry | undefined,
        rows: Virtualizer<Scrolls, HTMLElement>,
      ) => {
        const height = measureElement(element, entry, rows);
        stretch.measured(first + rows.indexFromElement(element), height);
        return height;
      },
      paddingStart: stretch.above,
      paddingEnd: stretch.below,
      overscan: OVERSCAN,
      scrollMargin: margin.current,
      onChange: () => draw((drawn) => drawn + 1),
    };
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
    return made.current;
  };
  const rows = place();
  const seen = rows.calculateRange();
  const isHeld = seen === null || (stretch.holds(stretch.first + seen.startIndex) && stretch.holds(stretch.first + seen.endIndex));
  if (isHeld) scrollsUntil.current = 0;
  else if (performance.now() > scrollsUntil.current) {
    stretch.moveTo(stretch.at((rows.scrollOffset ?? 0) - margin.current));
    place();
  }
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
  const items = rows.getVirtualItems().map(({ index, start }) => ({ index: stretch.first + index, place: index, top: start - margin.current }));
  return {
    items: withHeld(items, held < count ? held : -1, stretch),
    box,
    list,
    measure: (element) => rows.measureElement(element),
    scrollTo: (index, align = "auto") => {
      // What is seen around it then is held too, so that it keeps its place while the library goes there.
      if (!stretch.holds(index, AROUND)) {
        stretch.moveTo(index);
        scrollsUntil.current = performance.now() + SCROLLS_MS;
        place();
      }
      rows.scrollToIndex(index - stretch.first, { align });
    },
  };
}

/** With the row that has the focus, wherever it is. */
function withHeld(items: readonly VirtualRow[], held: number, stretch: Stretch): readonly VirtualRow[] {
  if (held < 0 || items.some(({ index }) => index === held)) return items;
  const item = { index: held, place: held - stretch.first, top: stretch.top(held) };
  return held < (items[0]?.index ?? 0) ? [item, ...items] : [...items, item];
}
