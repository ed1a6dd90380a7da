import { NEW_RUN } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { Notice } from "../../design/notice.tsx";
import { isFiltered, type RunsQuery, unfiltered } from "./runs-query.ts";

interface NoRunsProps {
  readonly query: RunsQuery;
  readonly total: number;
  readonly go: (next: RunsQuery) => void;
}

/** An empty list says why it is, and what to do next. */
export function NoRuns({ query, total, go }: NoRunsProps) {
  const { link, viewer } = useDashboard();
  if (total > 0)
    return (
      <Notice role="status" tone="plain" title="The list has fewer pages than that.">
        <p>
          <button type="button" onClick={() => go({ ...query, page: 1 })}>
            First page
          </button>
        </p>
      </Notice>
    );
  if (isFiltered(query))
    return (
      <Notice role="status" tone="plain" title="No run is like that.">
        <p>
          <button type="button" onClick={() => go(unfiltered(query))}>
            Show all runs
          </button>
        </p>
      </Notice>
    );
  if (viewer.folders !== "")
    return (
      <Notice role="status" tone="plain" title="There is no results folder any more.">
        <p>What comes back below the place that is named above is shown here as it comes.</p>
      </Notice>
    );
  return (
    <Notice role="status" tone="plain" title="No run yet.">
      <p>
        <a class="button" href={link(NEW_RUN)}>
          New run
        </a>
      </p>
      <p>Or in a terminal:</p>
      <pre>npx edgewise eval run arithmetic --provider embedded</pre>
    </Notice>
  );
}
