import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manifestText, rangesOfIds, readManifest, unitsOutside } from "../../../../r2-layout/folder-manifest.ts";
import { PartReader, planParts } from "../../../../src/cli/results/folder-parts.ts";
import { indexRows } from "../../../../src/cli/results/row-index.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "edgewise-parts-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const file = (text: string): string => {
  writeFileSync(join(root, "rows"), text);
  return join(root, "rows");
};
const row = (example: number, rollout: number | null, more: object = {}): string =>
  JSON.stringify({ example_id: example, ...(rollout === null ? {} : { rollout_index: rollout }), ...more });
const FAILED = { error: { error: "ModelError", code: "connection_failed" } };

/** The texts of the parts, and what the manifest says of the examples. */
async function parts(lines: readonly string[], { rollouts = 2, partBytes = 1_000_000 } = {}) {
  const index = await indexRows(file(lines.join("\n")), rollouts, false);
  const plan = planParts(index, rollouts, partBytes);
  const reader = new PartReader(index);
  const texts = plan.parts.map((part) => new TextDecoder().decode(reader.read(part)));
  reader.close();
  return { texts, held: plan.held, counts: index.counts };
}
const text = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

describe("the rows of a folder", () => {
  it("are brought into the order of a finished run, those of other writers as they come, every byte of them as it is", async () => {
    const long = "ü".repeat(1_200_000);
    const lines = [row(3, 0, { long }), "", row(1, 1), row(1, 0), row(10, 0)] as const;
    expect((await parts(lines, { rollouts: 1, partBytes: 10_000_000 }).catch((error: Error) => error.message)).toString()).toContain(
      "rollout_index 1 is not below",
    );
    expect((await parts(lines, { partBytes: 10_000_000 })).texts.join("")).toBe(text(row(3, 0, { long }), row(10, 0), row(1, 0), row(1, 1)));
    const theirs = [row(2, null, { a: 1 }), row(1, null), row(2, null, { a: 2 }), row(1, null)];
    expect((await parts(theirs)).texts).toEqual([text(row(1, null), row(1, null), row(2, null, { a: 1 }), row(2, null, { a: 2 }))]);
  });

  it("are counted, and refused by their line when they are none", async () => {
    expect((await parts([row(1, 0), row(1, 1, FAILED), row(2, 0, { error: { code: "scorer_error" } })])).counts).toEqual({
      rows: 3,
      infrastructure: 1,
      scorer: 1,
    });
    await expect(parts([row(1, 0), "{", row(2, 0)])).rejects.toThrow(/rows line 2 is not JSON/);
    await expect(parts([row(1, 0), "{}"])).rejects.toThrow(/rows line 2 has no example_id/);
    await expect(parts([row(1, 0), row(1, 2)])).rejects.toThrow(/rows line 2: rollout_index 2 is not below rollouts_per_example 2/);
    // A crash has cut the last line.
    expect((await parts([row(1, 0), '{"example_id":2'])).counts.rows).toBe(1);
    expect(await parts([""])).toEqual({ texts: [], held: [], counts: { rows: 0, infrastructure: 0, scorer: 0 } });
  });

  it("go in parts of whole examples, those that owe something first", async () => {
    const lines = [0, 1, 2, 3, 4, 5].flatMap((id) => [row(id, 0), row(id, 1, id === 4 ? FAILED : {})]).filter((line) => line !== row(1, 1));
    const two = text(...lines.slice(0, 2)).length * 2;
    const { texts, held } = await parts(lines, { partBytes: two });
    expect(texts).toEqual(
      [
        text(row(1, 0), row(4, 0), row(4, 1, FAILED)),
        text(row(0, 0), row(0, 1), row(2, 0), row(2, 1)),
        text(row(3, 0), row(3, 1), row(5, 0), row(5, 1)),
      ].flatMap((part, index) => (index === 0 && part.length > two ? [text(row(1, 0)), text(row(4, 0), row(4, 1, FAILED))] : [part])),
    );
    expect(held).toEqual([[0, 5]]);
    // An example that is larger than a part has one of its own.
    const alone = await parts([row(0, 0), row(0, 1), row(1, 0), row(1, 1)], { partBytes: 10 });
    expect(alone.texts).toEqual([text(row(0, 0), row(0, 1)), text(row(1, 0), row(1, 1))]);
  });

  it("are not sent when the file became shorter meanwhile", async () => {
    const index = await indexRows(file(text(row(0, 0), row(1, 0))), 1, false);
    truncateSync(index.path, 10);
    const reader = new PartReader(index);
    const [part] = planParts(index, 1, 1_000).parts;
    expect(() => reader.read(part ?? { rows: [], bytes: 0 })).toThrow(/became shorter/);
    reader.close();
  });
});

describe("a manifest", () => {
  const manifest = { parts: [{ digest: "a".repeat(64), bytes: 10 }], held: [[0, 4] as const, [7, 7] as const] };
  const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

  it("is read back, and refused where it is damaged or of a later version", () => {
    expect(readManifest(bytes(manifestText(manifest)))).toEqual({ ok: true, value: manifest });
    const refused = (change: object | string): string => {
      const read = readManifest(bytes(typeof change === "string" ? change : JSON.stringify({ version: 1, ...manifest, ...change })));
      return read.ok ? "ok" : read.error.code;
    };
    expect(refused({ version: 2 })).toBe("stored_version_unknown");
    for (const damage of [
      "{",
      "null",
      { parts: [{}] },
      { parts: null },
      { held: [[4, 0]] },
      {
        held: [
          [0, 4],
          [4, 5],
        ],
      },
      { held: [[0]] },
      { held: [["0", 1]] },
    ]) {
      expect(refused(damage), JSON.stringify(damage)).toBe("resume_mismatch");
    }
  });

  it("names the largest holes where there are too many", () => {
    expect(rangesOfIds([0, 1, 2, 5, 6, 9])).toEqual([
      [0, 2],
      [5, 6],
      [9, 9],
    ]);
    expect(rangesOfIds([0, 2, 4, 10, 12, 20], 3)).toEqual([
      [0, 4],
      [10, 12],
      [20, 20],
    ]);
    expect(rangesOfIds([0, 2, 4], 1)).toEqual([[0, 4]]);
    expect(rangesOfIds([])).toEqual([]);
  });

  it("tells the units that the folder lacks, whatever ids its examples have", () => {
    expect(
      unitsOutside(
        [0, 1, 2, 3, 4, 5],
        [
          [1, 2],
          [4, 4],
        ],
      ),
    ).toEqual([
      { lo: 0, hi: 1 },
      { lo: 3, hi: 4 },
      { lo: 5, hi: 6 },
    ]);
    expect(unitsOutside([3, 17, 40, 41], [[3, 17]])).toEqual([{ lo: 2, hi: 4 }]);
    expect(unitsOutside([3, 17], [])).toEqual([{ lo: 0, hi: 2 }]);
    expect(unitsOutside([3, 17], [[0, 99]])).toEqual([]);
  });
});
