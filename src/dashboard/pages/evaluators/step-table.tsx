import { useRef, useState } from "preact/hooks";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import type { Evaluator, StepRecord } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { type ListColumn, ListTable } from "../../design/list/list-table.tsx";
import { Part } from "../../design/list/part.tsx";
import { localText, utcText } from "../../design/times.ts";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { OutcomeMark } from "./outcome-mark.tsx";

const STEP = 50;
/** Values of a step that are written out; the others are in the chart's table, a metric at a time. */
const MOST_VALUES = 6;

interface StepTableProps {
  /** In the order of steps. */
  readonly records: readonly StepRecord[];
  readonly atWork: Evaluator["at_work"];
}

/** What became of each evaluation of a step, the newest first. */
export function StepTable({ records, atWork }: StepTableProps) {
  const { link } = useDashboard();
  const [shown, setShown] = useState(STEP);
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body, "step");
  const columns: readonly ListColumn<StepRecord>[] = [
    { name: "Step", isNumber: true, cell: ({ step }) => thousands(step) },
    { name: "Evaluation", cell: ({ evaluation }) => singleLine(evaluation) },
    { name: "Model", cell: ({ model }) => singleLine(model) },
    { name: "Came to", cell: (record) => <CameTo record={record} atWork={atWork} /> },
    {
      name: "Run",
      cell: ({ run_id }) =>
        run_id === null ? null : (
          <a class="row-link" href={link(runAddress(run_id))}>
            <code>{run_id}</code>
          </a>
        ),
    },
    { name: "Values", isNumber: true, cell: (record) => <Values record={record} /> },
    { name: "Rollouts", isNumber: true, cell: ({ rollouts, errored }) => rolloutsText(rollouts, errored) },
    {
      name: "Posted",
      cell: ({ posted_at }) => (
        <time dateTime={posted_at} title={utcText(posted_at)}>
          {localText(posted_at)}
        </time>
      ),
    },
  ];
  return (
    <Part title="Steps">
      {records.length === 0 ? <p role="status">No step is posted yet.</p> : null}
      {records.length === 0 ? null : (
        <ListTable
          caption="Evaluations of steps"
          columns={columns}
          rows={records.toReversed().slice(0, shown)}
          keyOf={({ step, evaluation }) => `${step} ${evaluation}`}
          body={body}
        />
      )}
      {records.length > shown ? (
        <button type="button" onClick={() => setShown(shown + STEP)}>
          Show more
        </button>
      ) : null}
    </Part>
  );
}

const rolloutsText = (rollouts: number | null, errored: number | null): string =>
  rollouts === null ? "" : `${thousands(rollouts)}${errored ? `, ${thousands(errored)} with an error` : ""}`;

function CameTo({ record: { step, evaluation, outcome, reason }, atWork }: { readonly record: StepRecord; readonly atWork: Evaluator["at_work"] }) {
  const work = atWork.find((each) => each.step === step && each.evaluation === evaluation);
  return (
    <>
      <OutcomeMark outcome={outcome} />
      {work?.queued ? <small>waits for those before it</small> : null}
      {work?.failure == null ? null : <small class="bad-text">{singleLine(work.failure.message)}</small>}
      {reason === null ? null : <small class={outcome === "failed" ? "bad-text" : undefined}>{singleLine(reason)}</small>}
    </>
  );
}

function Values({ record: { values, missing } }: { readonly record: StepRecord }) {
  const all = Object.entries(values);
  return (
    <>
      {all.slice(0, MOST_VALUES).map(([name, { value, ci95 }]) => (
        <div key={name}>
          {singleLine(name)} {panelNumber(value)}
          {ci95 === undefined ? null : <small>{intervalText(ci95)}</small>}
        </div>
      ))}
      {all.length > MOST_VALUES ? <small>and {all.length - MOST_VALUES} more</small> : null}
      {missing.length === 0 ? null : <small class="bad-text">not known: {singleLine(missing.join(", "))}</small>}
    </>
  );
}
