import { describe, expect, it } from "vitest";
import { BatchError, type ScannedSample } from "../../../src/pushed/scanned-sample.ts";
import { streamOf } from "../../../src/stream-of.ts";
import { LineScanner } from "../../../src/traces/line-scanner.ts";
import { TracesUpload } from "../../../src/traces/traces-upload.ts";
import { gzipped, type SentAs, sentTraces } from "../../support/door/traces-upload.ts";

const LINES = Array.from({ length: 40 }, (_, index) => `{"id":"${index}","text":"ü-${"x".repeat(index * 7)}\\r\\n--0123456789abcdef"}\n`).join("");

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function readBack(body: Uint8Array, headers: Readonly<Record<string, string>>, size: number): Promise<string> {
  const upload = new TracesUpload(streamOf(cut(body, size)), headers["content-type"] ?? "");
  return Buffer.concat(await Array.fromAsync(upload.bytes())).toString();
}

async function problemOf(lines: string, as: SentAs, change: (body: Uint8Array) => Uint8Array = (body) => body): Promise<unknown> {
  const { body, headers } = await sentTraces(lines, as);
  return await readBack(change(body), { ...headers, ...as.headers }, 512).then(
    () => null,
    (thrown: unknown) => (thrown instanceof BatchError ? [thrown.field, thrown.code, thrown.message] : thrown),
  );
}

describe("the body of an upload of traces", () => {
  it.each([1, 2, 3, 7, 11, 61, 512, 100_000])("has its lines, gzipped or not, in whatever pieces of %i bytes it comes", async (size) => {
    for (const gzip of [true, false]) {
      const { body, headers } = await sentTraces(LINES, { gzip });
      expect(await readBack(body, headers, size)).toBe(LINES);
    }
  });

  it.each<[string, SentAs, ((body: Uint8Array) => Uint8Array) | undefined, string, string]>([
    ["is cut off within its lines", { gzip: false }, (body) => body.subarray(0, body.length - 200), "body", "is cut off"],
    ["has a gzip that is cut off", { packed: new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]) }, undefined, "traces", "is no whole gzip"],
    ["has lines that are no gzip", { packed: new TextEncoder().encode("nonsense") }, undefined, "traces", "is no whole gzip"],
    ["has no boundary", { headers: { "content-type": "multipart/form-data" } }, undefined, "body", "has no boundary"],
    ["has another boundary", { headers: { "content-type": "multipart/form-data; boundary=other" } }, undefined, "body", "is cut off"],
    ["has another version", { metadata: { schema_version: 2 } }, undefined, "metadata.schema_version", "1"],
    ["has a context of numbers", { metadata: { schema_version: 1, context: { model: 3 } } }, undefined, "metadata.context.model", "string"],
    ["has metadata that are too large", { metadata: { schema_version: 1, note: "x".repeat(70_000) } }, undefined, "body", "metadata of more than 64 KiB"],
  ])("that %s is refused by its field", async (_, as, change, field, message) => {
    expect(await problemOf(LINES, as, change)).toEqual([field, "invalid_request", expect.stringContaining(message) as string]);
  });

  it("holds no more than a piece of a gzip that becomes very much", async () => {
    const bomb = await gzipped(new Uint8Array(64 * 1024 * 1024).fill(0x78));
    const { body, headers } = await sentTraces("", { packed: bomb });
    const upload = new TracesUpload(streamOf(cut(body, 65_536)), headers["content-type"] ?? "");
    let most = 0;
    for await (const piece of upload.bytes()) {
      most = Math.max(most, piece.byteLength);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(most).toBeLessThan(8 * 1024 * 1024);
  });
});

describe("lines of traces", () => {
  const TEXT = '{"a":1}\n\n  \t\r\n {"b":"\\n"}\r\n{"c":[\n';
  const bytes = new TextEncoder().encode(TEXT);

  it.each([1, 2, 5, 100])("are found with their places in pieces of %i bytes; blank ones are none, and the last needs no end", (size) => {
    const scanner = new LineScanner();
    const found: ScannedSample[] = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...scanner.push(bytes.subarray(at, at + size)));
    found.push(...scanner.push(new TextEncoder().encode("3]}")), ...scanner.end());
    expect(found.map(({ position, bytes: line }) => [position, new TextDecoder().decode(line)])).toEqual([
      [0, '{"a":1}'],
      [1, '{"b":"\\n"}\r'],
      [2, '{"c":['],
      [3, "3]}"],
    ]);
    for (const { offset, bytes: line } of found) expect(`${TEXT}3]}`.slice(offset, offset + line.length)).toBe(new TextDecoder().decode(line));
  });
});
