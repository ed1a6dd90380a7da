import * as zlib from "node:zlib";
import { KIB } from "../limits.ts";

/**
 * What a Zstandard frame becomes, at most `length` bytes, of which zeros fill up what is missing. The runtime's own: of those written in JavaScript one never ends
 * where a table of a frame leads to itself, and another copies 130 KB for each of the 98,000 repetitions that twenty bytes may ask for. Throws
 * `RangeError` where the frame is damaged or longer, and on a Node that has none (before 22.15).
 */
export function unzstd(bytes: Uint8Array, length: number): Uint8Array {
  if (zlib.zstdDecompressSync === undefined)
    throw new RangeError("Zstandard needs Node 22.15 or later; run it with the command, or write the file with Snappy");
  const page = unpacked(bytes, length);
  if (page.byteLength > length) throw new RangeError(`a page of Zstandard that is longer than ${length} bytes`);
  if (page.byteLength === length) return page;
  const whole = new Uint8Array(length);
  whole.set(page);
  return whole;
}

/** workerd counts the room it has made, by pieces, not what was written into it. */
const PIECE = 128 * KIB;

function unpacked(bytes: Uint8Array, length: number): Uint8Array {
  try {
    return zlib.zstdDecompressSync(bytes, { maxOutputLength: length + PIECE });
  } catch (thrown) {
    throw new RangeError(`a page of Zstandard that is damaged, or longer than ${length} bytes`, { cause: thrown });
  }
}
