import { thousands } from "../../../report/text/format.ts";
import { printable } from "../../../report/text/printable.ts";
import { rolloutAddress, samplesAddress } from "../../address/links.ts";
import type { ErrorGroups, Evaluation } from "../../api/run-answers.ts";
import { useDashboard } from "../../context.ts";
import { Notice } from "../../design/notice.tsx";
import { usePolled } from "../../live/use-polled.ts";
import { Asked } from "./actions/asked.tsx";
import { actionsOf } from "./actions/run-actions.ts";
import { useActions } from "./actions/use-actions.ts";
import { PartFailure } from "./part-failure.tsx";
import type { RunStore } from "./run-store.ts";

type Group = ErrorGroups["errors"][number];

interface ErrorsTabProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** Errors by code: how many, what helps, and the first one of each. */
export function ErrorsTab({ run, store }: ErrorsTabProps) {
  const { link } = useDashboard();
  const { evaluation_id: id, edgewise } = run;
  const polled = usePolled<ErrorGroups>(`/evaluations/${id}/errors`, JSON.stringify([edgewise.seq, edgewise.errors]));
  const actions = useActions(store);
  const resume = actionsOf(run).find(({ id: action }) => action === "resume");
  const groups = polled.value.value;
  if (groups === null) return <PartFailure what="Errors" polled={polled} />;
  if (groups.errors.length === 0)
    return (
      <Notice role="status" tone="plain" title="No rollout ended in an error.">
        {edgewise.vitals.retries > 0 ? <p>{`${thousands(edgewise.vitals.retries)} requests were sent again.`}</p> : null}
      </Notice>
    );
  return (
    <>
      <p>
        An error is no score of 0: what the rollouts might have scored is told as a range. <a href={link(samplesAddress(id))}>All samples</a>
      </p>
      {resume === undefined || !groups.errors.some(({ resumable }) => resumable) ? null : (
        <p>
          <button type="button" data-item title={resume.says} onClick={() => actions.ask(resume)}>
            {resume.name}
          </button>
          <span class="said" role="status">
            {actions.said}
          </span>
        </p>
      )}
      <Asked run={run} actions={actions} />
      <div class="scrolled">
        <table class="error-table cards">
          <caption class="visually-hidden">Errors by code</caption>
          <thead>
            <tr>
              <th scope="col">Error</th>
              <th scope="col">Rollouts</th>
              <th scope="col">First example</th>
              <th scope="col">What it says</th>
            </tr>
          </thead>
          <tbody>
            {groups.errors.map((group) => (
              <ErrorRow key={group.code} id={id} group={group} all={groups.rollouts} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function ErrorRow({ id, group: { code, count, category, resumable, first }, all }: { readonly id: string; readonly group: Group; readonly all: number }) {
  const { link } = useDashboard();
  return (
    <tr>
      <th scope="row" data-name="Error">
        <code>{code}</code>
        <small>
          {category}; {resumable ? "a resume makes these again" : "a resume does not draw these again"}
        </small>
      </th>
      <td class="number" data-name="Rollouts">
        {thousands(count)}
        <small>of {thousands(all)}</small>
      </td>
      <td data-name="First example">
        {first === null ? (
          "not known yet"
        ) : (
          <a data-item href={link(rolloutAddress(id, first.example, first.rollout))}>
            {`Example ${printable(String(first.example_id ?? first.example))}, attempt ${first.rollout}`}
          </a>
        )}
      </td>
      <td data-name="What it says">
        <div class="error-message">{first === null ? "" : first.message === null ? "Its row cannot be read." : printable(first.message)}</div>
      </td>
    </tr>
  );
}
