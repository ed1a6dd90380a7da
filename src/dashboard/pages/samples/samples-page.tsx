import "./samples.css";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress, samplesAddress } from "../../address/links.ts";
import { samplesQuery, type SamplesView, samplesViewOf } from "../../address/samples-view.ts";
import { useDashboard } from "../../context.ts";
import { Failure } from "../../design/notice.tsx";
import { Stale } from "../../design/stale.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { holdSource } from "../../samples/held-source.ts";
import { SamplesList } from "../../samples/samples-list.ts";
import { TextSearches } from "../../samples/text-searches.ts";
import { SamplesBody } from "./samples-body.tsx";
import { SamplesCount } from "./samples-count.tsx";

/** All rollouts of a run in a grid. */
export function SamplesPage() {
  const { id = "" } = useRoute().params;
  return <Samples key={id} id={id} />;
}

function Samples({ id }: { readonly id: string }) {
  const { api, visibility, link } = useDashboard();
  const { url, query, route } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the query is of the address
  const view = useMemo(() => samplesViewOf(query), [url]);
  const { source, release } = useMemo(() => holdSource(id, api, visibility), [id, api, visibility]);
  const list = useMemo(() => new SamplesList(source, new TextSearches(id, api)), [source, id, api]);
  useEffect(() => () => list.close(), [list]);
  useEffect(() => release, [release]);
  useEffect(() => list.show(view));
  const go = (next: SamplesView, replaces = true): void => {
    // Where the keys are is written into the address by itself (use-kept-place.ts).
    const at = next.at === view.at ? samplesViewOf(Object.fromEntries(new URLSearchParams(location.search))).at : next.at;
    route(link(samplesAddress(id), samplesQuery({ ...next, at })), replaces);
  };
  const run = source.run.value;
  const problem = source.problem.value;
  const isEmpty = source.table.value === null;
  return (
    <div class="samples">
      <div class="page-head">
        <PageTitle title={run === null ? "Samples" : `Samples of ${singleLine(run.name)}`} />
        <a href={link(runAddress(id))}>Run {id}</a>
        <SamplesCount source={source} list={list} view={view} />
      </div>
      {!isEmpty && (problem !== null || source.connection.value === "lost") ? (
        <Stale what="these rollouts are as they were" problem={problem} seenAt={source.seenAt.value} again={() => source.refresh()} />
      ) : null}
      {isEmpty && problem === null ? <p role="status">Loading rollouts…</p> : null}
      {isEmpty && problem !== null ? <Failure problem={problem} again={() => source.refresh()} /> : null}
      {isEmpty ? null : <SamplesBody source={source} list={list} view={view} go={go} />}
    </div>
  );
}
