import type { Failure, Result } from "../../src/errors/result.ts";
import type { Creator } from "../../src/schedules/state.ts";
import type { EvaluatorDefinition, MlflowTarget } from "../../src/training/definition.ts";
import type { AwaitedNumbers, PausedEvaluator, Posting, PostedStep, ReadRewards, StepOrder, StepRecord } from "../../src/training/state.ts";

/** What crosses the border between an evaluator's object and the door, the watchdog, and whoever creates its runs or posts its points. Times are Unix milliseconds. */

/** An evaluator as lists show it, without its series. */
export interface EvaluatorFacts {
  readonly name: string;
  readonly id: string;
  readonly definition: EvaluatorDefinition;
  readonly created_by: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** Evaluations of steps that are not finished. */
  readonly open: number;
  /** The newest step that is finished; null = none is. */
  readonly last: StepRecord | null;
  readonly posting: Posting | null;
  /** Absent: it is not paused. */
  readonly paused?: PausedEvaluator;
}

/** What is not finished, and why. */
export interface OpenStep {
  readonly step: number;
  readonly evaluation: string;
  readonly queued: boolean;
  readonly run_id: string | null;
  readonly replaced_by: number | null;
  readonly failure: Failure | null;
}

export interface EvaluatorView extends EvaluatorFacts {
  readonly at_work: readonly OpenStep[];
  /** In the order of steps; the highest ones where there are more than were asked for. */
  readonly records: readonly StepRecord[];
}

export interface EvaluatorPut {
  readonly team: string;
  readonly name: string;
  readonly definition: EvaluatorDefinition;
  readonly creator: Creator;
}

/** What a posted step came to. */
export interface StepAnswer {
  /** Names of the evaluations that are due at it, by the definition of now. */
  readonly due: readonly string[];
  /** It was passed over for this. */
  readonly paused?: PausedEvaluator;
  /** Of the step, finished or not; also those of a definition of before. */
  readonly records: readonly StepRecord[];
}

/** Names an evaluation of a step. */
export interface StepName {
  readonly step: number;
  readonly evaluation: string;
}

/** Finished evaluations in the order in which they were. */
export interface RecordPage {
  readonly records: readonly StepRecord[];
  /** The next page is behind it. */
  readonly through: number;
  readonly more: boolean;
}

export interface EvaluatorControl {
  /** Makes it, or gives it another definition; the same once more changes nothing. */
  put(put: EvaluatorPut): Promise<Result<EvaluatorView>>;
  /** Null where there is none. `most`: records. */
  view(most: number): Promise<EvaluatorView | null>;
  /** Steps that are posted from here on are passed over. Paused once more it stays as it was. */
  pause(request: { readonly by: string; readonly reason: string }): Promise<Result<EvaluatorView>>;
  resume(): Promise<Result<EvaluatorView>>;
  /** The same step once more changes nothing, unless it was passed over before. */
  post(request: { readonly posted: PostedStep; readonly creator: Creator }): Promise<Result<StepAnswer>>;
  /** What is to be created; null where nothing is, any more. */
  order(name: StepName): Promise<StepOrder | null>;
  created(request: StepName & { readonly run_id: string }): Promise<void>;
  refused(request: StepName & { readonly failure: Failure; readonly passing: boolean }): Promise<void>;
  /** What a run that is at work is to give; null where nobody waits for it, any more. */
  awaited(run_id: string): Promise<AwaitedNumbers | null>;
  /** What is made of the rewards of a run: with its other numbers it ends its step. Of a run the first telling counts. */
  counted(request: { readonly run_id: string; readonly read: ReadRewards }): Promise<void>;
  /** Something that may pass keeps the numbers of a run from being known; it is tried again. */
  hindered(request: { readonly run_id: string; readonly failure: Failure }): Promise<void>;
  /** Those with a `seq` above `after`; null where there is no evaluator. */
  finished(after: number, most: number): Promise<RecordPage | null>;
  /** What is to be posted next; null where nothing is. */
  undelivered(): Promise<(RecordPage & { readonly target: MlflowTarget }) | null>;
  delivered(request: { readonly through: number; readonly target: MlflowTarget }): Promise<void>;
  undeliverable(request: { readonly failure: Failure }): Promise<void>;
  /** The watchdog: what its alarm would have done. Whether there is such an evaluator. */
  poke(): Promise<boolean>;
  /** Whether there was one. Its runs stay. */
  remove(): Promise<boolean>;
}
