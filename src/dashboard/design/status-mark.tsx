import type { ListedEvaluation } from "../api/answers.ts";

const LOOKS: Readonly<Record<ListedEvaluation["status"], { readonly text: string; readonly sign: string }>> = {
  PENDING: { text: "Pending", sign: "○" },
  RUNNING: { text: "Running", sign: "▶" },
  COMPLETED: { text: "Completed", sign: "✓" },
  FAILED: { text: "Failed", sign: "✕" },
  TIMEOUT: { text: "Timed out", sign: "◷" },
  CANCELLED: { text: "Cancelled", sign: "–" },
};

/** What stands beside the status, where there is something: that a run is paused or waits. */
export function standingText({ edgewise: { suspended, waiting, paused, stopped_early } }: ListedEvaluation): string | null {
  if (suspended) return "waiting to be resumed";
  if (paused) return "paused";
  if (waiting) return "waiting for its code";
  return stopped_early ? "stopped early, by its rule" : null;
}

/** A status in a word, a sign and a colour. */
export const StatusMark = ({ status }: { readonly status: ListedEvaluation["status"] }) => (
  <span class={`status ${status.toLowerCase()}`}>
    <span aria-hidden="true">{LOOKS[status].sign}</span> {LOOKS[status].text}
  </span>
);

export const statusText = (status: ListedEvaluation["status"]): string => LOOKS[status].text;
