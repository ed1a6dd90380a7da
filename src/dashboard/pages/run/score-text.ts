import { leadsWithRange } from "../../../metrics/one-run/error-bounds.ts";
import { stoppedText } from "../../../metrics/sequential/stopped-early.ts";
import { panelNumber } from "../../../report/text/format.ts";
import { liveSource, liveSureText } from "../../../report/statistics/live-text.ts";
import { boundsText, intervalText, observedText, unscoredText } from "../../../report/statistics/uncertainty.ts";
import type { RunState } from "../../api/run-answers.ts";

/** The headline number of a run. */
export interface Score {
  /** `0.532`, or where errors leave too much open what it is between; null = there is none yet. */
  readonly value: string | null;
  /** How sure it is, and of what: lines of their own. */
  readonly notes: readonly string[];
}

export function scoreOf(state: RunState): Score {
  const { settled, live, reward, error_bounds: bounds = null } = state;
  if (!settled && live !== undefined && live.mean !== null)
    return { value: panelNumber(live.mean), notes: ["so far", liveSureText(live), liveSource(live)].filter((each) => each !== null) };
  if (reward === null) return { value: null, notes: [settled ? "No rollout has a score." : "No example is done yet."] };
  if (bounds !== null && bounds.answered === null) return { value: null, notes: ["No rollout was scored: all of them ended in errors."] };
  const open = bounds === null || bounds.unresolved === 0 ? [] : [boundsText(bounds)];
  if (leadsWithRange(bounds))
    return { value: intervalText([bounds.worst, bounds.best]), notes: [unscoredText(bounds), ...(settled ? ofAll(state) : ["so far"])] };
  return { value: panelNumber(reward), notes: [...(settled ? ofAll(state) : ["so far"]), ...open] };
}

function ofAll({ reward_ci95, n_clusters, cluster_by, stopped_early }: RunState): readonly string[] {
  const over = n_clusters === undefined ? "" : ` over ${observedText(n_clusters, cluster_by)}`;
  if (stopped_early !== undefined) return [`95 % interval at any time ${intervalText(stopped_early.reward_ci95)}`, stoppedText(stopped_early)];
  return [reward_ci95 === null ? "no interval" : `95 % interval ${intervalText(reward_ci95)}${over}`];
}
