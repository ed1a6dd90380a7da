import { describe, expect, it } from "vitest";
import { type PacedWorld, play } from "../../../support/limiter/paced-world.ts";
import { METERS } from "../../../support/model-server/limited/provider-plan.ts";

const MINUTE_MS = 60_000;
const WORLD: Omit<PacedWorld, "plan" | "seed"> = {
  executors: 1,
  each: 200,
  exchange_ms: 200,
  latency_ms: 2_000,
  start: 64,
  for_ms: 12 * MINUTE_MS,
};

describe("a limit of which nothing but refusals is known", () => {
  it.each(METERS.flatMap((meter) => [1, 2, 3].map((seed) => ({ meter, seed }))))(
    "is found, however minutes are counted: $meter, seed $seed",
    ({ meter, seed }) => {
      const { provider, began } = play({ ...WORLD, seed, plan: { limits: [{ kind: "requests", limit: 600, meter }] } });
      const [from, to] = [began + 3 * MINUTE_MS, began + WORLD.for_ms];
      expect(provider.tally.bestUse(from, to)).toBeGreaterThan(0.92);
      expect(provider.tally.refusedShare(from, to)).toBeLessThan(0.007);
    },
  );
});
