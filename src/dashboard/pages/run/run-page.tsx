import "./run.css";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { RUNS, runAddress } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { Stale } from "../../design/stale.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { RunHead } from "./run-head.tsx";
import { addressOf, type RunQuery, runQueryOf } from "./run-query.ts";
import { RunStore } from "./run-store.ts";
import { RunTabs } from "./run-tabs.tsx";

/** One run, while it goes on and when it is over: the same page. */
export function RunPage() {
  const { api, visibility, link } = useDashboard();
  const { query: given, route } = useLocation();
  const id = useRoute().params.id ?? "";
  const query = runQueryOf(given);
  const store = useMemo(() => new RunStore(api, visibility, id), [api, visibility, id]);
  useEffect(() => {
    void store.refresh();
    return () => store.close();
  }, [store]);
  // Another tab is a view that one can go back from; what is typed in one is the same view.
  const go = (next: RunQuery, replaces = next.tab === query.tab): void => route(link(runAddress(id), addressOf(next)), replaces);
  const run = store.run.value;
  const problem = store.problem.value;
  const again = (): void => void store.refresh();
  if (store.isGone.value)
    return (
      <>
        <PageTitle title="Run" />
        <Notice role="status" tone="plain" title="This run was deleted.">
          <p>
            <a href={link(RUNS)}>Runs</a>
          </p>
        </Notice>
      </>
    );
  if (run === null)
    return (
      <>
        <PageTitle title={`Run ${id}`} />
        {problem === null ? <p role="status">Loading the run…</p> : <Failure problem={problem} again={again} />}
      </>
    );
  const isStale = problem !== null || store.connection.value === "lost";
  return (
    <>
      {isStale ? <Stale what="this run is as it was" problem={problem} seenAt={store.seenAt.value} again={again} /> : null}
      <RunHead run={run} store={store} />
      <RunTabs run={run} query={query} go={go} store={store} />
    </>
  );
}
