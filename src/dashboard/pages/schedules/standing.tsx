import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import type { ListedSchedule } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";

/** What is evaluated, in a line: environment and model, as far as the table names them. */
export const evaluatedText = (table: ListedSchedule["definition"]["eval"]): string =>
  [table.env_id, table.model ?? table.endpoint_id].flatMap((each) => (typeof each === "string" ? [singleLine(each)] : [])).join(" · ");

/** Where a schedule stands: paused and why, at work, or waiting for its time. */
export function Standing({ schedule: { paused, active, next, waiting } }: { readonly schedule: ListedSchedule }) {
  const { link } = useDashboard();
  if (paused !== null)
    return (
      <>
        <span class="status pending">
          <span aria-hidden="true">‖</span> Paused
        </span>
        <small>
          {singleLine(paused.reason)} ({paused.by === null ? "by itself" : `by ${singleLine(paused.by)}`})
        </small>
        {paused.failure === undefined ? null : (
          <small class="bad-text">
            {singleLine(paused.failure.message)} {paused.failure.hint === undefined ? null : singleLine(paused.failure.hint)}
          </small>
        )}
      </>
    );
  const more = waiting.length === 0 ? null : <small>{waiting.length === 1 ? "one more waits" : `${waiting.length} more wait`}</small>;
  if (active !== null)
    return (
      <>
        <span class="status running">
          <span aria-hidden="true">▶</span> {active.cancelling ? "Cancelling" : "At work"}
        </span>{" "}
        {active.run_id === null ? "beginning" : <a href={link(runAddress(active.run_id))}>{active.run_id}</a>}
        {active.failure === null ? null : <small class="bad-text">{singleLine(active.failure.message)}</small>}
        {more}
      </>
    );
  return (
    <>
      <span class="status pending">
        <span aria-hidden="true">{next.length === 0 ? "–" : "◷"}</span> {next.length === 0 ? "Over" : "Waits"}
      </span>
      {more}
    </>
  );
}
