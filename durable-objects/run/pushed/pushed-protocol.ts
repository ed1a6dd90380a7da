import type { ExampleKey } from "../../../src/pushed/sample.ts";
import type { PushedChanges, PushedFacts } from "../../../src/pushed/pushed-facts.ts";
import type { AverageDifference } from "../../../src/pushed/pushed-averages.ts";
import type { Result } from "../../../src/errors/result.ts";
import type { AdoptedUnit, Ack, TicketId } from "../protocol.ts";

/** What crosses the border of the Run of a pushed evaluation: to the door that takes batches in, and to the executor that makes rows of them. */

/** A batch that is stored, or is to be once there is room for it. */
export interface BatchRequest {
  /** Of its samples (src/pushed/content-digest.ts); of lines of traces `sha256:` and hex, as their sender calls them. */
  readonly digest: string;
  /** Null: it is not stored, and whether it is known is all that is asked. */
  readonly object: string | null;
  readonly bytes: number;
  readonly samples: number;
  /** Of its samples those that have an id of their own: position, id, digest (src/pushed/sample-mark.ts). */
  readonly ids: readonly (readonly [number, string, string])[];
}
/** `known`: all of it is there already; `unknown`: it is not, and was not stored; `conflict`: a sample was pushed before with the same id and other content. */
export type BatchAnswer = { readonly kind: "added" | "known" | "unknown" } | { readonly kind: "conflict"; readonly position: number; readonly id: string };

/** How an evaluation that is pushed ends. */
export type PushedEnd = "COMPLETED" | "CANCELLED" | "FAILED";

export interface ClosingRequest {
  readonly status: PushedEnd;
  /** Why, of one that failed elsewhere. */
  readonly message: string | null;
}

/** A sample as a batch has it, told to the Run: `[rank, number, text, attempt, position, offset, length, id]`. */
export type IndexedSample = readonly [ExampleKey["rank"], number, string, number, number, number, number, string | null];

/** Where the rows of a unit are, in the order of its attempts. */
export interface PlannedUnit {
  readonly unit: number;
  readonly rows: readonly { readonly object: string; readonly offset: number; readonly length: number }[];
}

/** `read`: samples of this batch are to be told, from this position on. `place`: rows of these units are to be written, one behind the other. */
export type IntakeAnswer =
  | { readonly kind: "read"; readonly batch: number; readonly object: string; readonly from: number }
  | { readonly kind: "place"; readonly units: readonly PlannedUnit[] }
  | { readonly kind: "none" | "lost" | "gone" };

export interface IndexedRequest extends TicketId {
  readonly batch: number;
  /** JSON of `IndexedSample`s, from the first that was asked for. */
  readonly samples: string;
  /** Position behind them. */
  readonly through: number;
  /** There are no more in the batch. */
  readonly last: boolean;
}
/** Units of the plan, from the first one on, as they stand in a segment. */
export interface PlacedRequest extends TicketId {
  readonly segment: string;
  /** JSON of `AdoptedUnit`s. */
  readonly units: string;
}
export type PlacedUnits = readonly AdoptedUnit[];

/** What there is of a pushed evaluation; part of its view. */
export interface PushedView {
  readonly facts: PushedFacts;
  readonly batches: number;
  /** Samples that were read so far, and of how many examples. */
  readonly samples: number;
  readonly examples: number;
  /** Batches that are stored and not read yet. */
  readonly unread: number;
  /** Its sender has said that all is there; null = more may come. */
  readonly closing: PushedEnd | null;
  readonly differences: readonly AverageDifference[];
  /** Samples that there will be, of what is still being made; absent = as many as there are, as far as anybody knows. */
  readonly expected?: number;
}

/** The Run's methods for the door, of a pushed evaluation. */
export interface PushControl {
  pushBatch(request: BatchRequest): Promise<Result<BatchAnswer>>;
  describePushed(changes: PushedChanges): Promise<Result<null>>;
  closePushed(request: ClosingRequest): Promise<Result<null>>;
}

/** And for executors. */
export interface IntakeExecution {
  intake(request: TicketId): Promise<IntakeAnswer>;
  indexed(request: IndexedRequest): Promise<Ack>;
  placed(request: PlacedRequest): Promise<Ack>;
}
