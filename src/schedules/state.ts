import type { JsonObject } from "../config/plan/run-config.ts";
import type { RunStatus } from "../config/run-status.ts";
import type { Failure } from "../errors/result.ts";
import type { AnsweredBy, AnsweringModel } from "./answered-by.ts";
import type { DriftEvent } from "../drift/series.ts";
import type { ScheduleDefinition } from "./definition.ts";

/** What one schedule knows of itself. All times are Unix milliseconds. */

/** Whose schedule it is: a run of it is begun while they may begin one. `token`: by which they asked; null = none of the Directory's. */
export interface Creator {
  readonly user: string;
  readonly token: string | null;
  /** Has the whole service, and needs no standing in a team. */
  readonly owner: boolean;
}

/** `due`: in time; `late`: caught up; `manual`: somebody asked for it. */
export type DueKind = "due" | "late" | "manual";

export interface Waiting {
  readonly due: number;
  readonly kind: DueKind;
}

/** What is created for a due time: it stays what it was when it was first sent for, so that it can be asked for again. */
export interface Order {
  readonly due: number;
  readonly kind: DueKind;
  /** Key of the creation: the same for the same due time of the same schedule, and of no other. */
  readonly key: string;
  readonly schedule: string;
  readonly definition: Pick<ScheduleDefinition, "eval" | "data" | "time_zone" | "run_name">;
  readonly creator: Creator;
  readonly pin: DataPin | null;
}

/** The data of the series. */
export interface DataPin {
  /** What its settings say that decide on the data: a definition that says another begins anew. */
  readonly of: string;
  /** The inputs of its runs. */
  readonly digest: string;
  /** What `env_args.dataset` names now, where that was an upload or a data set of the team. */
  readonly dataset?: string;
}

/** The due time that is worked on: being created, or a run that has not ended. */
export interface Active {
  readonly order: Order;
  readonly since: number;
  readonly run_id: string | null;
  /** Attempts to create it, or looks at its run. */
  readonly tries: number;
  readonly retry_at: number;
  /** The run is to end, since the next one is due. */
  readonly cancel: boolean;
  /** Of the last attempt. */
  readonly failure?: Failure;
}

export interface Paused {
  readonly at: number;
  /** Null: the schedule itself. */
  readonly by: string | null;
  readonly reason: string;
  /** Of what keeps its runs from being created. */
  readonly failure?: Failure;
}

export interface ScheduleState {
  readonly version: 1;
  readonly name: string;
  /** Drawn when it was made: another schedule of the same name is another one. */
  readonly id: string;
  readonly definition: ScheduleDefinition;
  readonly creator: Creator;
  readonly created_at: number;
  readonly updated_at: number;
  /** What `every` counts from. */
  readonly anchor: number;
  /** What became of every due time up to it is decided. */
  readonly decided: number;
  readonly paused: Paused | null;
  readonly waiting: readonly Waiting[];
  readonly active: Active | null;
  readonly pin: DataPin | null;
  /** Of the code of the environment, in the newest run that said it. */
  readonly env_digest: string | null;
  /** What answered the newest run that said it; absent = none did. */
  readonly answered_by?: AnsweredBy;
  /** Ids of the newest requests for a run, so that one that is repeated makes no second. */
  readonly asked: readonly { readonly id: string; readonly due: number }[];
}

/** What is seen of a run. */
export interface SeenRun {
  /** It has settled, or nothing will happen in it until somebody resumes it. */
  readonly over: boolean;
  readonly status: RunStatus;
  readonly suspended: boolean;
  readonly failure: Failure | null;
  readonly avg_reward: number | null;
  /** 95 %; null or absent = it has none, or did not say. */
  readonly reward_ci95?: readonly [number, number] | null;
  readonly dataset_digest: string | null;
  readonly env_digest: string | null;
  readonly env_args: JsonObject;
  /** Null or absent = its answers did not say. */
  readonly answered_by?: AnsweredBy | null;
  readonly rollouts: number;
  /** Of these, without a score. */
  readonly errored: number;
  /** It ended by a rule to stop by. */
  readonly stopped: boolean;
}

/** What became of a due time that was begun, or was not though it came. */
export type Outcome =
  | { readonly kind: "run"; readonly run_id: string }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "failed"; readonly failure: Failure };

/** What is to be done outside. Safe to repeat; what comes of it is told in an event. */
export type Action =
  | { readonly do: "create"; readonly order: Order }
  | { readonly do: "look"; readonly run_id: string }
  | { readonly do: "cancel"; readonly run_id: string };

/** What is kept of what happened. `event`: for whoever watches the series; the others are the series. */
export type Note =
  | { readonly note: "outcome"; readonly due: number; readonly due_kind: DueKind; readonly outcome: Outcome }
  | { readonly note: "ended"; readonly run_id: string; readonly seen: SeenRun | null }
  | { readonly note: "event"; readonly event: SeriesEvent };

/** Names of what may happen to a schedule, as those who watch it know them. */
export type SeriesEvent =
  /** Due times passed, and nobody could begin them in time. `caught_up`: so many of them are begun now. */
  | { readonly type: "schedule.missed"; readonly count: number; readonly first: number; readonly last: number; readonly caught_up: number }
  | { readonly type: "schedule.skipped"; readonly due: number; readonly reason: string }
  | { readonly type: "schedule.failed"; readonly due: number; readonly failure: Failure }
  | ({ readonly type: "schedule.paused" } & Paused)
  | { readonly type: "schedule.resumed"; readonly by: string }
  | { readonly type: "schedule.changed"; readonly by: string; readonly fields: readonly string[] }
  | { readonly type: "run.created"; readonly due: number; readonly run_id: string }
  | { readonly type: "run.ended"; readonly run_id: string; readonly status: RunStatus | "SUSPENDED" | "DELETED" }
  /** The ruler changed: scores from here on are of other data, or by other code. */
  | { readonly type: "data.changed" | "code.changed"; readonly run_id: string; readonly from: string; readonly to: string }
  /** What answers is another than it was in the run before, though the same was asked: by the provider's own words. */
  | { readonly type: "model.changed"; readonly run_id: string; readonly from: readonly AnsweringModel[]; readonly to: readonly AnsweringModel[] }
  | DriftEvent;
