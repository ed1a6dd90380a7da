import { describe, expect, it } from "vitest";
import { ScoreTables } from "../../../src/api/comparisons/score-tables.ts";
import { MAX_COMPARED_EXAMPLES } from "../../../src/limits.ts";
import { type ScoreTable, ScoreTableBuilder } from "../../../src/metrics/comparison/score-table.ts";

const tableOf = (examples: number): ScoreTable => ({ ...new ScoreTableBuilder({ trusted: true }).table(), examples });

describe("scores that comparisons have read", () => {
  it("are kept for a minute after they were used last", () => {
    let now = 0;
    const tables = new ScoreTables(() => now);
    const table = tableOf(3);
    tables.put("a", table);
    now = 59_999;
    expect(tables.get("a")).toBe(table);
    now += 59_999;
    expect(tables.get("a")).toBe(table);
    now += 60_000;
    expect([tables.get("a"), tables.get("b")]).toEqual([null, null]);
  });

  it("are joined once, for as long as both are kept", () => {
    const tables = new ScoreTables();
    const [a, b, c] = [tableOf(0), tableOf(0), tableOf(0)];
    expect(tables.join(a, b)).toBe(tables.join(a, b));
    expect(tables.join(a, c)).not.toBe(tables.join(a, b));
    expect(tables.join(b, a)).not.toBe(tables.join(a, b));
  });

  it("are of as many examples as one comparison has, and those used last stay", () => {
    const tables = new ScoreTables(() => 0);
    const half = MAX_COMPARED_EXAMPLES / 2;
    for (const key of ["a", "b"]) tables.put(key, tableOf(half));
    expect([tables.get("b") !== null, tables.get("a") !== null]).toEqual([true, true]);
    tables.put("c", tableOf(1));
    expect(["a", "b", "c"].map((key) => tables.get(key) !== null)).toEqual([true, false, true]);
    tables.put("d", tableOf(MAX_COMPARED_EXAMPLES + 1));
    expect(["a", "c", "d"].map((key) => tables.get(key) !== null)).toEqual([false, false, false]);
  });
});
