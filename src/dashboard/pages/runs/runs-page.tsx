import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { thousands } from "../../../report/text/format.ts";
import { RUNS } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { Failure } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { ChosenRuns } from "./chosen-runs.tsx";
import { NoRuns } from "./no-runs.tsx";
import { Pager } from "./pager.tsx";
import { RunFilters } from "./run-filters.tsx";
import { addressOf, isFiltered, type RunsQuery, runsQueryOf } from "./runs-query.ts";
import { RunsStore } from "./runs-store.ts";
import { RunsTable } from "./runs-table.tsx";
import { StaleLine } from "./stale-line.tsx";

/** All runs of the team: found, put in order, watched, and chosen for a comparison. */
export function RunsPage() {
  const { api, visibility, link } = useDashboard();
  const { query: given, route } = useLocation();
  const query = runsQueryOf(given);
  const store = useMemo(() => new RunsStore(api, visibility), [api, visibility]);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => store.show(query));
  // What is typed or ticked is one view that changes; another page or order is another view, which one can go back from.
  const go = (next: RunsQuery, replaces = true): void => route(link(RUNS, addressOf(next)), replaces);
  const runs = store.runs.value;
  const problem = store.problem.value;
  const again = (): void => void store.refresh();
  return (
    <>
      <div class="page-head">
        <PageTitle title="Runs" />
        <p class="count" role="status">
          {runs === null ? "" : `${thousands(store.total.value)} ${store.total.value === 1 ? "run" : "runs"}${isFiltered(query) ? " found" : ""}`}
        </p>
      </div>
      <RunFilters query={query} go={go} />
      <StaleLine store={store} again={again} />
      {runs === null && problem === null ? <p role="status">Loading runs…</p> : null}
      {runs === null && problem !== null ? <Failure problem={problem} again={again} /> : null}
      {runs?.length === 0 ? <NoRuns query={query} total={store.total.value} go={go} /> : null}
      {runs !== null && runs.length > 0 ? <RunsTable runs={runs} query={query} go={go} isLoading={store.isLoading.value} /> : null}
      <Pager query={query} total={store.total.value} go={go} />
      <ChosenRuns query={query} go={go} />
    </>
  );
}
