import { describe, expect, it } from "vitest";
import { Minute } from "../../../durable-objects/limiter/minute.ts";
import { sightings } from "../../support/limiting/sightings.ts";

describe("what happened in the last minute", () => {
  it("is the sum of what executors saw, and forgotten after it", () => {
    const minute = new Minute();
    const used = { input_tokens: 30, output_tokens: 7 };
    for (let second = 0; second < 90; second++) minute.heard(sightings({ sent: 3, accepted: 2, rate_limited: 1, used }), [["run", 2]], second * 1_000);
    expect(minute.minute(89_999)).toEqual({ sent: 180, accepted: 120, refused: 60, used: { input_tokens: 1_800, output_tokens: 420 } });
    expect([minute.accepted("run", 89_999), minute.accepted("other", 89_999)]).toEqual([120, 0]);
    expect(minute.minute(200_000)).toEqual({ sent: 0, accepted: 0, refused: 0, used: { input_tokens: 0, output_tokens: 0 } });
  });

  it("has the times of ten minutes, to the precision of their buckets", () => {
    const minute = new Minute();
    expect(minute.latency(0)).toBeNull();
    // 90 of [512, 1024) ms, 10 of [8192, 16384).
    const latencies = Array.from({ length: 14 }, (_, at) => (at === 9 ? 90 : at === 13 ? 10 : 0));
    minute.heard(sightings({ accepted: 100, latencies }), [], 0);
    const { p50 = 0, p95 = 0, p99 = 0 } = minute.latency(599_999) ?? {};
    expect(p50).toBeGreaterThan(512);
    expect(p50).toBeLessThan(1_024);
    expect(p95).toBeGreaterThan(8_192);
    expect(p99).toBeGreaterThan(p95);
    expect(p99).toBeLessThanOrEqual(16_384);
    expect(minute.latency(605_000)).toBeNull();
  });
});
