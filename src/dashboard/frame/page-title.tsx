import { useEffect } from "preact/hooks";

/** The heading of a page, which its tab is called after too. */
export function PageTitle({ title }: { readonly title: string }) {
  useEffect(() => {
    document.title = `${title} · Edgewise`;
  }, [title]);
  return <h1>{title}</h1>;
}
