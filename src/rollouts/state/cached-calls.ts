import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import { addJudges } from "../../metrics/totals.ts";
import type { Usage } from "../types.ts";
import { NO_JUDGES } from "./judge-usage.ts";

/** Who is asked: the model under evaluation, or one that the environment calls itself. */
export type AskedRole = "model" | "judges";

/** Calls that were answered from the cache and sent to nobody, and the tokens of their answers: none of them is in what judges took (judge-usage.ts). */
export type CachedCalls = Readonly<Record<AskedRole, JudgeUsage>>;

/** As JudgeMeter: beside the states, by their trajectories. */
const counted = new WeakMap<object, CachedCalls>();

const trajectoryOf = ({ trajectory }: Readonly<Record<string, unknown>>): object | null => (Array.isArray(trajectory) ? trajectory : null);

/** Null where none was. */
export function cachedCallsOf(state: Readonly<Record<string, unknown>>): CachedCalls | null {
  const trajectory = trajectoryOf(state);
  return (trajectory === null ? undefined : counted.get(trajectory)) ?? null;
}

/** For a state that is opened again. */
export function keepCachedCalls(state: Readonly<Record<string, unknown>>, calls: CachedCalls): void {
  const trajectory = trajectoryOf(state);
  if (trajectory !== null) counted.set(trajectory, calls);
}

/** One call of the rollout whose state that is. */
export function countCachedCall(state: Readonly<Record<string, unknown>>, role: AskedRole, usage: Usage | null): void {
  const before = cachedCallsOf(state) ?? { model: NO_JUDGES, judges: NO_JUDGES };
  const more = { requests: 1, input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 };
  keepCachedCalls(state, { ...before, [role]: addJudges(before[role], more) });
}
