import { printableJson, singleLine } from "../../../report/text/printable.ts";
import type { Schedule } from "../../api/schedule-answers.ts";
import { CopyButton } from "../../design/copy/copy-button.tsx";
import { localText } from "../../design/times.ts";
import { Facts } from "../../design/list/facts.tsx";
import { Part } from "../../design/list/part.tsx";

/** What a schedule is, and how it is changed. */
export function ScheduleSettings({
  schedule: { name, definition, created_by, created_at, updated_at, pinned_dataset_digest, env_digest },
}: {
  readonly schedule: Schedule;
}) {
  const { overlap, catch_up, until, keep, data, run_name, drift } = definition;
  const json = printableJson(definition, 2);
  return (
    <Part title="Settings" aside={<CopyButton text={json} name="Copy the definition" />}>
      <Facts
        facts={[
          ["While a run is at work", overlap],
          ["Of times that passed", catch_up],
          ["Until", until === undefined ? null : localText(until)],
          ["Runs that are kept", keep === undefined ? "all" : String(keep)],
          ["Data", data === "latest" ? "latest" : (pinned_dataset_digest ?? "those of the first run")],
          ["Code", env_digest],
          ["Runs are called", run_name === undefined ? null : singleLine(run_name)],
          ["Held against", drift.baseline === "first" ? (drift.first === 1 ? "the first run" : `the first ${drift.first} runs`) : singleLine(drift.baseline)],
          ["False alarms", drift.baseline === "none" ? null : `at most ${drift.false_alarms} in 100 runs`],
          ["Runs as", singleLine(created_by)],
          ["Created", localText(created_at)],
          ["Changed", localText(updated_at)],
        ]}
      />
      <details>
        <summary>Definition</summary>
        <pre>{json}</pre>
      </details>
      <p class="count">
        It is changed by <code>npx edgewise schedule apply</code>, or by <code>PUT /api/v1/schedules/{singleLine(name)}</code>.
      </p>
    </Part>
  );
}
