import { printable } from "../../../report/text/printable.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { Notice } from "../../design/notice.tsx";

/** What went wrong with a run as a whole, and what to do. */
export function RunFailure({ run: { error_message, edgewise } }: { readonly run: Evaluation }) {
  const { failure, unscored, grouping_problem } = edgewise;
  return (
    <>
      {failure === undefined ? (
        error_message === null ? null : (
          <Notice role="status" tone="bad" title={printable(error_message)} />
        )
      ) : (
        <Notice role="status" tone="bad" title={printable(failure.message)}>
          {failure.hint === undefined ? null : <p>{printable(failure.hint)}</p>}
          <p>
            <code>{failure.code}</code>; the log says what came before it.
          </p>
        </Notice>
      )}
      {edgewise.ended_by === "budget" ? (
        <Notice role="status" tone="warning" title="Its budget was used up.">
          <p>What was done is counted. Once the budget allows more, a resume goes on.</p>
        </Notice>
      ) : null}
      {unscored === undefined ? null : (
        <Notice role="status" tone="warning" title={`${unscored.rollouts} rollouts could not be scored again.`}>
          <p>The reward functions read {unscored.state.map((key) => printable(key)).join(", ")}, which stored rows do not hold.</p>
        </Notice>
      )}
      {grouping_problem === undefined ? null : <Notice role="status" tone="warning" title={printable(grouping_problem)} />}
    </>
  );
}
