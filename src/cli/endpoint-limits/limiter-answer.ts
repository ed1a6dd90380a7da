import type { LimitRow } from "../../config/endpoints/limit-rows.ts";
import type { LIMIT_FIELDS } from "../../config/endpoints/given-limit.ts";
import type { Bound } from "../../endpoint-limits/bound.ts";
import type { LimitKind } from "../../endpoint-limits/limit-kinds.ts";

/** The parts of the answers of `/limits` that commands read. */

export type LimitField = (typeof LIMIT_FIELDS)[LimitKind];

export interface LimiterUser {
  /** Null: runs of other teams, counted together. */
  readonly run_id: string | null;
  readonly team: string | null;
  readonly kind: "model" | "judges";
  readonly priority: number;
  readonly in_flight: number;
  readonly waiting: number;
}

export interface ShownLimiter {
  readonly limiter_id: string;
  readonly api_base_url: string;
  readonly api_key_var: string;
  readonly model_class: string;
  /** Names of the team's limits that hold here. */
  readonly given: readonly string[];
  /** Null: the limiter knows nothing, or does not answer. */
  readonly state: {
    readonly limits: readonly { readonly kind: LimitField; readonly limit: number; readonly source: "given" | "told" | "found" }[];
    readonly bound: { readonly kind: LimitField | Exclude<Bound["kind"], LimitKind>; readonly limit: number | null; readonly source: Bound["source"] } | null;
    readonly paused_until: string | null;
    readonly down_since: string | null;
    readonly in_flight: number;
    readonly waiting: number;
    readonly minute: { readonly sent: number; readonly refused: number; readonly refused_share: number | null };
    readonly latency_ms: { readonly p50: number; readonly p95: number } | null;
    readonly users: readonly LimiterUser[];
  } | null;
}

export interface GivenAnswer {
  readonly name: string;
  readonly limits: readonly LimitRow[];
  readonly updated_at: string;
  readonly updated_by: string;
}
