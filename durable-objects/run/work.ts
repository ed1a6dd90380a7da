import type { SandboxName } from "../../src/config/sandbox-names.ts";
import type { Place } from "../../r2-layout/place.ts";

/** What of a run's work a call speaks of: units, rollouts of them, and where those are that are there. */

/** Half-open range of units `[lo, hi)`; unit = index of the example in the pinned inputs. */
export interface UnitRange {
  readonly lo: number;
  readonly hi: number;
}

/** Pinned inputs `[lo, hi)` live in `runs/{run}/inputs/{digest}.jsonl`, one line per example. `bytes` is the object's size. */
export interface InputChunk extends UnitRange {
  readonly digest: string;
  readonly bytes: number;
}

/** A finished unit whose listed rollouts (`keep`) stay as they are in `place`, while all others run again. */
export interface Redo {
  readonly unit: number;
  readonly place: Place;
  readonly keep: readonly number[];
  /** Of `keep`, those whose rows are scored again; absent = none. An executor of before keeps them as they are. */
  readonly score?: readonly number[];
  /** Of `keep`, those with another prompt than the first of the example; absent = none. */
  readonly other_prompts?: readonly number[];
}

/** Where generated rollouts of a unit that is not done lie: a kept state per line, each with its index, of which those in `rollouts` count. */
export interface Piece extends Place {
  readonly unit: number;
  readonly rollouts: readonly number[];
  /** Of the other lines, those that are the newest there is of a rollout which stands between two turns, or waits for scores of its own; absent = none. */
  readonly begun?: readonly number[];
  /** Of `begun`, those that are generated and wait for scores of their own; absent = none, and from executors of before. */
  readonly unscored?: readonly number[];
}

/** Half-open range of rollouts `[lo, hi)` of one unit. */
export interface RolloutSpan {
  readonly lo: number;
  readonly hi: number;
}

/** What a run that scores again was made of: the averages of all rows before, and the bytes that its copy of them takes. */
export interface RescoredSource {
  readonly rollouts: number;
  readonly avg_reward: number;
  readonly avg_metrics: Readonly<Record<string, number>>;
  readonly bytes: number;
}

/** A small segment with the bytes of it that count, from its first one on. */
export interface MergeSource {
  readonly segment: string;
  readonly length: number;
}

/** What a grant has to know to remove sandboxes that are left over: those of grants that ended, which no rollout is gone on with in. */
export interface GrantedSandboxes {
  readonly drivers: readonly SandboxName[];
  /** Epochs of the other grants that live. Greater ones than the grant's own are to come. */
  readonly live: readonly number[];
  /** Rollouts stand between two turns, or are gone on with from there: their sandboxes may be of grants that ended. */
  readonly turns: boolean;
}

/** An uploaded result folder, as `ImportSource` has it. */
export interface FolderSource {
  readonly results: string;
  readonly in_parts?: true;
  readonly dataset_digest: string | null;
}

/** One batch at a provider, of a run whose requests go out in batches. Numbered from 1 for as long as the run lives; never used again. */
export type JobNumber = number;

/** Answers of a job that are in storage. */
export interface CollectedJob {
  readonly job: JobNumber;
  /** Name of the object that says where each answer is (src/executor/batching/answer-index.ts). */
  readonly index: string;
  /** Of a generation before this one: what was answered with an error is asked again. */
  readonly earlier?: true;
}
