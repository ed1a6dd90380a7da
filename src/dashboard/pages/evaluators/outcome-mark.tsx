import type { StepRecord } from "../../api/schedule-answers.ts";

const LOOKS: Readonly<Record<StepRecord["outcome"], { readonly text: string; readonly sign: string; readonly look: string }>> = {
  open: { text: "Unfinished", sign: "▶", look: "running" },
  evaluated: { text: "Evaluated", sign: "✓", look: "completed" },
  failed: { text: "Failed", sign: "✕", look: "failed" },
  stopped: { text: "Stopped", sign: "–", look: "cancelled" },
  replaced: { text: "Replaced by a later step", sign: "↷", look: "cancelled" },
};

/** What came of an evaluation of a step, in a word, a sign and a colour. */
export const OutcomeMark = ({ outcome }: { readonly outcome: StepRecord["outcome"] }) => (
  <span class={`status ${LOOKS[outcome].look}`}>
    <span aria-hidden="true">{LOOKS[outcome].sign}</span> {LOOKS[outcome].text}
  </span>
);
