import type { ExamplePlace } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { readPart } from "../../../r2-layout/read-part.ts";
import { SEGMENT_BYTES } from "../../limits.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { ObjectStore } from "../app-ports.ts";

const LINE_FEED = 0x0a;

/** Number of the line that a rollout has among the rows of its example; null where its row is missing. */
export function lineOf({ missing }: Pick<ExamplePlace, "missing">, rollout: number): number | null {
  return missing.includes(rollout) ? null : rollout - missing.filter((each) => each < rollout).length;
}

/** Bytes of rows read at once. */
const PART_BYTES = 2 * SEGMENT_BYTES;

/** A line of the rows of an example. */
export interface RowLine {
  readonly example: number;
  readonly line: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The lines that are wanted of each place, by example; 8 MiB or one example are held at a time, and neighbours in storage are read together. */
export async function* readLines(
  store: ObjectStore,
  keyOf: (segment: string) => string,
  places: readonly ExamplePlace[],
  wanted: ReadonlyMap<number, readonly number[]>,
): AsyncGenerator<RowLine> {
  let part: ExamplePlace[] = [];
  let bytes = 0;
  for (const place of places) {
    if (place.length > PART_BYTES) {
      yield* streamedLines(store, keyOf(place.segment), place, wanted.get(place.example) ?? []);
      continue;
    }
    if (bytes + place.length > PART_BYTES) {
      yield* linesOfPart(store, keyOf, part, wanted);
      [part, bytes] = [[], 0];
    }
    part.push(place);
    bytes += place.length;
  }
  yield* linesOfPart(store, keyOf, part, wanted);
}

/** One line of the rows at a place; null where there are fewer. */
export async function readLine(
  store: ObjectStore,
  key: string,
  { offset, length }: Pick<ExamplePlace, "offset" | "length">,
  line: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const place = { example: 0, segment: "", offset, length, missing: [] };
  for await (const { bytes } of readLines(store, () => key, [place], new Map([[0, [line]]]))) return bytes;
  return null;
}

async function* linesOfPart(
  store: ObjectStore,
  keyOf: (segment: string) => string,
  part: readonly ExamplePlace[],
  wanted: ReadonlyMap<number, readonly number[]>,
): AsyncGenerator<RowLine> {
  const bytes = part.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) return;
  const pointers = part.map(({ segment, offset, length }, unit) => ({ unit, segment, offset, length }));
  const read = await readPart({ pointers, skip: 0, bytes }, new Uint8Array(bytes), (segment, offset, length) =>
    readRange(store, keyOf(segment), { offset, length }),
  );
  let start = 0;
  for (const { example, length } of part) {
    const lines = new Set(wanted.get(example));
    const rows = read.subarray(start, start + length);
    start += length;
    for (let [at, line] = [0, 0]; at < rows.length; line++) {
      const feed = rows.indexOf(LINE_FEED, at);
      const end = feed < 0 ? rows.length : feed;
      if (lines.has(line)) yield { example, line, bytes: rows.slice(at, end) as Uint8Array<ArrayBuffer> };
      at = end + 1;
    }
  }
}

/** Of an example whose rows are too large to be held together: a row and a slice of 4 MiB at a time, and none behind the last that is wanted. */
async function* streamedLines(store: ObjectStore, key: string, { example, offset, length }: ExamplePlace, wanted: readonly number[]): AsyncGenerator<RowLine> {
  const lines = new Set(wanted);
  if (lines.size === 0) return;
  let held: Uint8Array[] = [];
  let line = 0;
  for (let from = 0; from < length; from += SEGMENT_BYTES) {
    const slice = await readRange(store, key, { offset: offset + from, length: Math.min(SEGMENT_BYTES, length - from) });
    for (let at = 0; at < slice.length; ) {
      const feed = slice.indexOf(LINE_FEED, at);
      if (lines.has(line)) held.push(slice.subarray(at, feed < 0 ? undefined : feed));
      if (feed < 0) break;
      if (lines.delete(line)) yield { example, line, bytes: joined(held) };
      if (lines.size === 0) return;
      held = [];
      line++;
      at = feed + 1;
    }
  }
}

async function readRange(store: ObjectStore, key: string, range: { readonly offset: number; readonly length: number }): Promise<Uint8Array> {
  const body = await store.read(key, range);
  if (body === null) throw new EdgewiseError("storage_unavailable", `${key} is missing in storage.`);
  // Whole: the body of an object comes to a script in pieces of 4 KiB, each in a turn of its own.
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
