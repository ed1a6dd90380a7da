import { useEffect } from "preact/hooks";

interface PageTitleProps {
  readonly title: string;
  /** What the browser's tab is called, where that is more than the heading says. */
  readonly tab?: string;
}

/** The heading of a page, which its tab is called after too. */
export function PageTitle({ title, tab = title }: PageTitleProps) {
  useEffect(() => {
    document.title = `${tab} · Edgewise`;
  }, [tab]);
  return <h1>{title}</h1>;
}
