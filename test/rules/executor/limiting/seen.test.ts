import { describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../../../../src/endpoint-limits/limit-kinds.ts";
import { MAX_REFUSALS, Seen } from "../../../../src/executor/limiting/seen.ts";

const outcome = (kind: AttemptOutcome["kind"], changes: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  kind,
  ms: 10,
  cost: { input_tokens: 3, output_tokens: 4 },
  used: null,
  told: null,
  named: null,
  named_limit: null,
  retry_after_ms: null,
  ...changes,
});

describe("what an executor sees of an endpoint", () => {
  it("is told in sums, with the tokens that the server counted, or else those expected", () => {
    const seen = new Seen(1_000);
    for (let n = 0; n < 6; n++) seen.sent();
    seen.ended(outcome("accepted", { used: { input_tokens: 10, output_tokens: 1 } }), 0, () => 1_100);
    seen.ended(outcome("accepted", { told: { requests: { limit: 60, remaining: 5, reset_ms: null } } }), 0, () => 1_100);
    seen.ended(outcome("missed"), 0, () => 1_100);
    seen.ended(outcome("failed"), 0, () => 1_100);
    seen.ended(outcome("failed", { answered: true }), 0, () => 1_100);
    seen.ended(outcome("unsent"), 0, () => 1_100);
    expect(seen.told(3_000)).toEqual({
      over_ms: 2_000,
      sent: 5,
      accepted: 2,
      used: { input_tokens: 13, output_tokens: 5 },
      rate_limited: 0,
      overloaded: 0,
      missed: 1,
      failed: 2,
      answered: 1,
      refusals: [],
      told: { requests: { limit: 60, remaining: 5, reset_ms: null } },
      latencies: [0, 0, 0, 2],
    });
  });

  it("counts times of answers by powers of two", () => {
    const seen = new Seen(0);
    for (const ms of [0, 1.9, 2, 3.9, 4, 1_024, 1e12]) seen.ended(outcome("accepted", { ms }), 0, () => 0);
    const { latencies } = seen.told(0);
    expect(latencies.map((count, at) => [2 ** at, count]).filter(([, count]) => count !== 0)).toEqual([
      [1, 2],
      [2, 2],
      [4, 1],
      [1_024, 1],
      [4_194_304, 1],
    ]);
  });

  it("names the first refusals, each with what was under way beside it and was not refused itself", () => {
    const seen = new Seen(0);
    // Ten of thirty that were sent together are taken; the others are refused one after another.
    for (let n = 0; n < 20; n++) seen.ended(outcome("rate_limited", { ms: 50 + n, retry_after_ms: n === 0 ? 2_000 : null }), 29 - n, () => 50 + n);
    const told = seen.told(100);
    expect(told.rate_limited).toBe(20);
    expect(told.refusals).toHaveLength(MAX_REFUSALS);
    expect(told.refusals[0]).toEqual({ kind: "rate_limited", ago_ms: 50, named: null, named_limit: null, retry_after_ms: 2_000, told: null, in_flight: 10 });
    expect(new Set(told.refusals.map(({ in_flight }) => in_flight))).toEqual(new Set([10]));
    // One that was sent after that takes nothing from them.
    seen.ended(outcome("overloaded", { ms: 5 }), 10, () => 200);
    expect(seen.told(200).refusals[0]?.in_flight).toBe(10);
  });
});
