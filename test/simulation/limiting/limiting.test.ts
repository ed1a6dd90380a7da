import { describe, expect, it } from "vitest";
import { brokenByKills, brokenIn, seedsFrom } from "./hostile-plays.ts";

describe("a limit that runs of one key share, under faults", () => {
  it("is never exceeded, is all used again within a lease, and stops no run, with the Limiter killed at one step in seven of its life", {
    timeout: 120_000,
  }, async () => {
    const { steps, broken } = await brokenByKills(7);
    expect(broken).toEqual([]);
    expect(steps).toBeGreaterThan(300);
  });

  it("keeps every invariant over 30 schedules of kills, outages, and messages that are lost, late and doubled", { timeout: 120_000 }, async () => {
    expect(await brokenIn(seedsFrom(1, 30))).toEqual([]);
  });
});
