import type { Open, SeenRun, StepEnd } from "./state.ts";

/** Whether a run that is over has completed, and has scored something. */
export const hasNumbers = ({ status, rollouts, errored }: SeenRun): boolean => status === "COMPLETED" && rollouts > errored;

/** What an evaluator takes from a run that is over: its numbers, or why there are none. */
export function endOf({ order, replaced_by }: Pick<Open, "order" | "replaced_by">, seen: SeenRun | null): StepEnd {
  if (seen !== null && hasNumbers(seen)) {
    if (seen.unread !== undefined) return { kind: "failed", failure: seen.unread };
    const { metrics } = order.evaluation;
    const { values: buckets = {}, missing: wide = [] } = seen.breakdown ?? {};
    const values = Object.fromEntries(metrics.flatMap((name) => (seen.values[name] === undefined ? [] : [[name, seen.values[name]]])));
    return {
      kind: "evaluated",
      values: { ...values, ...buckets },
      missing: [...metrics.filter((name) => seen.values[name] === undefined), ...wide],
      rollouts: seen.rollouts,
      errored: seen.errored,
    };
  }
  if (replaced_by !== undefined) return { kind: "replaced", by: replaced_by };
  if (seen === null) return { kind: "stopped", reason: "the run was deleted before it had ended" };
  if (seen.suspended) return { kind: "stopped", reason: "the run was interrupted" };
  if (seen.failure !== null) return { kind: "failed", failure: seen.failure };
  if (seen.status === "COMPLETED") return { kind: "failed", failure: { code: "all_rollouts_failed", message: "Every rollout of the run ended in an error." } };
  return { kind: "stopped", reason: `the run ended ${seen.status}` };
}
