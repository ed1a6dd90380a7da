import { describe, expect, it } from "vitest";
import { cell, type EventName, measure, type PlanName } from "../../../support/limiting/found-cells.ts";
import { METERS } from "../../../support/model-server/limited/provider-plan.ts";

const PLANS: readonly PlanName[] = ["plain", "retry-after", "in words", "headers", "counts refused"];
const SEEDS = [1, 2];

/** Worst of some seeds. */
function worst(...of: Parameters<typeof cell>): { readonly use: number; readonly refused: number; readonly back_s: number } {
  const all = SEEDS.map((seed) => measure(cell(...of), seed));
  return {
    use: Math.min(...all.map(({ use }) => use)),
    refused: Math.max(...all.map(({ refused }) => refused)),
    back_s: Math.max(...all.map(({ back_s }) => back_s ?? 0)),
  };
}

describe("a limit that is hidden", () => {
  it.each(PLANS.flatMap((plan) => METERS.map((meter) => ({ plan, meter }))))("is found and used, of requests by $meter, with $plan", ({ plan, meter }) => {
    const { use, refused } = worst("requests", meter, plan, "", false);
    expect(use).toBeGreaterThan(0.92);
    expect(refused).toBeLessThan(0.01);
  });

  it.each(["headers 2x", "headers 0.5x"] as const)("is used though the endpoint says something else of it: %s", (plan) => {
    const { use, refused } = worst("requests", "fixed_minute", plan, "", false);
    expect(use).toBeGreaterThan(0.92);
    expect(refused).toBeLessThan(0.01);
  });

  it.each(METERS)("is found where it counts tokens, by %s", (meter) => {
    const { use, refused } = worst("tokens", meter, "plain", "", false);
    expect(use).toBeGreaterThan(0.92);
    expect(refused).toBeLessThan(0.01);
  });

  it.each(["plain", "retry-after", "in words"] as const)("is found where it counts requests in flight, with %s", (plan) => {
    const { use, refused } = worst("concurrent", "sliding_minute", plan, "", false);
    expect(use).toBeGreaterThan(0.95);
    expect(refused).toBeLessThan(0.007);
  });

  it("is found from what fifty executors see and say every three seconds", () => {
    const { use, refused } = worst("requests", "sliding_minute", "plain", "", true);
    expect(use).toBeGreaterThan(0.9);
    expect(refused).toBeLessThan(0.007);
  });
});

describe("a limit that is another one in the middle", () => {
  it.each([
    ["requests", "sliding_minute", "plain", "doubled", 120],
    ["requests", "sliding_minute", "plain", "halved", 60],
    ["requests", "fixed_minute", "plain", "doubled", 150],
    ["requests", "fixed_minute", "plain", "halved", 60],
    ["requests", "token_bucket", "plain", "halved", 60],
    ["requests", "sliding_minute", "headers", "doubled", 20],
    ["concurrent", "sliding_minute", "in words", "doubled", 120],
    ["concurrent", "sliding_minute", "plain", "halved", 90],
  ] as const)("is found again: %s by %s, with %s, %s", (kind, meter, plan, event, within) => {
    const { use, back_s } = worst(kind, meter, plan, event, false);
    expect(back_s).toBeLessThan(within);
    expect(use).toBeGreaterThan(0.92);
  });
});

describe("a storm of ten minutes", () => {
  it.each([
    ["requests", "sliding_minute"],
    ["requests", "fixed_minute"],
    ["tokens", "sliding_minute"],
    ["concurrent", "sliding_minute"],
  ] as const)("is over for everybody within seconds, and teaches nothing of a limit: %s by %s", (kind, meter) => {
    const event: EventName = "storm";
    const { use, back_s } = worst(kind, meter, "plain", event, false);
    expect(back_s).toBeLessThan(30);
    expect(use).toBeGreaterThan(0.92);
  });
});
