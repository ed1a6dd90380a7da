import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { changedRows, DIGEST_BLOCK_BYTES, type RowsDigest, RowsDigester } from "../../../src/rollouts/rows/rows-digest.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function digestOf(
  text: string,
  blockBytes = DIGEST_BLOCK_BYTES,
  between: (digester: RowsDigester) => RowsDigester = (same) => same,
): Promise<RowsDigest> {
  const bytes = bytesOf(text);
  let digester = new RowsDigester();
  for (let at = 0; at < bytes.byteLength; at += blockBytes) {
    await digester.add(bytes.subarray(at, at + blockBytes));
    digester = between(digester);
  }
  return digester.result();
}

const rowOf = (row: number, reward = 1): string => `{"example_id":${row},"reward":${reward}}\n`;
const fileOf = (rows: number, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: rows }, (_, row) => changed[row] ?? rowOf(row)).join("");

describe("the digest of the rows of a file", () => {
  it("is its sha256 where it has one block, and that of no bytes where it has no rows", async () => {
    const text = fileOf(100);
    expect(await digestOf(text)).toMatchObject({ rows: 100, sha256: await sha256Hex(text) });
    expect(await digestOf("")).toMatchObject({ rows: 0, sha256: await sha256Hex("") });
    expect((await digestOf(text.slice(0, -1))).rows).toBe(100);
  });

  it("is the same when it was stopped after any block, and rows were cut there", async () => {
    const text = fileOf(500);
    for (const block of [7, 64, 1_000]) {
      const whole = await digestOf(text, block);
      // As it crosses to another executor.
      expect(await digestOf(text, block, ({ state }) => new RowsDigester(JSON.parse(JSON.stringify(state))))).toEqual(whole);
      expect(whole.marks).toBe((await digestOf(text)).marks);
    }
  });
});

describe("rows that were changed", () => {
  it("are named: any one of them by any change, and several of different groups", async () => {
    const before = await digestOf(fileOf(1_000));
    for (const row of [0, 1, 15, 16, 500, 999])
      for (const text of [rowOf(row, 0), rowOf(row).replace("reward", "Reward"), '{"example_id":1e9,"more":"and longer"}\n', "\n"])
        expect(changedRows(before, await digestOf(fileOf(1_000, { [row]: text })))).toEqual([row]);
    const several = await digestOf(fileOf(1_000, { 3: rowOf(3, 0), 4: rowOf(4, 0), 730: rowOf(730, 0) }));
    expect(changedRows(before, several)).toEqual([3, 4, 730]);
    expect(changedRows(before, before)).toEqual([]);
  });

  it("are not named wrongly where there are too many of them, or another number", async () => {
    const before = await digestOf(fileOf(1_000));
    expect(changedRows(before, await digestOf(fileOf(1_000, { 16: rowOf(16, 0), 32: rowOf(32, 0) })))).toBeNull();
    expect(changedRows(before, await digestOf(fileOf(999)))).toBeNull();
    const turned = fileOf(1_000).split("\n").slice(0, -1).reverse().join("\n");
    expect(changedRows(before, await digestOf(`${turned}\n`))).toBeNull();
  });
});
