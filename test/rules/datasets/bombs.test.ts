import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { depthOf } from "../../../src/config/json-depth.ts";
import { parseOptionText } from "../../../src/config/options/option-text.ts";
import { fileRows } from "../../../src/datasets/file-rows.ts";
import { unpack } from "../../../src/datasets/unpack.ts";
import { webSource } from "../../../src/datasets/web.ts";
import { MAX_CSV_RECORD_CHARS, MAX_JSON_DEPTH, MAX_PAGE_BYTES, MAX_ROW_CHARS, MAX_ROW_DEPTH, MIB, STEP_CHARS } from "../../../src/limits.ts";
import { readForeignRow } from "../../../src/rollouts/rows/foreign-row.ts";
import { memoryDatasets, memorySource } from "../../support/environments/memory-datasets.ts";

const rowsOf = (content: string | Uint8Array, chunkBytes?: number) => Array.fromAsync(fileRows(memorySource(content, chunkBytes)));
const refused = (message: RegExp) => ({ code: "dataset_unreadable", message: expect.stringMatching(message) });
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** How often others had their turn while `work` went on. */
async function turnsBeside(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work.catch(() => undefined);
  over = true;
  return turns;
}

const page = (bytes: number, codec: "GZIP" | "SNAPPY" | "UNCOMPRESSED" = "GZIP"): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      // A text of a page has its length before it.
      columnData: [{ name: "question", data: ["a".repeat(bytes - 4)], type: "STRING", nullable: false }],
      codec,
      compressors: { GZIP: (raw) => new Uint8Array(gzipSync(raw)) },
      statistics: false,
    }),
  );

describe("a data set that is small and becomes large", () => {
  it.each([
    ["blanks", " ", /longer than 16 MiB/],
    ["blank lines", "\n", /nothing but blanks for 16 MiB/],
    ["blank lines of Windows", "\r\n", /nothing but blanks for 16 MiB/],
  ])("of nothing but %s is given up when no row came", async (_, piece, message) => {
    await expect(rowsOf(gzipSync(piece.repeat((MAX_ROW_CHARS + MIB) / piece.length)))).rejects.toMatchObject(refused(message));
    expect(await rowsOf(gzipSync(`${piece.repeat(MIB)}{"question":"q"}`))).toEqual([{ question: "q" }]);
  });

  it("of records without anything is given up too", async () => {
    await expect(rowsOf(`question,answer\n${"\n".repeat(MAX_CSV_RECORD_CHARS + MIB)}`)).rejects.toMatchObject(refused(/it holds nothing/));
  });

  it.each([1_000, 64_000])("with a quote that is never closed is gone through once for each doubling, in chunks of %i bytes", async (chunk) => {
    const open = `question,answer\n"${'a "b" c,'.repeat(MAX_CSV_RECORD_CHARS / 8)}`;
    await expect(rowsOf(`${open}${"x".repeat(STEP_CHARS)}`.padEnd(2 * MAX_CSV_RECORD_CHARS + MIB, "y"), chunk)).rejects.toMatchObject(
      refused(/longer than 4 MiB; is a quote never closed/),
    );
  });

  it("is unpacked to the bytes that it may become, and no further", async () => {
    const packed = (bytes: number) => new Blob([gzipSync(new Uint8Array(bytes))]).stream();
    const lengthOf = async (bytes: number) => (await new Response(unpack(packed(bytes), "the file", MIB)).bytes()).byteLength;
    expect(await lengthOf(MIB)).toBe(MIB);
    await expect(Array.fromAsync(unpack(packed(MIB + 1), "the file", MIB))).rejects.toMatchObject(refused(/becomes more than 1 MiB/));
  });

  it("as gzip that is cut off or damaged is refused by name", async () => {
    const whole = gzipSync('{"question":"q"}\n'.repeat(1_000));
    await expect(rowsOf(whole.subarray(0, -10))).rejects.toMatchObject(refused(/no whole gzip file/));
    await expect(rowsOf(Buffer.concat([whole.subarray(0, 20), Buffer.from("x"), whole.subarray(21)]))).rejects.toMatchObject(refused(/no whole gzip file/));
  });

  it.each(["GZIP", "SNAPPY"] as const)("as a page of Parquet in %s is unpacked up to 32 MiB", async (codec) => {
    expect((await rowsOf(page(MAX_PAGE_BYTES / 4, codec)))[0]?.question).toHaveLength(MAX_PAGE_BYTES / 4 - 4);
    await expect(rowsOf(page(MAX_PAGE_BYTES + 1, codec))).rejects.toMatchObject(refused(/a page of 33554433 bytes/));
  });

  it("as one value of Parquet is no longer than a row may be", async () => {
    expect((await rowsOf(page(MAX_ROW_CHARS + 4)))[0]?.question).toHaveLength(MAX_ROW_CHARS);
    await expect(rowsOf(page(MAX_ROW_CHARS + 5))).rejects.toMatchObject(refused(/column question is longer than 16 MiB/));
  });

  it("leaves others their turn, in every form", async () => {
    const row = `{"question":"${"q".repeat(1_000)}"}\n`;
    const steps = 40;
    const long = row.repeat((steps * STEP_CHARS) / row.length);
    const csv = `question,answer\n${`a,${"b".repeat(1_000)}\n`.repeat((steps * STEP_CHARS) / 1_003)}`;
    for (const content of [long, csv, gzipSync(long), gzipSync("\n".repeat(steps * STEP_CHARS))])
      expect(await turnsBeside(rowsOf(content, 16 * MIB))).toBeGreaterThan(steps / 2);
  });
});

