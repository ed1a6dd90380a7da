import { namedPath } from "../connection/named-path.ts";

/** The service's answers of evaluators, as far as the commands read them. */

export interface ListedRecord {
  /** As it is reported. */
  readonly step: number;
  readonly evaluation: string;
  readonly model: string;
  readonly run_id: string | null;
  readonly outcome: "open" | "evaluated" | "failed" | "stopped" | "replaced";
  readonly values: Readonly<Record<string, { readonly value: number; readonly ci95?: readonly [number, number] }>>;
  readonly missing: readonly string[];
  readonly errored: number | null;
  readonly reason: string | null;
}

export interface ListedPoint {
  readonly name: string;
  readonly step: number;
  readonly value: number;
  readonly ci95?: readonly [number, number];
  readonly model: string;
  readonly run_id: string | null;
  readonly at: string;
  readonly rollouts: number;
  readonly errored: number;
}

export interface ListedEvaluator {
  readonly name: string;
  readonly definition: {
    readonly evaluations: readonly { readonly name: string; readonly run_every: number; readonly metrics: readonly string[] }[];
    readonly on_older: string;
    readonly early_stopping: { readonly metric: string; readonly mode: string; readonly min_delta: number; readonly patience?: number };
  };
  readonly open: number;
  readonly last: ListedRecord | null;
  readonly posting: { readonly tries: number; readonly failure: { readonly message: string } | null } | null;
  /** Of a service that is older than this it is not there. */
  readonly paused?: { readonly by: string; readonly reason: string } | null;
  readonly served: boolean;
}

export interface ShownEvaluator extends ListedEvaluator {
  readonly at_work: readonly {
    readonly step: number;
    readonly evaluation: string;
    readonly queued: boolean;
    readonly failure: { readonly message: string } | null;
  }[];
  readonly records: readonly ListedRecord[];
  readonly series: Readonly<Record<string, readonly ListedPoint[]>>;
  readonly advice: {
    readonly metric: string;
    readonly best: { readonly step: number; readonly value: number; readonly model: string } | null;
    readonly since_best: number;
    readonly stop: boolean;
    readonly stop_at: number | null;
  };
}

export interface PostedAnswer {
  readonly step: number;
  readonly due: readonly string[];
  readonly records: readonly ListedRecord[];
  readonly paused?: { readonly by: string; readonly reason: string } | null;
  readonly served: boolean;
}

export interface PointsPage {
  readonly data: readonly ListedPoint[];
  readonly next: number;
  readonly more: boolean;
  readonly open: number;
}

export const evaluatorPath = namedPath("evaluators");
