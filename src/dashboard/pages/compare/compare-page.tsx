import "./compare.css";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { COMPARE } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { CopyButton } from "../../design/copy/copy-button.tsx";
import { Stale } from "../../design/stale.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { AddRun } from "./add-run.tsx";
import { type Go, addressOf, commandOf, compareQueryOf, hasNoBaseline } from "./compare-query.ts";
import { CompareStore } from "./compare-store.ts";
import { ComparedRuns } from "./compared-runs.tsx";
import { Examples } from "./examples.tsx";
import { Joined } from "./joined.tsx";
import { MetricTable } from "./metric-table.tsx";
import { NotCompared } from "./not-compared.tsx";
import { StrangeRuns } from "./strange-runs.tsx";

/** Runs held against a baseline, example by example: how sure the difference is, and where it comes from. */
export function ComparePage() {
  const { api, link, viewer } = useDashboard();
  const { query: given, route } = useLocation();
  const query = compareQueryOf(given);
  const store = useMemo(() => new CompareStore(api), [api]);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => store.show(query));
  // Other runs or rules are another comparison, which one can go back from; what is looked at in it is one view that changes.
  const go: Go = (next, replaces = true) => route(link(COMPARE, addressOf(next)), replaces);
  const comparison = store.comparisonOf(query);
  const compared = comparison?.comparisons[query.against - 1] ?? null;
  const stale = store.staleOf(query);
  const isRefused = hasNoBaseline(query);
  const isEnough = query.runs.length > 1 && !isRefused;
  // Commands know folders by their paths.
  const command = viewer.folders === "" ? commandOf(query) : null;
  return (
    <div class="compare">
      <div class="page-head">
        <PageTitle title="Compare" />
        {isEnough && command !== null ? (
          <p class="compare-command">
            <code>{command}</code> <CopyButton text={command} name="Copy the command" />
          </p>
        ) : null}
      </div>
      <StrangeRuns query={query} go={go} />
      {isRefused ? null : (
        <>
          <ComparedRuns query={query} store={store} go={go} />
          <AddRun query={query} store={store} go={go} />
        </>
      )}
      {isEnough && comparison === null && store.problem.value === null ? <p role="status">Comparing…</p> : null}
      {stale === null ? null : <Stale what="this comparison is as it was" problem={stale} seenAt={store.seenAt.value} again={() => store.again()} />}
      {store.problem.value === null || stale !== null ? null : <NotCompared query={query} problem={store.problem.value} store={store} go={go} />}
      {comparison === null || compared === null ? null : (
        <>
          <Joined comparison={compared} clusterBy={comparison.cluster_by} query={query} go={go} />
          <MetricTable comparison={compared} query={query} go={go} />
          <Examples query={query} store={store} go={go} metrics={compared.metrics.map(({ metric }) => metric)} />
        </>
      )}
    </div>
  );
}
