import { useEffect } from "preact/hooks";

/** How the style calls what was found. */
const NAME = "found";
/** Places that are marked: those of a screen or two. */
const MOST = 2_000;

/** Marks a text wherever it is drawn in an element, without another element in it. Browsers without highlights show which messages have it. */
export function useFoundMarks(element: HTMLElement | null, text: string): void {
  useEffect(() => {
    const { highlights } = CSS as { readonly highlights?: HighlightRegistry };
    if (element === null || highlights === undefined || text === "") return;
    let frame = 0;
    const mark = (): void => {
      highlights.set(NAME, new Highlight(...rangesIn(element, text.toLowerCase())));
    };
    const soon = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    };
    soon();
    const observer = new MutationObserver(soon);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      highlights.delete(NAME);
    };
  }, [element, text]);
}

function rangesIn(element: HTMLElement, wanted: string): readonly Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MOST; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < MOST; at = text.indexOf(wanted, at + wanted.length)) {
      // Small letters may be more than the letter they are of (İ).
      if (at + wanted.length > (node.nodeValue ?? "").length) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
