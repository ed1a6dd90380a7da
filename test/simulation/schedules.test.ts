import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";

describe("a run under a hostile schedule", () => {
  it("keeps every invariant and ends, over 400 schedules", { timeout: 180_000 }, () => {
    const failures = [];
    for (let seed = 1_000_000; seed < 1_000_400; seed++) {
      const failure = simulate(seed);
      if (failure !== null) failures.push(failure);
    }
    expect(failures).toEqual([]);
  });
});
