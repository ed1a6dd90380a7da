import { trajectoryOf } from "./judge-usage.ts";

/** Which of its example's rollouts a state is of, and how often it has asked each question: what tells one attempt at an answer from the next (docs/decisions/cached-answers.md). */
interface Asker {
  readonly rollout: number;
  readonly times: Map<string, number>;
}

/** By the names of questions. */
export type AskedTimes = Readonly<Record<string, number>>;

/** Of one question, which attempt at it this is. */
export interface AskedTime {
  readonly rollout: number;
  /** Of equal questions of this rollout, from 0. */
  readonly time: number;
  /** There was no answer: whoever asks again makes the same attempt. */
  readonly failed: () => void;
}

/** Beside the states, by their trajectories: an environment may hand its model a copy of the state. */
const askers = new WeakMap<object, Asker>();

const askerOf = (state: Readonly<Record<string, unknown>>): Asker | null => {
  const trajectory = trajectoryOf(state);
  return (trajectory === null ? undefined : askers.get(trajectory)) ?? null;
};

/** Says which rollout a state is of; what it has asked already stays. */
export function nameRollout(state: Readonly<Record<string, unknown>>, rollout: number): void {
  const trajectory = trajectoryOf(state);
  if (trajectory !== null) askers.set(trajectory, { rollout, times: askers.get(trajectory)?.times ?? new Map() });
}

/** Which rollout a state is of; null where nobody said it. */
export function rolloutOf(state: Readonly<Record<string, unknown>>): number | null {
  return askerOf(state)?.rollout ?? null;
}

/** Counts one question of a rollout, by what it is called; null for a state that is of no rollout. */
export function askedTime(state: Readonly<Record<string, unknown>>, question: string): AskedTime | null {
  const asker = askerOf(state);
  if (asker === null) return null;
  const { rollout, times } = asker;
  const time = times.get(question) ?? 0;
  times.set(question, time + 1);
  const failed = (): void => {
    if (times.get(question) === time + 1) times.set(question, time);
  };
  return { rollout, time, failed };
}

/** How often it has asked each of its questions; null where it has asked none. */
export function askedTimesOf(state: Readonly<Record<string, unknown>>): AskedTimes | null {
  const asker = askerOf(state);
  return asker === null || asker.times.size === 0 ? null : Object.fromEntries(asker.times);
}

/** For a state that is opened again: it numbers on from there, once its rollout is named. */
export function keepAskedTimes(state: Readonly<Record<string, unknown>>, times: AskedTimes): void {
  const trajectory = trajectoryOf(state);
  const counted = Object.entries(times).filter(([, time]) => Number.isSafeInteger(time));
  if (trajectory !== null) askers.set(trajectory, { rollout: askers.get(trajectory)?.rollout ?? 0, times: new Map(counted) });
}
