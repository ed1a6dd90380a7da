import { thousands } from "../../../report/text/format.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { PAGE_RUNS, type RunsQuery } from "./runs-query.ts";

interface PagerProps {
  readonly query: RunsQuery;
  readonly total: number;
  readonly go: (next: RunsQuery, replaces?: boolean) => void;
}

/** Pages of a long list. */
export function Pager({ query, total, go }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / PAGE_RUNS));
  const to = (page: number): boolean => {
    if (page < 1 || page > last) return false;
    go({ ...query, page }, false);
    return true;
  };
  useShortcuts([
    { keys: ["n"], does: "Next page of the list", run: () => to(query.page + 1) },
    { keys: ["p"], does: "Previous page of the list", run: () => to(query.page - 1) },
  ]);
  if (last === 1) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" disabled={query.page <= 1} title="Previous page (p)" onClick={() => to(query.page - 1)}>
        Previous
      </button>
      <span>
        Page {thousands(query.page)} of {thousands(last)}
      </span>
      <button type="button" disabled={query.page >= last} title="Next page (n)" onClick={() => to(query.page + 1)}>
        Next
      </button>
    </nav>
  );
}
