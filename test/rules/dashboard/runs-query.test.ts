import { describe, expect, it } from "vitest";
import { RUN_STATUSES } from "../../../src/config/run-status.ts";
import { RUN_ORDERS } from "../../../durable-objects/registry/lists/list-query.ts";
import { addressOf, listQueryOf, MOST_CHOSEN, runsQueryOf, SORTS, STATUSES, sortedBy, toggled } from "../../../src/dashboard/pages/runs/runs-query.ts";
import { listQuery } from "../../../src/api/runs/list-schemas.ts";

const USUAL = runsQueryOf({});

describe("the address of the runs page", () => {
  it("says everything that is chosen, and nothing that is as usual", () => {
    const given = {
      q: "two words",
      status: "RUNNING,FAILED",
      env: "owner/name",
      model: "m",
      tag: "nightly",
      by: "ada",
      sort: "reward",
      order: "asc",
      page: "3",
      chosen: "0000abcd,0000ffff",
    };
    expect(addressOf(runsQueryOf(given))).toEqual(given);
    expect(addressOf(USUAL)).toEqual({});
  });

  it("is as usual where it says what cannot be", () => {
    const wrong = { status: "DONE", sort: "age", order: "up", page: "-1", chosen: "zz,<script>,0000ABCD" };
    expect(runsQueryOf(wrong)).toEqual(USUAL);
    expect(runsQueryOf({ page: "1e9" }).page).toBe(1);
  });

  it("becomes a question that the API takes, whatever it says", () => {
    for (const given of [{}, { q: "x", status: "FAILED", env: "e", model: "m", tag: "t", by: "ada", sort: "cost", order: "asc", page: "2" }]) {
      const asked = Object.fromEntries(
        Object.entries(listQueryOf(runsQueryOf(given))).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      );
      expect(listQuery.safeParse(asked).error).toBeUndefined();
    }
    expect(STATUSES).toEqual(RUN_STATUSES);
    expect([...SORTS].sort()).toEqual([...RUN_ORDERS].sort());
  });
});

describe("choosing runs", () => {
  it("adds, takes away, and keeps to what a comparison takes", () => {
    const ids = Array.from({ length: MOST_CHOSEN + 1 }, (_, n) => `000000${n.toString(16).padStart(2, "0")}`);
    const all = { ...USUAL };
    for (const id of ids) Object.assign(all, { chosen: toggled(all, id) });
    expect(all.chosen).toEqual([...ids.slice(0, MOST_CHOSEN - 1), ids.at(-1)]);
    expect(toggled(all, ids[0] ?? "")).toEqual(all.chosen.slice(1));
  });

  it("sorts the highest or first first, then the other way, from the first page", () => {
    const later = { ...USUAL, page: 4 };
    expect(sortedBy(later, "reward")).toMatchObject({ sort: "reward", order: "desc", page: 1 });
    expect(sortedBy(sortedBy(later, "reward"), "reward")).toMatchObject({ sort: "reward", order: "asc" });
    expect(sortedBy(later, "model")).toMatchObject({ sort: "model", order: "asc" });
  });
});
