import { MAX_CONNECTIONS, SEGMENT_BYTES } from "../src/limits.ts";
import { planReads, type SegmentRead, type Window } from "./results-window.ts";

/** Reads at once while a part is put together: all connections of an invocation but one, which is the beat's. */
const READS_AT_ONCE = MAX_CONNECTIONS - 1;
/** Bytes of them: with the part they bound the memory. */
const BYTES_AT_ONCE = 2 * SEGMENT_BYTES;

/** Fetches `length` bytes at `offset` of a segment. */
export type ReadSegment = (segment: string, offset: number, length: number) => Promise<Uint8Array>;

/** The bytes of a part as `planWindow` named it, put together in `room` from as few range reads as its segments allow. */
export async function readPart(
  { pointers, skip, bytes }: Pick<Window, "pointers" | "skip" | "bytes">,
  room: Uint8Array,
  read: ReadSegment,
): Promise<Uint8Array> {
  const part = room.subarray(0, bytes);
  await readAtOnce(planReads(pointers, skip, bytes), async ({ segment, offset, length, copies }) => {
    const found = await read(segment, offset, length);
    for (const { from, to, length: copied } of copies) part.set(found.subarray(from, from + copied), to);
  });
  return part;
}

/** Does `one` for each read, in their order, as many at once as connections and memory allow. Rejects with the first failure, when those under way are over. */
export async function readAtOnce<Read extends Pick<SegmentRead, "length">>(reads: readonly Read[], one: (read: Read) => Promise<void>): Promise<void> {
  const under = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let bytes = 0;
  for (const read of reads) {
    while (under.size >= READS_AT_ONCE || (under.size > 0 && bytes + read.length > BYTES_AT_ONCE)) await Promise.race(under);
    if (failures.length > 0) break;
    bytes += read.length;
    const reading = one(read)
      .catch((thrown: unknown) => void failures.push(thrown))
      .finally(() => {
        under.delete(reading);
        bytes -= read.length;
      });
    under.add(reading);
  }
  await Promise.all(under);
  if (failures.length > 0) throw failures[0];
}
