import { codesText } from "../../../report/text/code-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { endpointText } from "../../../report/settings.ts";
import { environmentAddress, evaluatorAddress, RUNS, runAddress, scheduleAddress } from "../../address/links.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { useDashboard } from "../../context.ts";
import { useCopy } from "../../design/copy/copy-button.tsx";
import { Moment } from "../../design/moment.tsx";
import { StatusMark, statusText } from "../../design/status-mark.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { Field, Fields } from "./fields.tsx";
import { RunButtons } from "./actions/run-buttons.tsx";
import { RunFailure } from "./run-failure.tsx";
import { RunProgress } from "./run-progress.tsx";
import type { RunStore } from "./run-store.ts";

interface RunHeadProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** What a run is, how far it is, and what can be done to it. */
export function RunHead({ run, store }: RunHeadProps) {
  const { link, viewer } = useDashboard();
  const [said, copy] = useCopy();
  const { evaluation_id: id, status, metadata, edgewise: state } = run;
  const name = singleLine(run.name);
  useShortcuts([
    {
      keys: ["c"],
      does: "Copy the run's id",
      run: () => {
        copy(id);
        return true;
      },
    },
  ]);
  const environment = `${singleLine(metadata.env_id)} ${singleLine(state.env_version)}`;
  const codes = codesText(state.env_digests);
  return (
    <section class="run-head" aria-label="Run">
      <div class="page-head">
        <PageTitle title={name} tab={`${name}: ${statusText(status)}`} />
        <StatusMark status={status} />
        <code>{id}</code>
        <button type="button" class="quiet" title="Copy the id (c)" onClick={() => copy(id)}>
          Copy id
        </button>
        <span class="said" role="status">
          {said}
        </span>
      </div>
      <RunFailure run={run} />
      <RunProgress run={run} store={store} />
      <Fields>
        <Field name="Environment">{viewer.folders === "" ? <a href={link(environmentAddress(metadata.env_id))}>{environment}</a> : environment}</Field>
        <Field name="Model">
          {singleLine(metadata.model)}
          {state.origin === "pushed" ? "" : ` at ${singleLine(endpointText(metadata.base_url))}`}
        </Field>
        {codes === null ? null : <Field name="Code">{codes}</Field>}
        <When name="Created" at={run.created_at} />
        <When name="Began" at={run.started_at} />
        <When name="Ended" at={run.finalized_at} />
        {state.created_by === undefined ? null : (
          <Field name="Created by">
            <a href={link(RUNS, { by: state.created_by })}>{singleLine(state.created_by)}</a>
          </Field>
        )}
        <From run={run} />
        {run.tags.length === 0 ? null : (
          <Field name="Tags">
            {run.tags.map((tag) => (
              <a key={tag} class="tag" href={link(RUNS, { tag })}>
                {singleLine(tag)}
              </a>
            ))}
          </Field>
        )}
      </Fields>
      <RunButtons run={run} store={store} />
    </section>
  );
}

const When = ({ name, at }: { readonly name: string; readonly at: string | null }) =>
  at === null ? null : (
    <Field name={name}>
      <Moment at={at} now={Date.now()} />
    </Field>
  );

/** What made it, where nobody did by hand. */
function From({ run: { edgewise, description } }: { readonly run: Evaluation }) {
  const { link, viewer } = useDashboard();
  const { origin, rescored_from, schedule, evaluator } = edgewise;
  return (
    <>
      {viewer.folders !== "" && description !== null ? <Field name="Folder">{singleLine(description)}</Field> : null}
      {origin === "pushed" && viewer.folders === "" ? <Field name="Made">elsewhere: its samples were pushed here</Field> : null}
      {schedule === undefined ? null : (
        <Field name="Schedule">
          <a href={link(scheduleAddress(schedule.name))}>{singleLine(schedule.name)}</a>
        </Field>
      )}
      {evaluator === undefined ? null : (
        <Field name="Evaluator">
          <a href={link(evaluatorAddress(evaluator.name))}>{singleLine(evaluator.name)}</a>
        </Field>
      )}
      {rescored_from?.run_id == null ? null : (
        <Field name="Scores again">
          <a href={link(runAddress(rescored_from.run_id))}>run {rescored_from.run_id}</a>
        </Field>
      )}
    </>
  );
}
