import { fixed } from "./format.ts";
import type { RescoredMetadata } from "./metadata.ts";

/** What the rows had before they were scored again, and how many examples have other scores now; null for a run that made its own rollouts. */
export function rescoredText(from: RescoredMetadata | undefined, runId: string, examples: number): string | null {
  if (from === undefined) return null;
  const { run_id, avg_reward, changed_examples, rubric, errors_only } = from;
  const whose = run_id === null ? "a folder" : `run ${run_id}`;
  const how = [...(rubric === undefined ? [] : [`by the rubric ${rubric}`]), ...(errors_only === true ? ["failed scorers only"] : [])];
  const before = avg_reward === undefined ? "" : `, whose reward was ${fixed(avg_reward, 3)}`;
  const compare = run_id === null ? "" : ` (npx edgewise compare ${run_id} ${runId})`;
  return `rollouts of ${whose}${before}${how.length === 0 ? "" : `, ${how.join(", ")}`}; ${changed_examples} of ${examples} examples have other scores now${compare}`;
}
