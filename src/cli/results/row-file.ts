/** `results.jsonl` as it lies in a folder: maybe cut in the last line, maybe in the order of commits. */
import { open } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { readForeignRow } from "../../rollouts/foreign-row.ts";
import { usageError } from "../terminal/cli-error.ts";
import { firstBytes } from "../disk/files.ts";

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

interface RowPlace {
  readonly example: number;
  readonly rollout: number;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Writes the rows in the first `length` bytes of `path` to `target` in the order of a finished run, by example and rollout; false, and no
 * file, when they are in that order already. Holds places in memory, not rows.
 */
export async function sortRows(path: string, length: number, target: string): Promise<boolean> {
  const places = await placesOf(path, length);
  const sorted = places.toSorted((a, b) => a.example - b.example || a.rollout - b.rollout || a.offset - b.offset);
  if (sorted.every((place, i) => place === places[i])) return false;
  const file = await open(path, "r");
  try {
    const rows = async function* (): AsyncGenerator<Buffer> {
      for (const { offset, bytes } of sorted) {
        const row = Buffer.alloc(bytes + 1, "\n");
        await file.read(row, 0, bytes, offset);
        yield row;
      }
    };
    await pipeline(rows, createWriteStream(target));
    return true;
  } finally {
    await file.close();
  }
}

async function placesOf(path: string, length: number): Promise<readonly RowPlace[]> {
  const places: RowPlace[] = [];
  let [line, offset] = [0, 0];
  let open: Buffer[] = [];
  const close = (): void => {
    const bytes = Buffer.concat(open);
    line += 1;
    const text = bytes.toString("utf8");
    if (text.trim() !== "") places.push({ ...numbersOf(text, `${path} line ${line}`), offset, bytes: bytes.byteLength });
    offset += bytes.byteLength + 1;
    open = [];
  };
  for await (const chunk of firstBytes(path, length) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      open.push(chunk.subarray(start, end));
      close();
      start = end + 1;
    }
    if (start < chunk.byteLength) open.push(chunk.subarray(start));
  }
  if (open.length > 0) close();
  return places;
}

/** Rows of the Python library carry no `rollout_index`: theirs is their place among the rows of the example, which a stable sort keeps. */
function numbersOf(text: string, where: string): Pick<RowPlace, "example" | "rollout"> {
  let row: { example_id?: unknown; rollout_index?: unknown };
  try {
    row = readForeignRow(text).value;
  } catch {
    throw usageError(`${where} is not JSON`, "Resume from an unchanged results folder, or start a new run.");
  }
  const { example_id, rollout_index } = row;
  if (typeof example_id !== "number") throw usageError(`${where} has no example_id`, "Resume from an unchanged results folder, or start a new run.");
  return { example: example_id, rollout: typeof rollout_index === "number" ? rollout_index : 0 };
}
