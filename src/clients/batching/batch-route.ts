import type { JsonObject } from "../../config/plan/run-config.ts";

/** Most requests and bytes of one batch that a provider takes. Sources: src/limits.ts. */
export interface BatchLimits {
  readonly requests: number;
  readonly bytes: number;
}

/** The requests of a batch as they lie in storage: read anew for each attempt. */
export interface BatchFile {
  readonly name: string;
  readonly bytes: number;
  readonly requests: number;
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
}

/** By what a batch of ours is known again at the provider. */
export interface BatchTag {
  readonly run_id: string;
  readonly job: number;
}

/** A batch as the provider shows it. */
export interface SeenBatch {
  readonly batch_id: string;
  /** `failed`: as a whole, before a request was answered. `missing`: the provider does not know it: it was deleted there, or is of another account than the key. */
  readonly state: "submitted" | "cancelling" | "ended" | "failed" | "missing";
  readonly answered: number;
  readonly failed: number;
  /** Unix milliseconds; null where the provider does not say. */
  readonly expires_at: number | null;
  /** Of one that failed as a whole, or is missing. */
  readonly problem: string | null;
  /** It failed since the provider takes no more until others are over. */
  readonly full: boolean;
}

/**
 * One line of a batch's results. `answer`: as the server of the usual route would have answered. `large`: an answer of more than a direct call would have taken
 * (`row_too_large` there), which was passed over and is paid. `lost`: no answer, and nothing to pay.
 */
export type BatchLine =
  | { readonly kind: "answer"; readonly custom_id: string; readonly status: number; readonly text: string }
  | { readonly kind: "large"; readonly custom_id: string; readonly bytes: number }
  | { readonly kind: "lost"; readonly custom_id: string; readonly why: "expired" | "cancelled" | "error"; readonly message: string };

/**
 * A provider's batches, for one place. Every method sends requests with the retries that are left to it (docs/retries.md) and throws `RequestFailed` as clients do;
 * none keeps anything between calls.
 */
export interface BatchRoute {
  readonly limits: BatchLimits;
  /** One line of the file of requests, without its end. `body`: what the usual route would be sent. */
  line(custom_id: string, body: JsonObject): string;
  /** Gives the provider the file; null where a batch is created with its requests. */
  upload(file: BatchFile, signal: AbortSignal): Promise<string | null>;
  /**
   * Sent once, never repeated, and not later than BATCH_CREATE_MS from now. Where it throws what a lost answer throws (a network's code, `request_timeout`,
   * `provider_error`), there may be one all the same.
   */
  create(file: BatchFile, file_id: string | null, tag: BatchTag, signal: AbortSignal): Promise<SeenBatch>;
  /**
   * The batch that somebody may have created since then (Unix milliseconds). Null: there is none. `undecided`: there may be one, which is told later: when one that
   * may be it has ended, or when enough time has gone by that it would be in the list (BATCH_SETTLE_MS after `since`). `isOurs`: whether a `custom_id` is of that job. `taken`: batches that are known to be others.
   */
  find(
    search: {
      readonly tag: BatchTag;
      readonly file_id: string | null;
      readonly requests: number;
      readonly since: number;
      readonly taken: readonly string[];
      readonly isOurs: (custom_id: string) => boolean;
    },
    signal: AbortSignal,
  ): Promise<SeenBatch | "undecided" | null>;
  look(batch_id: string, signal: AbortSignal): Promise<SeenBatch>;
  /** Asks for its end; harmless where it has ended. */
  cancel(batch_id: string, signal: AbortSignal): Promise<SeenBatch>;
  /**
   * Of one that has ended, in whatever order, as the provider wrote them: a `custom_id` may be unknown, or come twice. Requests of which it says nothing are lost. A
   * connection that breaks off throws: whoever repeats it gets all of them anew. Where the provider has none (any more), that throws too (\`isUnknownThere\`, batch-calls.ts).
   */
  results(batch_id: string, signal: AbortSignal): AsyncIterable<BatchLine>;
}

/** A request that goes out in a batch, or was answered by one. */
export interface BatchedRequest {
  readonly model: string;
  /** As the usual route would be sent it, not streamed. */
  readonly body: JsonObject;
  /** Says which rollout asks. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** The answer as the server gave it, in its batch. */
export interface BatchedAnswer {
  readonly status: number;
  readonly text: string;
}

/** What a client that is in a batch asks instead of a server (ClientPorts.batched). */
export interface Batched {
  /** Never resolves while requests are being written: who asks is ended. Rejects with `RequestFailed`, or the signal's reason. */
  answer(request: BatchedRequest, signal: AbortSignal | null): Promise<BatchedAnswer>;
}
