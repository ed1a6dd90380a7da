import { describe, expect, it } from "vitest";
import { readJsonl } from "../../../src/datasets/jsonl.ts";
import { datasetReference } from "../../../src/datasets/reference.ts";

function streamOf(bytes: Uint8Array | string, size: number, onCancel: () => void = () => undefined): ReadableStream<Uint8Array> {
  const data = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= data.length) controller.close();
      else controller.enqueue(data.slice(at, at + size));
      at += size;
    },
    cancel: onCancel,
  });
}

const rowsOf = (text: string | Uint8Array, size = 7): Promise<{ line: number; value: unknown }[]> => Array.fromAsync(readJsonl(streamOf(text, size)));

describe("JSONL", () => {
  it("is read the same whatever the chunks, with line numbers, blank lines and either line ending", async () => {
    const text = '{"a": "ä€😀"}\r\n\n{"b": [1, 2]}\n  \n{"c": null}';
    const expected = [
      { line: 1, value: { a: "ä€😀" } },
      { line: 3, value: { b: [1, 2] } },
      { line: 5, value: { c: null } },
    ];
    for (const size of [1, 2, 3, 5, 1_000]) expect(await rowsOf(text, size)).toEqual(expected);
    expect(await rowsOf(`${text}\n`)).toEqual(expected);
    expect(await rowsOf("")).toEqual([]);
  });

  it.each([
    ['{"a": 1}\n{"a": \n', /^data set line 2: not JSON/],
    ['{"a": NaN}', /^data set line 1: NaN and Infinity are not JSON/],
    ['{"a": -Infinity}', /^data set line 1: NaN and Infinity/],
    ['{"a": "NaN"', /^data set line 1: not JSON/],
    ['{"a": 1}\n[1]\n', /^data set line 2: a row must be a JSON object/],
    ["7", /^data set line 1: a row must be/],
  ])("%j is refused by its line", async (text, message) => {
    await expect(rowsOf(text)).rejects.toMatchObject({ code: "dataset_unreadable", message: expect.stringMatching(message) });
  });

  it("that is not UTF-8 is refused", async () => {
    await expect(rowsOf(new Uint8Array([0x7b, 0xff, 0x7d]))).rejects.toMatchObject({
      code: "dataset_unreadable",
      message: expect.stringContaining("not UTF-8"),
    });
  });

  it("without lines is given up before it fills the memory", async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20).fill(120)) });
    await expect(Array.fromAsync(readJsonl(endless))).rejects.toThrow(/longer than 16 MiB/);
  });

  it("stops the sender when the reader has enough", async () => {
    let cancelled = false;
    const stream = streamOf('{"a":1}\n'.repeat(1_000), 64, () => {
      cancelled = true;
    });
    for await (const { line } of readJsonl(stream)) if (line === 2) break;
    expect(cancelled).toBe(true);
  });
});

describe("references to data sets", () => {
  it("are digests and https URLs; for anything else the error says what to give", () => {
    const digest = "0f".repeat(32);
    expect(datasetReference(`sha256:${digest}`)).toEqual({ kind: "digest", digest });
    expect(datasetReference("https://example.com/a.jsonl?x=1")).toEqual({ kind: "url", url: "https://example.com/a.jsonl?x=1" });
    for (const bad of ["data/test.jsonl", "sha256:ab", "http://example.com/a", "file:///etc/passwd", ""]) {
      expect(() => datasetReference(bad)).toThrow(
        expect.objectContaining({ code: "invalid_request", hint: expect.stringContaining("local file, which it uploads") }),
      );
    }
  });
});
