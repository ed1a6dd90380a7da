import type { Place, WindowPointer } from "./place.ts";
import { SEGMENT_BYTES } from "../src/limits.ts";

/**
 * Sorted `results.jsonl` is written in parts of equal size without ever holding more than one part and one read: the Run plans
 * which rows a part consists of, an executor fetches them out of the segments in few range reads. Pure.
 */

/** Where the next part begins: `skip` bytes into the rows of `unit` (0 at a border; `unit` then need not be done). */
export interface WindowPosition {
  readonly unit: number;
  readonly skip: number;
}

export interface Window {
  /** Rows of the part in unit order; the first from byte `skip` on, the last as far as the part goes. */
  readonly pointers: readonly WindowPointer[];
  readonly skip: number;
  /** Bytes of the part: `partBytes`, or what is left. */
  readonly bytes: number;
  /** True when nothing follows this part. */
  readonly last: boolean;
  readonly next: WindowPosition;
}

/** Bytes `[from, from + length)` of a read go to `[to, to + length)` of the part. */
export interface Copy {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** One range read of a segment and where its bytes belong; bytes that no copy names are other rows in between. */
export interface SegmentRead extends Place {
  readonly copies: readonly Copy[];
}

/** Default of `planReads`: a further R2 request costs more than fetching this much in between. */
export const READ_GAP_BYTES = SEGMENT_BYTES / 4;

/**
 * The part that begins `skip` bytes into the first of `pointers` (unit order, from that unit on). Consumes no more of the iterable
 * than the part needs and one pointer beyond it. Exactly `partBytes` long unless it is the last; a row may be cut anywhere.
 * Throws RangeError when `skip` does not lie inside the first pointer.
 */
export function planWindow(pointers: Iterable<WindowPointer>, skip: number, partBytes: number): Window {
  if (!(Number.isSafeInteger(partBytes) && partBytes > 0)) throw new RangeError(`part of ${partBytes} bytes`);
  const taken: WindowPointer[] = [];
  let bytes = -skip;
  let next: WindowPosition = { unit: 0, skip: 0 };
  for (const pointer of pointers) {
    if (pointer.length === 0) continue;
    if (bytes === partBytes) return { pointers: taken, skip, bytes, last: false, next };
    if (taken.length === 0 && !(skip >= 0 && skip < pointer.length)) throw new RangeError(`byte ${skip} of ${pointer.length} in unit ${pointer.unit}`);
    taken.push(pointer);
    bytes += pointer.length;
    if (bytes > partBytes) {
      return { pointers: taken, skip, bytes: partBytes, last: false, next: { unit: pointer.unit, skip: pointer.length - (bytes - partBytes) } };
    }
    next = { unit: pointer.unit + 1, skip: 0 };
  }
  if (taken.length === 0 && skip !== 0) throw new RangeError(`byte ${skip} of nothing`);
  return { pointers: taken, skip, bytes: taken.length === 0 ? 0 : bytes, last: true, next };
}

/**
 * Range reads that fetch the `bytes` bytes of a part (as `planWindow` named it), ordered by first use. Pieces of one segment share
 * a read when at most `maxGapBytes` lie between them and the read stays within SEGMENT_BYTES; so a part buffer and one read buffer
 * are all the memory an executor needs. Copies cover every byte of the part exactly once.
 */
export function planReads(pointers: readonly WindowPointer[], skip: number, bytes: number, maxGapBytes: number = READ_GAP_BYTES): SegmentRead[] {
  const bySegment = new Map<string, Piece[]>();
  let to = 0;
  for (const [index, pointer] of pointers.entries()) {
    const inside = index === 0 ? skip : 0;
    const length = Math.min(pointer.length - inside, bytes - to);
    if (length <= 0) continue;
    const pieces = bySegment.get(pointer.segment) ?? [];
    if (pieces.length === 0) bySegment.set(pointer.segment, pieces);
    // A unit larger than a segment's budget stands alone in its segment and is read in slices.
    for (let done = 0; done < length; done += SEGMENT_BYTES) {
      pieces.push({ offset: pointer.offset + inside + done, to: to + done, length: Math.min(SEGMENT_BYTES, length - done) });
    }
    to += length;
  }
  if (to !== bytes) throw new RangeError(`pointers hold ${to} of ${bytes} bytes`);
  return [...bySegment].flatMap(([segment, pieces]) => readsOf(segment, pieces, maxGapBytes));
}

interface Piece {
  readonly offset: number;
  readonly to: number;
  readonly length: number;
}

function readsOf(segment: string, pieces: Piece[], maxGapBytes: number): SegmentRead[] {
  const reads: { segment: string; offset: number; length: number; copies: Copy[] }[] = [];
  for (const piece of pieces.sort((a, b) => a.offset - b.offset)) {
    const end = piece.offset + piece.length;
    const open = reads.at(-1);
    if (open !== undefined && piece.offset - (open.offset + open.length) <= maxGapBytes && end - open.offset <= SEGMENT_BYTES) {
      open.length = Math.max(open.length, end - open.offset);
      addCopy(open.copies, { from: piece.offset - open.offset, to: piece.to, length: piece.length });
    } else {
      reads.push({ segment, offset: piece.offset, length: piece.length, copies: [{ from: 0, to: piece.to, length: piece.length }] });
    }
  }
  return reads;
}

/** Rows that were written in unit order lie side by side in both: one copy for all of them. */
function addCopy(copies: Copy[], copy: Copy): void {
  const last = copies.at(-1);
  if (last !== undefined && last.from + last.length === copy.from && last.to + last.length === copy.to) {
    copies[copies.length - 1] = { ...last, length: last.length + copy.length };
  } else {
    copies.push(copy);
  }
}
