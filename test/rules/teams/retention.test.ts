import { describe, expect, it } from "vitest";
import { DAY_MS, noticeDays, noticeDue, removalOf } from "../../../src/teams/retention.ts";

const NOW = 1_800_000_000_000;

describe("the notice of a run", () => {
  it("is a week long, and half of a time that is shorter than two", () => {
    expect([1, 2, 3, 7, 13, 14, 30, 3_650].map(noticeDays)).toEqual([1, 1, 2, 4, 7, 7, 7, 7]);
  });

  it("comes so long before the end of its time, and nobody's is shorter, however old the run is", () => {
    for (const days of [1, 2, 5, 30, 3_650]) {
      const settled = noticeDue(days, NOW);
      expect(removalOf(settled, days, NOW)).toBe(settled + days * DAY_MS);
      for (const older of [DAY_MS, 1_000 * DAY_MS]) expect(removalOf(settled - older, days, NOW)).toBe(NOW + noticeDays(days) * DAY_MS);
    }
  });
});
