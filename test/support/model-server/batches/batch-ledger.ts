import type { BatchRouteName } from "./batch-plan.ts";
import type { Phase, Provider, ToldEnd } from "./batch-store.ts";

/** What the scripted server was asked about batches, and what it would be paid (`GET /batches`). */
export interface BatchLedger {
  readonly files: readonly { readonly id: string; readonly filename: string; readonly bytes: number }[];
  readonly batches: readonly {
    readonly id: string;
    readonly provider: Provider;
    readonly state: Phase;
    readonly requests: number;
    readonly custom_ids: readonly string[];
    readonly input_file_id: string | null;
    readonly metadata: unknown;
    readonly created_ms: number;
    /** Prompts of the requests that were answered, and are paid. */
    readonly paid: readonly string[];
  }[];
  /** In their order, with the file or batch that each was about. */
  readonly calls: readonly {
    readonly n: number;
    readonly route: BatchRouteName;
    readonly provider: Provider;
    readonly at_ms: number;
    readonly what: string | null;
  }[];
  /** Calls that wait for `POST /batches/release`. */
  readonly held: number;
  /** Answered requests in all batches. */
  readonly paid: number;
}

/** Tells batches that have not ended, or one of them (`POST /batches`). `done`: the share of their requests that is answered. */
export interface EndBatch {
  readonly batch_id?: string;
  readonly to?: ToldEnd;
  readonly done?: number;
}
