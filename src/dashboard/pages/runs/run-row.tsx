import { isNothingScored } from "../../../metrics/one-run/error-bounds.ts";
import { dollarsText } from "../../../report/text/cost-text.ts";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { runAddress } from "../../address/links.ts";
import type { ListedEvaluation } from "../../api/answers.ts";
import { useDashboard } from "../../context.ts";
import { Moment } from "../../design/moment.tsx";
import { Progress } from "../../design/progress.tsx";
import { StatusMark, standingText } from "../../design/status-mark.tsx";
import { changed, type RunsQuery, toggled } from "./runs-query.ts";

interface RunRowProps {
  readonly run: ListedEvaluation;
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery, replaces?: boolean) => void;
}

/** One run of the list. */
export function RunRow({ run, query, go }: RunRowProps) {
  const { link } = useDashboard();
  const { evaluation_id: id, status, created_at, error_message, metadata, edgewise } = run;
  const name = singleLine(run.name);
  const standing = standingText(run);
  return (
    <tr class={query.chosen.includes(id) ? "is-chosen" : undefined}>
      <td data-name="Choose">
        <input
          type="checkbox"
          aria-label={`Choose run ${id}`}
          title="Choose (x)"
          checked={query.chosen.includes(id)}
          onChange={() => go({ ...query, chosen: toggled(query, id) })}
        />
      </td>
      <td data-name="Status">
        <StatusMark status={status} />
        {standing === null ? null : <small>{standing}</small>}
        {error_message === null ? null : <small class="bad-text clipped">{singleLine(error_message)}</small>}
      </td>
      <td data-name="Run">
        <a class="row-link run-link" href={link(runAddress(id))}>
          {name}
        </a>
        <small>
          <code>{id}</code>
        </small>
        {run.tags.length === 0 ? null : (
          <small class="tags">
            {[...new Set(run.tags)].map((tag) => (
              <button key={tag} type="button" class="picks tag" title="Only runs with this tag" onClick={() => go(changed(query, { tag }))}>
                {singleLine(tag)}
              </button>
            ))}
          </small>
        )}
      </td>
      <td data-name="Environment">
        <button type="button" class="picks" title="Only runs of this environment" onClick={() => go(changed(query, { environment: metadata.env_id }))}>
          {singleLine(metadata.env_id)}
        </button>
      </td>
      <td data-name="Model">
        <button type="button" class="picks" title="Only runs of this model" onClick={() => go(changed(query, { model: metadata.model }))}>
          {singleLine(metadata.model)}
        </button>
      </td>
      <td data-name="Reward" class="number">
        <Reward edgewise={edgewise} />
      </td>
      <td data-name="Done">
        <Progress done={edgewise.done_rollouts} total={edgewise.total_rollouts} label={`Rollouts of ${id} that are done`} />
        <small>
          {thousands(edgewise.done_rollouts)} of {thousands(edgewise.total_rollouts)}
          {edgewise.errored_rollouts ? `, ${thousands(edgewise.errored_rollouts)} with an error` : ""}
        </small>
      </td>
      <td data-name="Tokens" class="number is-end">
        {edgewise.tokens === undefined ? "" : thousands(edgewise.tokens.input + edgewise.tokens.output)}
      </td>
      <td data-name="Cost" class="number is-end">
        {edgewise.cost === undefined ? "" : dollarsText(edgewise.cost.total_usd)}
      </td>
      <td data-name="Created">
        <Moment at={created_at} now={Date.now()} />
        {edgewise.created_by === undefined ? null : (
          <small>
            by{" "}
            <button type="button" class="picks" title="Only runs of this person" onClick={() => go(changed(query, { by: edgewise.created_by ?? "" }))}>
              {singleLine(edgewise.created_by)}
            </button>
          </small>
        )}
      </td>
    </tr>
  );
}

/** The mean reward and how sure it is; of runs that go on what it is so far. */
function Reward({ edgewise: { reward, reward_ci95, done_rollouts, errored_rollouts, settled } }: Pick<ListedEvaluation, "edgewise">) {
  if (reward === null || isNothingScored(done_rollouts, errored_rollouts)) return null;
  return (
    <>
      {panelNumber(reward)}
      <small>{reward_ci95 === null ? (settled ? "" : "so far") : intervalText(reward_ci95)}</small>
      {errored_rollouts ? <small title="Means of what the rows say, where an error is a 0; the run's page has the range">errors counted in</small> : null}
    </>
  );
}
