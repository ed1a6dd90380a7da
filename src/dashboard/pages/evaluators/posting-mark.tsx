import { singleLine } from "../../../report/text/printable.ts";
import type { ListedEvaluator } from "../../api/schedule-answers.ts";

/** Whether points wait to be posted to MLflow, and why. */
export function PostingMark({ posting }: Pick<ListedEvaluator, "posting">) {
  if (posting === null) return <>has all points</>;
  return (
    <>
      points wait{posting.tries === 0 ? "" : `, tried ${posting.tries} times`}
      {posting.failure === null ? null : <small class="bad-text">{singleLine(posting.failure.message)}</small>}
    </>
  );
}
