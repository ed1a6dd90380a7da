import type { RunStatus } from "../config/run-status.ts";
import type { Failure } from "../errors/result.ts";
import type { Creator } from "../schedules/state.ts";
import type { Evaluation, EvaluatorDefinition } from "./definition.ts";

/** What one evaluator knows of itself. All times are Unix milliseconds; steps are counted from 0, as trainers count. */

/** A step as the trainer posts it. */
export interface PostedStep {
  readonly step: number;
  readonly model: string;
  readonly api_base_url?: string;
  readonly api_key_var?: string;
  /** Training is over: evaluations without a cadence are due too, and only they. */
  readonly final?: true;
  /** Somebody wants it evaluated whatever the cadences say, and whether or not the evaluator is paused. */
  readonly now?: true;
}

/** Steps that are due are passed over until somebody resumes it. */
export interface PausedEvaluator {
  readonly at: number;
  readonly by: string;
  readonly reason: string;
}

/** What is created for an evaluation of a step: as it was when the step was posted, whatever becomes of the definition. */
export interface StepOrder {
  /** Key of the creation: the same for the same step and evaluation of the same evaluator, and of no other. */
  readonly key: string;
  readonly evaluator: string;
  readonly posted: PostedStep;
  readonly evaluation: Omit<Evaluation, "run_every">;
  readonly creator: Creator;
}

/** An evaluation of a step that is not finished. */
export interface Open {
  readonly order: StepOrder;
  /** Waits until older steps of its evaluation are finished. */
  readonly queued: boolean;
  readonly since: number;
  readonly run_id: string | null;
  /** Attempts to create it, or looks at its run. */
  readonly tries: number;
  readonly retry_at: number;
  /** The step that takes its place: its run is to end. */
  readonly replaced_by?: number;
  /** Of the last attempt to create it, or what keeps its run's numbers from being known. */
  readonly failure?: Failure;
}

/** Points wait to be posted to where the definition says. */
export interface Posting {
  readonly tries: number;
  readonly retry_at: number;
  /** Of the last attempt. */
  readonly failure?: Failure;
}

export interface EvaluatorState {
  readonly version: 1;
  readonly name: string;
  /** Drawn when it was made: another evaluator of the same name is another one. */
  readonly id: string;
  readonly definition: EvaluatorDefinition;
  readonly creator: Creator;
  readonly created_at: number;
  readonly updated_at: number;
  /** In the order in which they were posted. */
  readonly open: readonly Open[];
  readonly posting: Posting | null;
  /** Absent: it is not paused, as none was that is older than this. */
  readonly paused?: PausedEvaluator;
}

/** One number of a run. */
export interface Value {
  readonly value: number;
  /** Absent where the data say nothing of it. */
  readonly ci95?: readonly [number, number];
}

/** What an evaluation takes from its run. */
export type AwaitedNumbers = Pick<Evaluation, "metrics" | "breakdown_keys">;

/** Metrics of the tasks that share a value. */
export interface Breakdown {
  /** By name. */
  readonly values: Readonly<Record<string, Value>>;
  /** `<metric>[<key>]` for keys with more values, or longer ones, than a step keeps numbers of: there is no number of them. */
  readonly missing: readonly string[];
}

/** What is seen of a run. */
export interface SeenRun {
  /** It has settled, or nothing will happen in it until somebody resumes it. */
  readonly over: boolean;
  readonly status: RunStatus;
  readonly suspended: boolean;
  readonly failure: Failure | null;
  /** Rollouts, and those of them that ended in an error. */
  readonly rollouts: number;
  readonly errored: number;
  /** By name, as far as the run has them. */
  readonly values: Readonly<Record<string, Value>>;
  /** Of its tasks by what they share; absent = nobody asked. */
  readonly breakdown?: Breakdown;
  /** Its rewards were to be read, and cannot be: absent = they were, or nobody asked for them. */
  readonly unread?: Failure;
}

/** What the rewards of a run came to, or why they will never be read. */
export type ReadRewards =
  | { readonly ok: true; readonly values: Readonly<Record<string, Value>>; readonly breakdown?: Breakdown }
  | { readonly ok: false; readonly failure: Failure };

/** What became of an evaluation of a step. Numbers are of `evaluated` alone. */
export type StepEnd =
  | {
      readonly kind: "evaluated";
      readonly values: Readonly<Record<string, Value>>;
      /** Names that were asked for, and that the run has not. */
      readonly missing: readonly string[];
      readonly rollouts: number;
      readonly errored: number;
    }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** Somebody ended its run, or its time was over. */
  | { readonly kind: "stopped"; readonly reason: string }
  | { readonly kind: "replaced"; readonly by: number };

/** What is to be done outside. Safe to repeat; what comes of it is told in an event. */
export type Action =
  | { readonly do: "create"; readonly step: number; readonly evaluation: string }
  | { readonly do: "look"; readonly run_id: string; readonly metrics: readonly string[] }
  | { readonly do: "cancel"; readonly run_id: string }
  | { readonly do: "post" };

/** What is kept of what happened: the series. */
export type Note =
  | { readonly note: "posted"; readonly posted: PostedStep; readonly evaluation: string }
  | { readonly note: "created"; readonly step: number; readonly evaluation: string; readonly run_id: string }
  | { readonly note: "ended"; readonly step: number; readonly evaluation: string; readonly end: StepEnd }
  /** Points go elsewhere from here on: all of them. */
  | { readonly note: "retargeted" };

/** One evaluation of a step, as it is kept. */
export interface StepRecord {
  readonly step: number;
  readonly evaluation: string;
  readonly model: string;
  readonly posted_at: number;
  /** Grows with each that is finished; null while it is not. */
  readonly seq: number | null;
  readonly run_id: string | null;
  readonly ended_at: number | null;
  /** Null while it is not finished. */
  readonly end: StepEnd | null;
}
