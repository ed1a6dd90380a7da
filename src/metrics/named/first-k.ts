/**
 * Metrics over the rewards of a benchmark's tasks, by the definitions of training loops: an attempt passes from a reward of 1.0 on, and `pass@k` and `pass^k` look at the *first* k
 * attempts. They are not the unbiased estimators of a run's report (`pass-at-k.ts`, there called `pass_at_k` and `pass_all_k`), which look at any k of all attempts.
 */

/** Of each task the rewards of its attempts, in the order in which they were made. Tasks without attempts are left out of every metric. */
export type TaskRewards = readonly (readonly number[])[];

/** An attempt passes from here on, inclusive. */
const PASS = 1;

/** How a metric sees one task: its values are averaged within the task first (`task`), or all values of all tasks at once (`sample`). */
export interface TaskMetric {
  readonly over: "task" | "sample";
  readonly values: (rewards: readonly number[]) => readonly number[];
}

const passes = (reward: number): number => Number(reward >= PASS);
const holds = (what: boolean): readonly number[] => [Number(what)];

export const MEAN_REWARD: TaskMetric = { over: "task", values: (rewards) => rewards };
export const PASS_RATE: TaskMetric = { over: "sample", values: (rewards) => rewards.map(passes) };

/** Share of tasks where any of the first `k` attempts passes. */
export const passAtFirst = (k: number): TaskMetric => ({ over: "task", values: (rewards) => holds(rewards.slice(0, k).some((each) => each >= PASS)) });
/** Share of tasks where all of the first `k` attempts pass; of fewer attempts, all there are. */
export const passAllOfFirst = (k: number): TaskMetric => ({ over: "task", values: (rewards) => holds(rewards.slice(0, k).every((each) => each >= PASS)) });
