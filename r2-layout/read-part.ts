import { planReads, type Window } from "./results-window.ts";

/** Reads at once while a part is put together: with the part they bound the memory. */
const READS_AT_ONCE = 2;

/** Fetches `length` bytes at `offset` of a segment. */
export type ReadSegment = (segment: string, offset: number, length: number) => Promise<Uint8Array>;

/** The bytes of a part as `planWindow` named it, put together in `room` from as few range reads as its segments allow. */
export async function readPart(
  { pointers, skip, bytes }: Pick<Window, "pointers" | "skip" | "bytes">,
  room: Uint8Array,
  read: ReadSegment,
): Promise<Uint8Array> {
  const part = room.subarray(0, bytes);
  const reads = planReads(pointers, skip, bytes);
  const readNext = async (): Promise<void> => {
    for (let next = reads.shift(); next !== undefined; next = reads.shift()) {
      const found = await read(next.segment, next.offset, next.length);
      for (const { from, to, length } of next.copies) part.set(found.subarray(from, from + length), to);
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  return part;
}
