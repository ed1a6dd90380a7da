import type { PushedFacts } from "../../../src/pushed/pushed-facts.ts";
import type { RowCursor } from "./pushed-head.ts";
import type { BatchRequest, IndexedSample } from "./pushed-protocol.ts";

/** What a Run knows of what was pushed to it, as transitions see it. */

export interface StoredBatch {
  readonly batch: number;
  readonly object: string;
  /** Position up to which its samples are told. */
  readonly through: number;
  readonly isRead: boolean;
}

/** A sample by its place, and where it is. */
export interface StoredSample {
  readonly cursor: RowCursor;
  readonly object: string;
  readonly offset: number;
  readonly length: number;
}

/** What samples that were told add. */
export interface Added {
  readonly samples: number;
  readonly examples: number;
  /** Samples of the largest of their examples now. */
  readonly most: number;
}

/** A batch that is stored. */
export type StoredRequest = BatchRequest & { readonly object: string };

export interface PushedStore {
  /** Makes the tables. */
  create(facts: PushedFacts): void;
  facts(): PushedFacts;
  putFacts(facts: PushedFacts): void;
  batchWith(digest: string): StoredBatch | null;
  /** Digest of the sample with this id; null: there is none. */
  digestOfId(id: string): string | null;
  addBatch(request: StoredRequest): void;
  /** The first batch that is not read. */
  nextUnread(): StoredBatch | null;
  putSamples(batch: number, samples: readonly IndexedSample[], through: number, last: boolean): Added;
  /** Behind this place, at most `limit`. */
  samplesAfter(cursor: RowCursor | null, limit: number): readonly StoredSample[];
}
