import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { KIB } from "../limits.ts";
import { readCsv } from "./csv.ts";
import type { ByteSource } from "./host.ts";
import { readJsonl } from "./jsonl.ts";
import { readParquet } from "./parquet/parquet.ts";
import { unpack } from "./unpack.ts";

/**
 * Rows of a data file in Parquet, JSONL or CSV, the last two also gzipped. The content decides, not the name: uploads have none, and
 * names lie. Throws `dataset_unreadable`.
 */
export async function* fileRows(source: ByteSource): AsyncGenerator<JsonObject> {
  const { head, stream } = await peek(await source.open());
  if (startsWith(head, PARQUET)) {
    await stream.cancel();
    yield* readParquet(source);
    return;
  }
  if (startsWith(head, GZIP)) {
    const unpacked = await peek(unpack(stream, source.name));
    yield* textRows(unpacked, source.name);
  } else yield* textRows({ head, stream }, source.name);
}

const PARQUET = [0x50, 0x41, 0x52, 0x31];
const GZIP = [0x1f, 0x8b];
const startsWith = (head: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, index) => head[index] === byte);

interface Peeked {
  /** The first bytes, at least four where there are as many. */
  readonly head: Uint8Array;
  /** All bytes. */
  readonly stream: ReadableStream<Uint8Array>;
}

/** Blanks that are held while the form of a file is not known. */
const MAX_BLANK_BYTES = 256 * KIB;

async function* textRows({ head, stream }: Peeked, name: string): AsyncGenerator<JsonObject> {
  const first = new TextDecoder().decode(head).trimStart()[0];
  if (first === "[") {
    await stream.cancel();
    throw new EdgewiseError("dataset_unreadable", `${name} is one JSON array.`, { hint: "Write one JSON object per line: jq -c '.[]' data.json > data.jsonl" });
  }
  if (first === undefined || first === "{") for await (const { value } of readJsonl(stream)) yield value;
  else yield* readCsv(stream);
}

async function peek(stream: ReadableStream<Uint8Array>): Promise<Peeked> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  let blank = true;
  // Blanks before the first row say nothing about the form; so many of them are JSONL's to count.
  while (!ended && (length < PARQUET.length || (blank && length < MAX_BLANK_BYTES))) {
    const { done, value } = await reader.read();
    ended = done;
    if (value !== undefined) {
      chunks.push(value);
      blank &&= isBlank(value);
      length += value.byteLength;
    }
  }
  const head = blank ? new Uint8Array() : concat(chunks, length);
  const whole = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { head, stream: whole };
}

const isBlank = (chunk: Uint8Array): boolean => chunk.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