describe("what is nested deeply", () => {
  it("is counted without being parsed, and not inside of texts", () => {
    expect(depthOf(`{"a":${nested(100_000)}}`)).toBe(100_001);
    expect(depthOf(`{"a":"[[[\\"[[{{"}`)).toBe(1);
  });

  it("is a row up to 256 levels", async () => {
    const row = (levels: number): string => `{"question":"q","info":${nested(levels - 1)}}`;
    expect(await rowsOf(row(MAX_ROW_DEPTH))).toHaveLength(1);
    for (const levels of [MAX_ROW_DEPTH + 1, 12_000]) {
      await expect(rowsOf(row(levels))).rejects.toMatchObject(refused(/line 1: nested deeper than 256 levels/));
      expect(() => readForeignRow(row(levels))).toThrow("nested deeper than 256 levels");
    }
  });

  it("is a value of Parquet up to as many", async () => {
    const file = (levels: number) =>
      new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "info", data: [JSON.parse(nested(levels)) as object], type: "JSON" }] }));
    expect(await rowsOf(file(MAX_ROW_DEPTH))).toHaveLength(1);
    await expect(rowsOf(file(MAX_ROW_DEPTH + 1))).rejects.toMatchObject(refused(/column info is nested deeper than 256 levels/));
  });

  it("is a flag's value up to 64", () => {
    const given = (levels: number) => parseOptionText("env_args", `{"a":${nested(levels - 1)}}`);
    expect(given(MAX_JSON_DEPTH)).toMatchObject({ ok: true });
    for (const levels of [MAX_JSON_DEPTH + 1, 50_000]) expect(given(levels)).toEqual({ ok: false, msg: "not valid JSON: nested deeper than 64 levels" });
  });

  it("or never closed in a line of a folder is refused at once", () => {
    expect(() => readForeignRow(`{"a":NaN,"b":"${'\\"'.repeat(2 * MIB)}`)).toThrow(SyntaxError);
  });
});

it("a part of a file on the web is read to the bytes that were asked for, packed or not", async () => {
  const served = (body: Uint8Array<ArrayBuffer>) =>
    webSource({ ...memoryDatasets(), fetch: async () => new Response(body, { status: 206 }) }, "https://data.example/a.parquet");
  expect((await served(new Uint8Array(100)).read(0, 100)).byteLength).toBe(100);
  await expect(served(new Uint8Array(64 * MIB)).read(0, 100)).rejects.toMatchObject(refused(/sent more than 100 bytes where 100 were asked for/));
});

describe("a damaged Parquet file", () => {
  /** A frame of Zstandard that says it becomes four bytes, of one compressed block. */
  const frame = (...block: readonly number[]): Uint8Array => {
    const header = (block.length << 3) | (2 << 1) | 1;
    return new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, header & 255, (header >> 8) & 255, header >> 16, ...block]);
  };
  it.each([
    // Literals in the code of Huffman; its weights in a table of one symbol, whose states need no bit to come to themselves.
    ["whose table leads to itself", frame(0x12, 0x40, 0x02, 0x04, 0xf0, 0x03, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80)],
    // 97,791 sequences of a repeated code: copy 65,539 bytes, need no bit.
    ["that copies for minutes", frame(0x08, 0x61, 0xff, 0xff, 0xff, 0x54, 0, 0, 52, 1)],
  ])("with a page of Zstandard %s is refused", { timeout: 10_000 }, async (_how, evil) => {
    const file = parquetWriteBuffer({
      columnData: [{ name: "question", data: ["aaaa"], type: "STRING", nullable: false }],
      codec: "ZSTD",
      compressors: { ZSTD: () => evil },
      statistics: false,
    });
    await expect(rowsOf(new Uint8Array(file))).rejects.toMatchObject(refused(/a page of Zstandard that is damaged, or longer/));
  });

  /** One page of a column that may be null, with its runs; then damaged at every byte of the front, where pages are. */
  const file = (codec: "SNAPPY" | "UNCOMPRESSED"): Uint8Array =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [{ name: "question", data: Array.from({ length: 64 }, (_, at) => (at % 3 === 0 ? null : `q${at % 5}`)), type: "STRING", nullable: true }],
        codec,
        statistics: false,
      }),
    );

  it.each(["SNAPPY", "UNCOMPRESSED"] as const)("in %s is read or refused, whichever of its bytes is another", async (codec) => {
    const whole = file(codec);
    expect(await rowsOf(whole)).toHaveLength(64);
    for (let at = 4; at < whole.length; at++) {
      for (const byte of [0x00, 0x01, 0x7f, 0x80, 0xff]) {
        const damaged = whole.slice();
        damaged[at] = byte;
        await rowsOf(damaged).catch((thrown: unknown) => expect(thrown).toMatchObject({ code: "dataset_unreadable" }));
      }
    }
  });
});
