import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MOST_FILTER_CHARACTERS, samplesQuery, samplesViewOf } from "../../../src/dashboard/address/samples-view.ts";
import { allColumns, PLACE, shownColumns } from "../../../src/dashboard/pages/samples/sample-columns.ts";

const USUAL = samplesViewOf({});

describe("the address of the grid", () => {
  it("says everything that is chosen, and nothing that is as usual", () => {
    const given = { filter: "reward < 0.5", cols: "m:exact,reward,m:a%2Cb", sort: "m:exact", order: "desc", tall: "1", at: "12/3", attempts: "1" };
    const view = samplesViewOf(given);
    expect(view).toMatchObject({ columns: ["m:exact", "reward", "m:a,b"], at: { example: 12, rollout: 3 }, tall: true, attempts: true });
    expect(samplesQuery(view)).toEqual(given);
    expect(samplesQuery(USUAL)).toEqual({});
  });

  it("is read as it is written, whatever columns are called", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), (columns) => {
        expect(samplesViewOf(samplesQuery({ ...USUAL, columns })).columns).toEqual(columns);
      }),
    );
  });

  it("is as usual where it says what cannot be, and no filter is longer than one that somebody writes", () => {
    expect(samplesViewOf({ order: "up", tall: "yes", at: "1e9/0", attempts: "true", sort: "" })).toEqual(USUAL);
    expect(samplesViewOf({ at: "-1/0" }).at).toBeNull();
    expect(samplesViewOf({ cols: "%E0%A4%A" }).columns).toEqual(["%E0%A4%A"]);
    expect(samplesViewOf({ filter: "x".repeat(MOST_FILTER_CHARACTERS + 1) }).filter).toHaveLength(MOST_FILTER_CHARACTERS);
  });
});

describe("columns of the grid", () => {
  const all = allColumns(["exact", "reward", "<b>\nbold</b>"], ["level"]);
  const keys = (columns: readonly { readonly key: string }[]): readonly string[] => columns.map(({ key }) => key);

  it("are every metric, every number and every key of info, each once", () => {
    expect(keys(all)).toEqual(expect.arrayContaining(["m:exact", "m:<b>\nbold</b>", "tokens", "judge_cost", "info.level"]));
    expect(new Set(keys(all)).size).toBe(all.length);
    expect(all.filter(({ key }) => key === "m:reward")).toEqual([]);
    expect(all.find(({ key }) => key.startsWith("m:<b>"))?.title).toBe("<b>\\nbold</b>");
  });

  it("are the usual ones until some are chosen, fewer on a phone, and begin with the example always", () => {
    expect(keys(shownColumns(all, null, false))).toEqual(
      expect.arrayContaining([PLACE, "prompt", "completion", "reward", "m:exact", "error", "turns", "tokens", "cost", "seconds"]),
    );
    expect(keys(shownColumns(all, null, true))).toEqual([PLACE, "reward", "completion", "error"]);
    expect(keys(shownColumns(all, ["m:exact", "example", "info.other", "nonsense"], true))).toEqual([PLACE, "m:exact", "info.other"]);
  });
});
