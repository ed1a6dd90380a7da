import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { panelNumber } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import type { SeriesEntry } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { StatusMark } from "../../design/status-mark.tsx";

/** What came of a due time: its run, or why there is none. */
export function CameTo({ entry: { outcome, run_id, status, reason, removed }, rowLink = false }: { readonly entry: SeriesEntry; readonly rowLink?: boolean }) {
  const { link } = useDashboard();
  if (run_id === null)
    return (
      <>
        {outcome === "skipped" ? "Skipped" : "Not begun"}
        {reason === null ? null : <small class={outcome === "failed" ? "bad-text" : undefined}>{singleLine(reason)}</small>}
      </>
    );
  // What somebody keeps is there though the schedule would have deleted it.
  return (
    <>
      <a class={rowLink ? "row-link" : undefined} href={link(runAddress(run_id))}>
        <code>{run_id}</code>
      </a>{" "}
      {status === null ? removed ? "gone" : "at work" : <StatusMark status={status} />}
      {removed && status !== null ? <small>older than those that are kept</small> : null}
    </>
  );
}

/** Mean reward of the run and how sure it is. */
export const EntryReward = ({ entry: { reward, reward_ci95 } }: { readonly entry: Pick<SeriesEntry, "reward" | "reward_ci95"> }) =>
  reward === null ? null : (
    <>
      {panelNumber(reward)}
      {reward_ci95 === null ? null : <small>{intervalText(reward_ci95)}</small>}
    </>
  );
