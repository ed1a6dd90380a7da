import { useRef } from "preact/hooks";
import { isNothingScored } from "../../../metrics/one-run/error-bounds.ts";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { NEW_RUN, RUNS, runAddress } from "../../address/links.ts";
import type { EvaluationList } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { useDashboard } from "../../context.ts";
import { Moment } from "../../design/moment.tsx";
import { StatusMark } from "../../design/status-mark.tsx";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";

/** How many are shown; the page of runs has the others. */
const NEWEST = 5;

/** The newest runs of an environment, with what they scored. `reference`: the id that its runs have. */
export function EnvironmentRuns({ reference }: { readonly reference: string }) {
  const { link } = useDashboard();
  const runs = useAnswer<EvaluationList>("/evaluations/", { environment_name: reference, limit: NEWEST });
  const list = useRef<HTMLTableSectionElement>(null);
  useRowKeys(list, "run of it");
  const { value, problem } = runs;
  return (
    <section aria-label="Evaluations">
      <h2>Evaluations</h2>
      {value === null ? <p role="status">{problem === null ? "Loading its runs…" : `Its runs could not be had: ${problem.text}`}</p> : null}
      {value?.total === 0 ? (
        <p>
          None yet. <a href={link(NEW_RUN, { environment: reference })}>Run it</a>
        </p>
      ) : null}
      {value === null || value.total === 0 ? null : (
        <>
          <div class="scrolled">
            <table class="rows">
              <caption class="visually-hidden">Its newest runs</caption>
              <thead>
                <tr>
                  <th scope="col">Run</th>
                  <th scope="col">Status</th>
                  <th scope="col">Model</th>
                  <th scope="col">Reward</th>
                  <th scope="col">Created</th>
                </tr>
              </thead>
              <tbody ref={list}>
                {value.evaluations.map(({ evaluation_id: id, name, status, created_at, metadata, edgewise }) => (
                  <tr key={id}>
                    <td data-name="Run">
                      <a class="row-link" href={link(runAddress(id))}>
                        {singleLine(name)}
                      </a>
                      <small>
                        <code>{id}</code>
                      </small>
                    </td>
                    <td data-name="Status">
                      <StatusMark status={status} />
                    </td>
                    <td data-name="Model">{singleLine(metadata.model)}</td>
                    <td data-name="Reward" class="number">
                      {edgewise.reward === null || isNothingScored(edgewise.done_rollouts, edgewise.errored_rollouts) ? (
                        ""
                      ) : (
                        <>
                          {panelNumber(edgewise.reward)}
                          <small>{edgewise.reward_ci95 === null ? (edgewise.settled ? "" : "so far") : intervalText(edgewise.reward_ci95)}</small>
                        </>
                      )}
                    </td>
                    <td data-name="Created">
                      <Moment at={created_at} now={Date.now()} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p>
            <a href={link(RUNS, { env: reference })}>{value.total === 1 ? "Its run" : `All ${thousands(value.total)} runs`} in the list of runs</a>
          </p>
        </>
      )}
    </section>
  );
}
