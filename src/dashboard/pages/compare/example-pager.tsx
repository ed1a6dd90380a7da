import { thousands } from "../../../report/text/format.ts";
import { type Go, type CompareQuery, PAGE_EXAMPLES } from "./compare-query.ts";

interface ExamplePagerProps {
  readonly query: CompareQuery;
  readonly total: number;
  readonly go: Go;
}

/** Pages of a long list of examples. */
export function ExamplePager({ query, total, go }: ExamplePagerProps) {
  const last = Math.max(1, Math.ceil(total / PAGE_EXAMPLES));
  if (last === 1) return null;
  const to = (page: number) => (): void => go({ ...query, page, at: null });
  return (
    <nav class="pager" aria-label="Pages of examples">
      <button type="button" disabled={query.page <= 1} onClick={to(query.page - 1)}>
        Previous
      </button>
      <span>
        Page {thousands(query.page)} of {thousands(last)}
      </span>
      <button type="button" disabled={query.page >= last} onClick={to(query.page + 1)}>
        Next
      </button>
    </nav>
  );
}
