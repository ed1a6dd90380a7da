import type { UnreadableRow } from "../../../rollouts/rows/stored-row.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { ListedEvaluation } from "../../api/answers.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { Tabs } from "../../design/tabs/tabs.tsx";
import { Download } from "./download.tsx";
import { InfoTab } from "./info-tab.tsx";
import { JsonTab } from "./json-tab.tsx";
import { MessagesTab } from "./messages-tab.tsx";
import { RolloutHead } from "./rollout-head.tsx";
import type { RolloutQuery, RolloutTab } from "./rollout-query.ts";
import type { RolloutStore } from "./rollout-store.ts";
import { ScoresTab } from "./scores/scores-tab.tsx";
import { UsageTab } from "./usage-tab.tsx";

interface RolloutBodyProps {
  readonly store: RolloutStore;
  readonly query: RolloutQuery;
  readonly weights: Readonly<Record<string, number>>;
  readonly show: (next: Partial<RolloutQuery>) => boolean;
  /** Null until its stream says so. */
  readonly run: ListedEvaluation | null;
  readonly isRunKnown: boolean;
}

const TABS: readonly { readonly id: RolloutTab; readonly name: string }[] = [
  { id: "messages", name: "Messages" },
  { id: "scores", name: "Scores" },
  { id: "usage", name: "Usage" },
  { id: "info", name: "Info" },
  { id: "json", name: "JSON" },
];

/** The code of a row that is stored and is none. */
const UNREADABLE: UnreadableRow["code"] = "row_unreadable";

/** What is known of a rollout, part by part; before that, and where it cannot be had, what to do. */
export function RolloutBody({ store, query, weights, show, run, isRunKnown }: RolloutBodyProps) {
  const outline = store.outline.value;
  const messages = store.messages.value;
  const problem = store.problem.value;
  if (outline === null || messages === null) {
    if (problem === null) return <p role="status">Loading the rollout…</p>;
    if (problem.status === 404 && isRunKnown && run?.edgewise.settled === false)
      return (
        <Notice role="status" tone="plain" title="This rollout is not there yet.">
          <p>It is shown as soon as it is generated.</p>
        </Notice>
      );
    if (problem.code === UNREADABLE)
      return (
        <Notice role="alert" tone="bad" title={singleLine(problem.text)}>
          <p>Its numbers are in the grid all the same. What is stored of it can be kept as a file.</p>
          <p>
            <Download store={store} />
          </p>
        </Notice>
      );
    return <Failure problem={problem} again={() => void store.load()} />;
  }
  return (
    <>
      {problem === null ? null : <Failure problem={problem} again={() => void store.load()} />}
      <RolloutHead outline={outline} raw={query.raw} setRaw={(raw) => void show({ raw })} />
      <Tabs label="Rollout" tabs={TABS} shown={query.tab} onPick={(tab) => void show({ tab })}>
        {query.tab === "messages" ? (
          <MessagesTab key={`${store.place.example}/${store.place.rollout}`} messages={messages} raw={query.raw} linkOf={linkOf} />
        ) : null}
        {query.tab === "scores" ? <ScoresTab outline={outline} store={store} weights={weights} raw={query.raw} run={run} /> : null}
        {query.tab === "usage" ? <UsageTab outline={outline} messageAddress={messageAddress} /> : null}
        {query.tab === "info" ? <InfoTab outline={outline} store={store} raw={query.raw} /> : null}
        {query.tab === "json" ? <JsonTab outline={outline} store={store} /> : null}
      </Tabs>
    </>
  );
}

/** The address of this view at a message: of the tab with the messages. */
function linkOf(number: number): string {
  const url = new URL(location.href);
  url.searchParams.delete("tab");
  url.hash = `m${number}`;
  return url.href;
}

const messageAddress = (number: number): string => {
  const { pathname, search, hash } = new URL(linkOf(number));
  return pathname + search + hash;
};
