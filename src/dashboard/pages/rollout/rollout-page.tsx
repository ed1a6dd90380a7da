import "./rollout.css";
import { useEffect, useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { rolloutAddress, runAddress, samplesAddress } from "../../address/links.ts";
import { type SamplePlace, samplesQuery, samplesViewOf } from "../../address/samples-view.ts";
import { useDashboard } from "../../context.ts";
import { Stale } from "../../design/stale.tsx";
import { NotFound } from "../not-found.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { holdSource } from "../../samples/held-source.ts";
import { SamplesList } from "../../samples/samples-list.ts";
import { TextSearches } from "../../samples/text-searches.ts";
import { neighboursOf } from "./neighbours.ts";
import { RolloutBody } from "./rollout-body.tsx";
import { placePart, rolloutQuery, rolloutQueryOf } from "./rollout-query.ts";
import { RolloutSteps } from "./rollout-steps.tsx";
import { RolloutStore } from "./rollout-store.ts";
import { unlessAsked } from "./unless-asked.ts";
import { useLateRollout } from "./use-late-rollout.ts";
import { useRunWeights } from "./use-run-weights.ts";

/** One rollout: what was said, what it is worth and why, and the way to the ones beside it. */
export function RolloutPage() {
  const { id = "", example: first, rollout: second } = useRoute().params;
  const [example, rollout] = [placePart(first), placePart(second)];
  return example === null || rollout === null ? <NotFound /> : <RolloutOfRun key={id} id={id} place={{ example, rollout }} />;
}

interface RolloutOfRunProps {
  readonly id: string;
  readonly place: SamplePlace;
}

function RolloutOfRun({ id, place: { example, rollout } }: RolloutOfRunProps) {
  const { api, visibility, link } = useDashboard();
  const { query: given, route } = useLocation();
  const view = samplesViewOf(given);
  const query = rolloutQueryOf(given);
  const place = useMemo(() => ({ example, rollout }), [example, rollout]);
  const { source, release } = useMemo(() => holdSource(id, api, visibility), [id, api, visibility]);
  useEffect(() => release, [release]);
  const list = useMemo(() => new SamplesList(source, new TextSearches(id, api)), [source, id, api]);
  useEffect(() => () => list.close(), [list]);
  useEffect(() => list.show({ ...view, attempts: false }));
  const store = useMemo(() => new RolloutStore(api, id, place), [api, id, place]);
  useEffect(() => {
    void store.load();
    return () => store.close();
  }, [store]);
  const weights = useRunWeights(id);
  useLateRollout(store, source);
  const table = source.table.value;
  // Tables change in place: the version says when.
  void source.version.value;
  const neighbours = table === null || list.rows.value === null ? null : neighboursOf(place, table, list.rows.value);
  const go = (next: SamplePlace | null): boolean => {
    if (next === null) return false;
    route(addressOf(next));
    return true;
  };
  const addressOf = (to: SamplePlace): string => link(rolloutAddress(id, to.example, to.rollout), rolloutQuery(given, query));
  const show = (next: Partial<typeof query>): boolean => {
    route(link(rolloutAddress(id, example, rollout), rolloutQuery(given, { ...query, ...next })), true);
    return true;
  };
  const grid = link(samplesAddress(id), samplesQuery({ ...view, at: place }));
  const attempt = (by: 1 | -1): boolean => {
    const to = rollout + by;
    return to >= 0 && to < (table?.rollouts ?? 0) && go({ example, rollout: to });
  };
  const back = (): boolean => {
    route(grid);
    return true;
  };
  // Before those of the messages, which come to mean more: Escape closes the search first.
  useShortcuts(
    unlessAsked([
      { keys: ["ArrowRight"], does: "Next rollout of the list", run: () => go(neighbours?.next ?? null) },
      { keys: ["ArrowLeft"], does: "Previous rollout of the list", run: () => go(neighbours?.previous ?? null) },
      { keys: ["l"], does: "Next attempt at the example", run: () => attempt(1) },
      { keys: ["h"], does: "Previous attempt at the example", run: () => attempt(-1) },
      { keys: ["r"], does: "Texts as they are written, or rendered", run: () => show({ raw: !query.raw }) },
      { keys: ["s"], does: "Scores, or back to the messages", run: () => show({ tab: query.tab === "scores" ? "messages" : "scores" }) },
      { keys: ["Escape"], does: "Back to the list", run: back },
    ]),
  );
  const run = source.run.value;
  const exampleId = store.outline.value?.example_id;
  const named =
    exampleId === undefined || exampleId === null || exampleId === example ? String(example) : `${example} (${singleLine(String(exampleId)).slice(0, 80)})`;
  return (
    <div class="rollout">
      <div class="page-head">
        <PageTitle title={`Example ${named}, rollout ${rollout}`} />
        <a href={grid} title="Back to the list (Esc)">
          Samples
        </a>
        <a href={link(runAddress(id))}>{run === null ? `Run ${id}` : singleLine(run.name)}</a>
      </div>
      {store.outline.value !== null && source.connection.value === "lost" ? (
        <Stale what="this rollout is as it was" problem={source.problem.value} seenAt={source.seenAt.value} again={() => source.refresh()} />
      ) : null}
      <RolloutSteps place={place} neighbours={neighbours} table={table} addressOf={addressOf} />
      <RolloutBody store={store} query={query} weights={weights} show={show} run={run} isRunKnown={source.problem.value?.status !== 404} />
    </div>
  );
}
