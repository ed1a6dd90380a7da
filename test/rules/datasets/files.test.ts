import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { fileRows } from "../../../src/datasets/file-rows.ts";
import { memorySource } from "../../support/environments/memory-datasets.ts";

const read = (content: string | Uint8Array, chunkBytes?: number) => Array.fromAsync(fileRows(memorySource(content, chunkBytes)));
const parquet = (columns: Parameters<typeof parquetWriteBuffer>[0]["columnData"], options: object = {}): Uint8Array =>
  new Uint8Array(parquetWriteBuffer({ columnData: columns, ...options }));

describe("the form of a data file is seen from its content", () => {
  it.each([
    ["JSONL", '{"question": "a", "answer": "1"}\n{"question": "b,\\nc", "answer": "2"}\n'],
    ["CSV", 'question,answer\na,1\n"b,\nc",2\n'],
    ["CSV with Windows line ends and a byte order mark", '\uFEFFquestion,answer\r\na,1\r\n"b,\nc",2\r\n'],
    ["tab-separated text", 'question\tanswer\na\t1\n"b,\nc"\t2\n'],
  ])("%s, in one piece, in pieces of three bytes, and gzipped", async (_, text) => {
    const rows = [
      { question: "a", answer: "1" },
      { question: "b,\nc", answer: "2" },
    ];
    expect(await read(text)).toEqual(rows);
    expect(await read(text, 3)).toEqual(rows);
    expect(await read(gzipSync(text))).toEqual(rows);
  });

  it("Parquet, with every kind of value in JSON", async () => {
    const file = parquet([
      { name: "question", data: ["a", "b"], type: "STRING" },
      { name: "level", data: [1, 2], type: "INT32" },
      { name: "big", data: [5n, 2n ** 60n], type: "INT64" },
      { name: "share", data: [0.5, Number.NaN], type: "DOUBLE" },
      { name: "info", data: [{ a: [1] }, null], type: "JSON" },
    ]);
    expect(await read(file)).toEqual([
      { question: "a", level: 1, big: 5, share: 0.5, info: { a: [1] } },
      { question: "b", level: 2, big: "1152921504606846976", share: null, info: null },
    ]);
  });

  it.each(["GZIP", "ZSTD"] as const)("Parquet compressed with %s", async (codec) => {
    const pack = { GZIP: gzipSync, ZSTD: zstdCompressSync }[codec];
    const file = parquet([{ name: "question", data: ["a", "b"], type: "STRING" }], {
      codec,
      compressors: { [codec]: (bytes: Uint8Array) => new Uint8Array(pack(bytes)) },
    });
    expect(await read(file)).toEqual([{ question: "a" }, { question: "b" }]);
  });

  it.each([
    ["[{}]", /one JSON array.*/],
    ["a,b\n1\n", /record 1: it has 1 fields, the header has 2/],
    ["a,a\n1,2\n", /column "a" twice/],
    ['a,b\n1,"2\n', /Quoted field unterminated/i],
    [new Uint8Array([0x61, 0x0a, 0xff, 0xfe, 0x0a]), /not UTF-8/],
    [new Uint8Array([...new TextEncoder().encode("PAR1"), 0, 0, 0, 0, 0, 0, 0, 0, ...new TextEncoder().encode("PAR1")]), /cannot be read as Parquet/],
  ])("says what is wrong with %j", async (content, message) => {
    await expect(read(content)).rejects.toMatchObject({ code: "dataset_unreadable", message: expect.stringMatching(message) });
  });
});

describe("reading is streamed", () => {
  const rows = 100_000;
  const words = Array.from({ length: rows }, (_, index) => `question number ${index}`);
  const file = parquet([{ name: "question", data: words, type: "STRING" }], { rowGroupSize: [rows], pageSize: 64 * 1024 });

  it("the first rows of a Parquet file cost its index and one row group, whatever comes after", async () => {
    const long = words.map((word) => word.repeat(4));
    const source = memorySource(parquet([{ name: "question", data: long, type: "STRING" }], { rowGroupSize: [1_000], codec: "UNCOMPRESSED" }));
    const first: unknown[] = [];
    for await (const row of fileRows(source)) {
      first.push(row);
      if (first.length === 5) break;
    }
    expect(first.at(-1)).toEqual({ question: long[4] });
    expect(source.bytesRead).toBeLessThan((await source.size()) / 5);
  });

  it("100,000 rows of one row group are decoded window by window, and their bytes fetched once", async () => {
    const source = memorySource(file);
    let index = 0;
    for await (const row of fileRows(source)) {
      if (row.question !== words[index]) expect(row.question).toBe(words[index]);
      index++;
    }
    expect(index).toBe(rows);
    expect(source.bytesRead).toBeLessThan(1.2 * (await source.size()) + 600_000);
    expect(source.reads).toBeLessThan(10);
  });

  it("100,000 records of CSV leave nothing behind", async () => {
    const text = ["question", ...words].join("\n");
    const sums = { rows: 0, chars: 0 };
    for await (const row of fileRows(memorySource(text, 4_096))) {
      sums.rows++;
      sums.chars += String(row.question).length;
    }
    expect(sums).toEqual({ rows, chars: words.join("").length });
  });
});
