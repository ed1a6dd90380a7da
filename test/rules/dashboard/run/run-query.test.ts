import { describe, expect, it } from "vitest";
import { addressOf, runQueryOf } from "../../../../src/dashboard/pages/run/run-query.ts";

describe("the address of a run's page", () => {
  it("keeps the tab and what is shown in it", () => {
    for (const given of [{}, { tab: "metrics", metric: "correct" }, { tab: "log", log: "WARNING", q: "two words", at: "12" }, { metric: "correct" }])
      expect(addressOf(runQueryOf(given))).toEqual(given);
  });

  it("means what is usual where it says something else, and never fails", () => {
    expect(runQueryOf({ tab: "nowhere", log: "LOUD", at: "-1", metric: "" })).toEqual({
      tab: "summary",
      metric: "reward",
      level: "DEBUG",
      search: "",
      line: null,
    });
  });

  it("says nothing of the log in another tab", () => {
    expect(addressOf({ ...runQueryOf({ tab: "log", q: "x", at: "3" }), tab: "files" })).toEqual({ tab: "files" });
  });
});
