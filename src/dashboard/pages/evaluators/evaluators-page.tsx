import { useRef } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { evaluatorAddress } from "../../address/links.ts";
import type { EvaluatorList, ListedEvaluator } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { type ListColumn, ListTable } from "../../design/list/list-table.tsx";
import { Looked } from "../../design/looked.tsx";
import { Moment } from "../../design/moment.tsx";
import { Notice } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { useLook } from "../../live/use-look.ts";
import { OutcomeMark } from "./outcome-mark.tsx";
import { PostingMark } from "./posting-mark.tsx";

/** Evaluations from training loops: how far each is. */
export function EvaluatorsPage() {
  const look = useLook<EvaluatorList>("/evaluators");
  const evaluators = look.value.value?.data;
  return (
    <>
      <div class="page-head">
        <PageTitle title="Evaluators" />
        <p class="count" role="status">
          {evaluators === undefined ? "" : `${thousands(evaluators.length)} ${evaluators.length === 1 ? "evaluator" : "evaluators"}`}
        </p>
      </div>
      <Looked look={look} what="these evaluators are as they were">
        {({ data }) => (data.length === 0 ? <NoEvaluators /> : <Evaluators evaluators={data} isLoading={look.isLoading.value} />)}
      </Looked>
    </>
  );
}

const NoEvaluators = () => (
  <Notice role="status" tone="plain" title="No evaluator yet.">
    <p>An evaluator makes runs of the checkpoints that a training loop posts. In a terminal, from a file with an [[evaluator]]:</p>
    <pre>npx edgewise evaluator apply evaluators.toml</pre>
  </Notice>
);

function Evaluators({ evaluators, isLoading }: { readonly evaluators: readonly ListedEvaluator[]; readonly isLoading: boolean }) {
  const { link } = useDashboard();
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body, "evaluator");
  const now = Date.now();
  const columns: readonly ListColumn<ListedEvaluator>[] = [
    {
      name: "Evaluator",
      cell: ({ name, definition, paused }) => (
        <>
          <a class="row-link" href={link(evaluatorAddress(name))}>
            {singleLine(name)}
          </a>
          <small>{definition.evaluations.map((each) => singleLine(each.name)).join(", ")}</small>
          {paused === null ? null : <small>‖ Paused: {singleLine(paused.reason)}</small>}
        </>
      ),
    },
    { name: "Last step", isNumber: true, cell: ({ last }) => (last === null ? "none yet" : thousands(last.step)) },
    { name: "Model", cell: ({ last }) => (last === null ? null : singleLine(last.model)) },
    { name: "Came to", cell: ({ last }) => (last === null ? null : <OutcomeMark outcome={last.outcome} />) },
    { name: "Unfinished", isNumber: true, cell: ({ open }) => (open === 0 ? "none" : thousands(open)) },
    ...(evaluators.some(({ definition }) => definition.mlflow !== undefined) ? [MLFLOW] : []),
    { name: "Posted", cell: ({ last }) => <Moment at={last?.posted_at ?? null} now={now} /> },
  ];
  return (
    <>
      {evaluators.every(({ served }) => served) ? null : <NotServed />}
      <ListTable caption="Evaluators" columns={columns} rows={evaluators} keyOf={({ name }) => name} isLoading={isLoading} body={body} />
    </>
  );
}

const MLFLOW: ListColumn<ListedEvaluator> = {
  name: "MLflow",
  cell: ({ posting, definition }) => (definition.mlflow === undefined ? "not asked for" : <PostingMark posting={posting} />),
};

/** A service that a command started for itself ends with it. */
export const NotServed = () => (
  <Notice role="status" tone="warning" title="This service evaluates no steps: it ends with the command that started it.">
    <p>
      <code>npx edgewise serve</code> does.
    </p>
  </Notice>
);
