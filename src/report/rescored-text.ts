import { fixed } from "./text/format.ts";
import type { RescoredMetadata } from "./metadata.ts";
import { quoted } from "./text/shell-word.ts";

/**
 * What the rows had before they were scored again, and how many examples have other scores now; null for a run that made its own rollouts. `folder`: where
 * the rows are on this machine; null = that is not known. Only what is found there, or by the service, is named as what to compare with.
 */
export function rescoredText(from: RescoredMetadata | undefined, runId: string, examples: number, folder: string | null): string | null {
  if (from === undefined) return null;
  const { run_id, avg_reward, changed_examples, rubric, errors_only, from_folder } = from;
  const source = folder ?? (from_folder === true ? null : run_id);
  const whose = run_id === null ? (folder ?? "a folder") : `run ${run_id}`;
  const how = [...(rubric === undefined ? [] : [`by the rubric ${rubric}`]), ...(errors_only === true ? ["failed scorers only"] : [])];
  const before = avg_reward === undefined ? "" : `, whose reward was ${fixed(avg_reward, 3)}`;
  const compare = source === null ? "" : ` (npx edgewise compare ${quoted(source)} ${runId})`;
  return `rollouts of ${whose}${before}${how.length === 0 ? "" : `, ${how.join(", ")}`}; ${changed_examples} of ${examples} examples have other scores now${compare}`;
}
