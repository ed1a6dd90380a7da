import { singleLine } from "../../../../report/text/printable.ts";
import type { Monitor } from "../../../api/settings-answers.ts";
import { Moment } from "../../../design/moment.tsx";

const LOOKS: Readonly<Record<Monitor["state"], { readonly text: string; readonly sign: string; readonly look: string }>> = {
  new: { text: "No beat yet", sign: "○", look: "pending" },
  alive: { text: "Alive", sign: "✓", look: "completed" },
  late: { text: "Late", sign: "◷", look: "running" },
  lost: { text: "Lost", sign: "✕", look: "failed" },
  done: { text: "Ended in order", sign: "–", look: "cancelled" },
  paused: { text: "Paused", sign: "‖", look: "pending" },
};

/** Whether a job lives, in a word, a sign and a colour, and since when. */
export const MonitorMark = ({ monitor: { state, since, paused } }: { readonly monitor: Monitor }) => (
  <>
    <span class={`status ${LOOKS[state].look}`}>
      <span aria-hidden="true">{LOOKS[state].sign}</span> {LOOKS[state].text}
    </span>{" "}
    <Moment at={since} now={Date.now()} />
    {paused === null ? null : (
      <small>
        {singleLine(paused.reason)} (by {singleLine(paused.by)})
      </small>
    )}
  </>
);
