import { describe, expect, it } from "vitest";
import { LimitedProvider } from "../../support/model-server/limited/limited-provider.ts";
import { headersOf, replyOf } from "../../support/model-server/limited/limited-replies.ts";
import { type ProviderPlanInput, providerPlan } from "../../support/model-server/limited/provider-plan.ts";

const SMALL = { input_tokens: 20, output_tokens: 100 };
const limited = (plan: ProviderPlanInput): LimitedProvider => new LimitedProvider(providerPlan(plan));

/** Asks `times` at once, and ends what was taken; returns how many were. */
function burst(provider: LimitedProvider, times: number, now: number, asked = SMALL, outputTokens = 10): number {
  let taken = 0;
  for (let i = 0; i < times; i++) if (provider.begin(asked, now).kind === "taken") taken++;
  for (let i = 0; i < taken; i++) provider.end(asked, outputTokens, now);
  return taken;
}

describe("a provider with hidden limits", () => {
  it("takes a minute's worth at once by each way of counting, and more as that way has it", () => {
    const bucket = limited({ limits: [{ kind: "requests", limit: 60, meter: "token_bucket" }] });
    expect([burst(bucket, 100, 0), burst(bucket, 100, 10_000), burst(bucket, 100, 70_000)]).toEqual([60, 10, 60]);

    const sliding = limited({ limits: [{ kind: "requests", limit: 60, meter: "sliding_minute" }] });
    expect([burst(sliding, 40, 0), burst(sliding, 100, 10_000), burst(sliding, 100, 59_999), burst(sliding, 100, 60_000)]).toEqual([40, 20, 0, 40]);

    const fixed = limited({ limits: [{ kind: "requests", limit: 60, meter: "fixed_minute" }] });
    expect([burst(fixed, 100, 50_000), burst(fixed, 100, 59_999), burst(fixed, 100, 60_000)]).toEqual([60, 0, 60]);
  });

  it("holds a bucket of one second to what comes in one second", () => {
    const provider = limited({ limits: [{ kind: "requests", limit: 600, meter: "token_bucket", burst_s: 1 }] });
    expect([burst(provider, 100, 0), burst(provider, 100, 500), burst(provider, 100, 60_000)]).toEqual([10, 5, 10]);
  });

  it("refuses what is above its requests in flight until one has ended", () => {
    const provider = limited({ limits: [{ kind: "concurrent", limit: 2 }] });
    const kinds = [0, 1, 2].map((at) => provider.begin(SMALL, at).kind);
    expect(kinds).toEqual(["taken", "taken", "refused"]);
    provider.end(SMALL, 10, 1_000);
    expect(provider.begin(SMALL, 1_000)).toMatchObject({ kind: "taken" });
    expect(provider.tally).toMatchObject({ most: 2, because: { concurrent: 1 } });
  });

  it("counts tokens as they are used, or as they are asked for", () => {
    const limits = [{ kind: "tokens", limit: 600, meter: "sliding_minute" }] as const;
    const used = limited({ limits });
    expect([burst(used, 4, 0), used.told(0)]).toEqual([4, null]);
    expect(burst(used, 100, 1)).toBe(24);
    expect(burst(limited({ limits, tokens_count: "reserved" }), 100, 0)).toBe(5);
  });

  it("tells what is left, and by how much it lies", () => {
    const limits = [{ kind: "requests", limit: 60, meter: "token_bucket" }] as const;
    const honest = limited({ limits, headers: "openai", retry_after: "exact", names_limit: true });
    burst(honest, 59, 0);
    expect(honest.begin(SMALL, 0)).toEqual({ kind: "taken", told: { requests: { limit: 60, remaining: 0, reset_ms: 60_000 } } });
    const refused = honest.begin(SMALL, 0);
    expect(refused).toMatchObject({ status: 429, because: "requests", named: "requests", named_limit: 60, retry_after_ms: 1_000 });

    const boaster = limited({ limits, headers: "openai", says: 2 });
    burst(boaster, 60, 0);
    expect(boaster.begin(SMALL, 0)).toMatchObject({ kind: "refused", named: null, retry_after_ms: null, told: { requests: { limit: 120, remaining: 60 } } });
    const modest = limited({ limits, headers: "openai", says: 0.5 });
    expect([burst(modest, 40, 0), modest.told(0)?.requests]).toEqual([40, { limit: 30, remaining: 0, reset_ms: 40_000 }]);
  });

  it("has another limit from the moment on that its plan says", () => {
    const provider = limited({
      limits: [{ kind: "requests", limit: 60, meter: "fixed_minute" }],
      changes: [
        { at_ms: 60_000, kind: "requests", limit: 20 },
        { at_ms: 120_000, kind: "requests", limit: 200 },
      ],
    });
    expect([burst(provider, 300, 0), burst(provider, 300, 60_000), burst(provider, 300, 120_000)]).toEqual([60, 20, 200]);
    expect(provider.tally.use("requests", 0, 180_000)).toBe(1);
  });

  it("refuses everybody in a storm, and measures what was used without that time", () => {
    const provider = limited({
      limits: [{ kind: "requests", limit: 60, meter: "fixed_minute" }],
      storms: [{ from_ms: 60_000, to_ms: 120_000, status: 529 }],
      retry_after: 5,
    });
    burst(provider, 60, 0);
    expect(provider.begin(SMALL, 60_000)).toMatchObject({ kind: "refused", status: 529, because: null, retry_after_ms: 5_000 });
    burst(provider, 60, 120_000);
    expect(provider.tally.use("requests", 0, 180_000)).toBe(1);
    expect(provider.tally.refusedShare(60_000, 120_000)).toBe(1);
    expect(provider.tally.requests(0, 180_000)).toEqual({ taken: 120, refused: 1 });
  });

  it("measures requests in flight by the time that they were", () => {
    const provider = limited({ limits: [{ kind: "concurrent", limit: 4 }] });
    provider.begin(SMALL, 500);
    provider.begin(SMALL, 500);
    provider.end(SMALL, 10, 1_500);
    provider.end(SMALL, 10, 2_500);
    expect(provider.tally.use("concurrent", 0, 3_000)).toBeCloseTo(3_000 / 12_000);
  });

  it("says it in the headers of OpenAI and of Anthropic", () => {
    const told = { requests: { limit: 500, remaining: 12, reset_ms: 120 }, output_tokens: { limit: 8_000, remaining: 2_600, reset_ms: 61_500 } };
    const wall = Date.UTC(2025, 0, 1);
    expect(headersOf(told, "openai", wall)).toEqual({
      "x-ratelimit-limit-requests": "500",
      "x-ratelimit-remaining-requests": "12",
      "x-ratelimit-reset-requests": "120ms",
    });
    expect(headersOf(told, "anthropic", wall)).toMatchObject({
      "anthropic-ratelimit-requests-reset": "2025-01-01T00:00:01Z",
      "anthropic-ratelimit-output-tokens-remaining": "3000",
      "anthropic-ratelimit-output-tokens-reset": "2025-01-01T00:01:02Z",
    });
    const provider = limited({ limits: [{ kind: "tokens", limit: 100, meter: "sliding_minute" }], retry_after: "exact", names_limit: true });
    burst(provider, 1, 0, { input_tokens: 100, output_tokens: 0 }, 0);
    const refused = provider.begin(SMALL, 0);
    if (refused.kind !== "refused") throw new Error("it was taken");
    const reply = replyOf(refused, "m", "none", wall);
    expect(reply).toMatchObject({ status: 429, headers: { "retry-after": "60" } });
    expect(reply.body).toContain("on tokens per min (TPM): Limit 100,");
  });
});
