import type { State } from "../types.ts";

/** What of a rollout's reward its group is compared by: of several rubrics the first's, which its steps are credited with, and the last's. */
export interface GroupShares {
  readonly first: number;
  readonly last: number;
}

/** Beside the states, as what judges took: no reward function is to meet them. */
const kept = new WeakMap<State, GroupShares>();

const finite = (reward: number): number => (Number.isFinite(reward) ? reward : 0);

export const keepShares = (state: State, { first, last }: GroupShares): void => void kept.set(state, { first: finite(first), last: finite(last) });

/** Of a rollout that is scored; `reward` stands for both where nothing else is known. */
export const sharesOf = (state: State, reward: number): GroupShares => kept.get(state) ?? { first: reward, last: reward };
