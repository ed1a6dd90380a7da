import { describe, expect, it } from "vitest";
import { FLEETS, playFleet } from "./full-fleet.ts";

describe("a full fleet", () => {
  it("uses at least 95 % of its requests with 20 runs that want everything", { timeout: 120_000 }, () => {
    for (const seed of [1, 2]) expect(playFleet(seed, FLEETS.saturated)).toMatchObject({ used: expect.any(Number) as number });
  });

  it("looks for runs at once when lanes become free, however short runs are", { timeout: 120_000 }, () => {
    expect(playFleet(1, FLEETS.short)).toMatchObject({ used: expect.any(Number) as number });
  });

  it("has room within five minutes for runs that come to one of a slow model that has everything", { timeout: 120_000 }, () => {
    expect(playFleet(1, FLEETS.slow)).toMatchObject({ waited: expect.any(Number) as number });
  });
});
