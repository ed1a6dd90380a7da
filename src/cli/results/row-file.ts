/** Where `results.jsonl` ends, which a crash may have cut in the last line. */
import { open } from "node:fs/promises";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";

const STEP = 64 * 1024;

/**
 * Length in bytes of the part of a JSONL file that ends with a whole line: a crash, ours or another program's, may have cut the last one,
 * with a line end behind it or without. A last line without its line end counts when it is whole JSON.
 */
export async function wholeLinesOf(path: string): Promise<number> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    let tail = Buffer.alloc(0);
    for (let start = size; start > 0; ) {
      const length = Math.min(STEP, start);
      start -= length;
      const chunk = Buffer.alloc(length);
      await file.read(chunk, 0, length, start);
      tail = Buffer.concat([chunk, tail]);
      const last = lastLine(tail);
      if (last !== null) return isRow(tail.subarray(last)) ? size : start + last;
    }
    return isRow(tail) ? size : 0;
  } finally {
    await file.close();
  }
}

/** Where the last line that is not blank begins; null when that is before `tail`. */
function lastLine(tail: Buffer): number | null {
  let end = tail.byteLength;
  while (end > 0 && (tail[end - 1] ?? 0) <= 0x20) end--;
  const feed = end === 0 ? -1 : tail.lastIndexOf(0x0a, end - 1);
  return feed < 0 ? null : feed + 1;
}

function isRow(bytes: Buffer): boolean {
  try {
    readForeignRow(bytes.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
