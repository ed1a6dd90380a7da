import type { RunDrift } from "../../drift/series.ts";
import type { ScheduleDefinition } from "../../schedules/definition.ts";
import type { Planned } from "../applying/apply-plan.ts";
import { namedPath } from "../connection/named-path.ts";

/** A schedule as the service tells it. */
export interface ListedSchedule {
  readonly name: string;
  readonly definition: ScheduleDefinition;
  readonly created_by: string;
  readonly paused: { readonly at: string; readonly by: string | null; readonly reason: string } | null;
  readonly active: { readonly due_at: string; readonly run_id: string | null; readonly failure: { readonly message: string } | null } | null;
  readonly waiting: readonly { readonly due_at: string }[];
  readonly pinned_dataset_digest: string | null;
  readonly env_digest: string | null;
  readonly last: ListedEntry | null;
  readonly missed: ListedEvent | null;
  readonly next: readonly string[];
  readonly served: boolean;
}

export interface ListedEntry {
  readonly due_at: string;
  readonly kind: string;
  readonly outcome: "run" | "skipped" | "failed";
  readonly run_id: string | null;
  readonly reason: string | null;
  readonly status: string | null;
  readonly reward: number | null;
  readonly removed: boolean;
  readonly drift: RunDrift | null;
}

export interface ListedEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface ShownSchedule extends ListedSchedule {
  readonly drift: {
    readonly verdict: string;
    readonly since: string | null;
    readonly baseline_runs: readonly string[];
    readonly began_at: string;
    readonly began_by: string;
    readonly judged: number;
    readonly waiting: number;
  } | null;
  readonly series: readonly ListedEntry[];
  readonly events: readonly ListedEvent[];
}

/** What would become of it. */
export interface PlannedSchedule extends Planned {
  readonly data: Pick<ListedSchedule, "name" | "next">;
}

export const schedulePath = namedPath("schedules");
