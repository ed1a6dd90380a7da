import { describe, expect, it } from "vitest";
import { STORM_MS } from "../../../src/limits.ts";
import { LimitedWorld } from "../../simulation/limiting/world/limited-world.ts";

const MINUTE = 60_000;
const NEVER = 24 * 60 * MINUTE;

function stormy(from_ms: number, to_ms: number, examples: number): LimitedWorld {
  return new LimitedWorld({
    ...{ seed: 1, executors: 2, traffic: { takes: [1_000, 3_000], output: [50, 400] } },
    provider: { limits: [{ kind: "requests", limit: 600, meter: "sliding_minute" }], storms: [{ from_ms, to_ms }] },
    runs: [{ id: "00000000", examples, concurrency: 32 }],
  });
}

describe("an endpoint that refuses everybody", () => {
  it.each([
    ["the beginning", 0, 200],
    ["some time", 1 * MINUTE, 800],
  ])(
    "for ever, from %s on, holds a run up for as long as refusals cost nothing, and then its requests end: one at a time they would for days",
    async (_, from, examples) => {
      const world = stormy(from, NEVER, examples);
      await world.pass(from + STORM_MS - MINUTE);
      expect(world.runs[0]?.failures).toEqual([]);
      expect(world.provider.tally.refusedShare(5 * MINUTE, STORM_MS)).toBe(1);
      await world.pass(from + STORM_MS + 15 * MINUTE);
      expect(world.runs[0]?.isOver).toBe(true);
    },
  );

  it("from the beginning is used as any other soon after that is over: nothing is taken for its limit that was never used", async () => {
    const world = stormy(0, 10 * MINUTE, 1_000_000);
    await world.pass(13 * MINUTE);
    expect(world.runs[0]?.answeredBetween(11 * MINUTE, 13 * MINUTE)).toBeGreaterThan(0.85 * 1_200);
  });
});
