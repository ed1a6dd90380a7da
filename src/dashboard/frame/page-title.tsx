import { useEffect } from "preact/hooks";

interface PageTitleProps {
  readonly title: string;
  /** What the browser's tab is called, where that is more than the heading says. */
  readonly tab?: string;
}

/** Whether a page was drawn before: the first one has the focus as the browser gives it. */
let wasDrawn = false;

/** The heading of a page, which its tab is called after too. */
export function PageTitle({ title, tab = title }: PageTitleProps) {
  useEffect(() => {
    document.title = `${tab} · Edgewise`;
  }, [tab]);
  useEffect(() => {
    // What had the focus went with the page before: whoever has no pointer is at the beginning of this one, not of the frame.
    if (wasDrawn && document.activeElement === document.body) document.getElementById("content")?.focus({ preventScroll: true });
    wasDrawn = true;
  }, []);
  return <h1>{title}</h1>;
}
