import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { fileRows } from "../../src/datasets/file-rows.ts";
import { EdgewiseError } from "../../src/errors/result.ts";
import { readForeignRow } from "../../src/rollouts/rows/foreign-row.ts";
import { parseOutput } from "../../src/rollouts/rows/output.ts";
import type { Random } from "../simulation/world/random.ts";
import { memorySource } from "../support/environments/memory-datasets.ts";
import { damaged, deepJson, noise, size, value } from "./hostile.ts";

/** Rows taken of one file: a data set may be longer than an evaluation. */
const MAX_ROWS = 2_000;

const line = (random: Random): string => {
  switch (random.int(0, 4)) {
    case 0:
      return noise(random, 65_536);
    case 1:
      return `{"question":${deepJson(random)}}`;
    default:
      return JSON.stringify({ question: value(random), answer: value(random), info: value(random) });
  }
};
const lines = (random: Random): string => Array.from({ length: random.int(0, 20) }, () => line(random)).join("\n");

function csv(random: Random): string {
  const cell = (): string => (random.chance(0.5) ? `"${noise(random, 16_384).replaceAll('"', random.chance(0.8) ? '""' : '"')}"` : noise(random, 1_024));
  const records = Array.from({ length: random.int(0, 30) }, () => [cell(), cell()].join(random.pick([",", "\t", ";"])));
  return ["question,answer", ...records].join(random.pick(["\n", "\r\n", "\r"])) + (random.chance(0.2) ? `"${noise(random, 131_072)}` : "");
}

function parquet(random: Random): Uint8Array {
  const rows = size(random, 1_024);
  const text = "a".repeat(size(random, random.chance(0.05) ? 2 ** 26 : 2 ** 16) / rows);
  const codec = random.pick(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"] as const);
  const packed = { GZIP: gzipSync, ZSTD: zstdCompressSync };
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "question", data: Array.from({ length: rows }, (_, at) => (random.chance(0.5) ? text : text + at)), type: "STRING" },
        { name: "answer", data: Array.from({ length: rows }, (_, at) => at), type: "INT32" },
        { name: "info", data: Array.from({ length: rows }, () => ({ a: [1] })), type: "JSON" },
      ],
      codec,
      compressors: codec === "GZIP" || codec === "ZSTD" ? { [codec]: (bytes: Uint8Array) => new Uint8Array(packed[codec](bytes)) } : {},
      rowGroupSize: random.int(1, rows),
    }),
  );
}

/** A file grown from a small bomb: what is in it, then packed, then damaged. */
function file(random: Random): Uint8Array {
  const text = random.pick([lines, csv, (each: Random) => noise(each, 1_048_576), (each: Random) => `${noise(each, 65_536)}\n${lines(each)}`]);
  const bytes = random.chance(0.3) ? parquet(random) : new TextEncoder().encode(text(random));
  const inside = random.chance(0.5) ? damaged(random, bytes) : bytes;
  return random.chance(0.3) ? damaged(random, new Uint8Array(gzipSync(inside))) : inside;
}

/** A data set is read to rows that can be written again, or refused by name. */
export async function readsDataset(random: Random): Promise<void> {
  const source = memorySource(file(random), random.pick([7, 512, 65_536, 1_048_576]) * (random.chance(0.9) ? 1_024 : 1));
  let rows = 0;
  try {
    for await (const row of fileRows(source)) {
      JSON.stringify(row);
      if (++rows === MAX_ROWS) return;
    }
  } catch (thrown) {
    if (!(thrown instanceof EdgewiseError && thrown.code === "dataset_unreadable")) throw thrown;
  }
}

/** A line of a results folder is a row, or refused. */
export async function readsRow(random: Random): Promise<void> {
  const row = { example_id: value(random), rollout_index: value(random), prompt: value(random), completion: value(random), reward: value(random) };
  const text = random.chance(0.5) ? line(random) : JSON.stringify(row);
  const bytes = damaged(random, new TextEncoder().encode(text));
  try {
    const { text: kept } = readForeignRow(new TextDecoder().decode(bytes));
    JSON.stringify(parseOutput(kept));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof TypeError)) throw thrown;
  }
}
