import { verdictText } from "../../../report/schedules/drift-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { SeriesEntry } from "../../api/schedule-answers.ts";

const SIGNS: Readonly<Record<string, { readonly sign: string; readonly look: string }>> = {
  steady: { sign: "=", look: "completed" },
  worse: { sign: "▼", look: "failed" },
  better: { sign: "▲", look: "running" },
};

/** Where a series lies, in a word, a sign and a colour. */
export const VerdictMark = ({ verdict }: { readonly verdict: string }) => (
  <span class={`status ${SIGNS[verdict]?.look ?? "pending"}`}>
    <span aria-hidden="true">{SIGNS[verdict]?.sign ?? "○"}</span> {verdict}
  </span>
);

/** What is said of one run. */
export function DriftMark({ drift }: { readonly drift: SeriesEntry["drift"] }) {
  if (drift === null) return null;
  const text = singleLine(verdictText(drift));
  const rest = text.startsWith(drift.verdict) ? text.slice(drift.verdict.length).replace(/^:? /, "") : text;
  return (
    <>
      <VerdictMark verdict={drift.verdict} />
      {rest === "" ? null : <small>{rest}</small>}
    </>
  );
}
