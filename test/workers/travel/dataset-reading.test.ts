import { zstdCompressSync } from "node:zlib";
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterEach, describe, expect, it } from "vitest";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { datasetRows } from "../../../src/datasets/rows.ts";
import { datasetSpec } from "../../../src/datasets/spec.ts";
import type { Env } from "../../../src/env.ts";
import { bucketStore } from "../../../src/executor/hosting/bucket-store.ts";
import { datasetHost } from "../../../src/executor/preparation/datasets.ts";

const { BUCKET } = env as unknown as Env;
const DIGEST = "a".repeat(64);

const host = datasetHost(
  {
    store: bucketStore(BUCKET),
    fetch: () => Promise.reject(new Error("no network")),
    sleep: async () => undefined,
    hub: { endpoint: "https://hub.example.com", viewer: "https://viewer.example.com", token: null },
    local: true,
  },
  () => undefined,
);
async function rowsOf(bytes: BufferSource): Promise<unknown[]> {
  await BUCKET.put(datasetKey(DIGEST), bytes);
  const spec = datasetSpec({ dataset: `sha256:${DIGEST}`, dataset_columns: { question: "problem" } }, null);
  return spec === null ? [] : await Array.fromAsync(datasetRows(spec, host));
}
/** A stream compression of the platform, as bytes. */
async function gzipped(text: string): Promise<ArrayBuffer> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
}

afterEach(() => reset());

describe("an upload is read in the runtime of the Worker", () => {
  const problems = Array.from({ length: 3_000 }, (_, index) => `problem ${index} ${"x".repeat(index % 50)}`);
  const expected = problems.map((question) => ({ question }));

  it.each(["SNAPPY", "UNCOMPRESSED"] as const)("as %s Parquet, by ranges", async (codec) => {
    const file = parquetWriteBuffer({ columnData: [{ name: "problem", data: problems, type: "STRING" }], codec, rowGroupSize: [1_000] });
    expect(await rowsOf(file)).toEqual(expected);
  });

  it("as Parquet compressed with Zstandard, by the runtime's own", async () => {
    const compressors = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes)) };
    for (const data of [problems, ["long ".repeat(2_000_000)]]) {
      const file = parquetWriteBuffer({ columnData: [{ name: "problem", data, type: "STRING" }], codec: "ZSTD", compressors });
      expect((await rowsOf(file)).length).toBe(data.length);
      expect((await rowsOf(file))[0]).toEqual({ question: data[0] });
    }
  });

  it("as JSONL and CSV, gzipped or not", async () => {
    const jsonl = problems.map((problem) => JSON.stringify({ problem })).join("\n");
    expect(await rowsOf(new TextEncoder().encode(jsonl))).toEqual(expected);
    expect(await rowsOf(await gzipped(jsonl))).toEqual(expected);
    expect(await rowsOf(await gzipped(["problem", ...problems].join("\n")))).toEqual(expected);
  });

  it("and a missing one is named", async () => {
    const spec = datasetSpec({ dataset: `sha256:${"b".repeat(64)}` }, null) ?? expect.fail("no data set");
    await expect(Array.fromAsync(datasetRows(spec, host))).rejects.toMatchObject({ code: "dataset_unreadable", message: /no upload sha256:bbbbbbbbbbbb/ });
  });
});
