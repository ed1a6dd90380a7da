import { describe, expect, it } from "vitest";
import { Stretch } from "../../../src/dashboard/design/transcript/stretch.ts";

describe("the measured stretch of a long list", () => {
  it("is all of a list that is not long", () => {
    const stretch = new Stretch(2_000, () => 10);
    expect([stretch.first, stretch.end, stretch.above, stretch.below]).toEqual([0, 2_000, 0, 0]);
    expect([0, 1_999].every((index) => stretch.holds(index))).toBe(true);
  });

  it("goes to what is seen, and leaves every row where it was", () => {
    const stretch = new Stretch(100_000, (index) => (index % 2 === 0 ? 10 : 30));
    expect([stretch.holds(0), stretch.holds(1_699), stretch.holds(1_700), stretch.holds(50_000)]).toEqual([true, true, false, false]);
    stretch.measured(1_000, 110);
    const tops = [0, 1_000, 1_001, 50_000, 99_999].map((index) => stretch.top(index));
    expect(tops).toEqual([0, 20_000, 20_110, 1_000_100, 2_000_070]);
    stretch.moveTo(stretch.at(1_000_100));
    expect([stretch.first, stretch.end, stretch.above]).toEqual([49_000, 51_000, 980_100]);
    expect([stretch.indexOf(0), stretch.holds(50_000)]).toEqual([49_000, true]);
    expect([0, 1_000, 1_001, 50_000, 99_999].map((index) => stretch.top(index))).toEqual(tops);
    expect(stretch.above + stretch.below + 2_000 * 20).toBe(stretch.top(100_000));
  });

  it("ends where the list ends", () => {
    const stretch = new Stretch(2_500, () => 10);
    stretch.moveTo(stretch.at(Number.MAX_SAFE_INTEGER));
    expect([stretch.first, stretch.end, stretch.below, stretch.holds(2_499)]).toEqual([500, 2_500, 0, true]);
    expect(new Stretch(0, () => 10).at(5)).toBe(0);
  });
});
