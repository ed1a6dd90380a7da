import type { WindowPointer } from "../../r2-layout/place.ts";
import type { RowsDigestState } from "../../src/rollouts/rows/rows-digest.ts";
import type { UnitRange } from "./work.ts";

/**
 * One part of `results.jsonl`: the bytes `[skip, skip + bytes)` of the concatenated rows of `pointers`. Parts are equal in size
 * except the last. `upload_id` is null until one was reported; `last` with part 1 means a single put.
 */
export type WindowAnswer =
  | {
      readonly kind: "part";
      readonly part: number;
      readonly upload_id: string | null;
      readonly pointers: readonly WindowPointer[];
      readonly skip: number;
      readonly bytes: number;
      readonly last: boolean;
      /** Of the parts before; absent where one was written by an executor that makes no digest, and before the first. */
      readonly digest?: RowsDigestState;
    }
  | {
      readonly kind: "complete";
      readonly upload_id: string | null;
      readonly parts: readonly { readonly part: number; readonly etag: string }[];
      readonly digest?: RowsDigestState;
    }
  /** Before any part: the rows of units `[lo, hi)`, to be stored one behind the other as they are named. Only to executors that sort. */
  | ({ readonly kind: "sort"; readonly pointers: readonly WindowPointer[]; readonly bytes: number } & UnitRange)
  | { readonly kind: "lost" | "gone" };
