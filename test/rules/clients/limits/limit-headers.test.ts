import { describe, expect, it } from "vitest";
import { LimitHeaders, toldBy } from "../../../../src/clients/limits/limit-headers.ts";

const NOW = Date.parse("2026-11-23T08:00:00Z");
const told = (headers: Record<string, string>) => toldBy(new Headers(headers), NOW);

describe("limits in the headers of an answer", () => {
  it("of OpenAI are of a minute", () => {
    const headers = {
      "x-ratelimit-limit-requests": "5000",
      "x-ratelimit-remaining-requests": "4999",
      "x-ratelimit-reset-requests": "12ms",
      "x-ratelimit-limit-tokens": "160000",
      "x-ratelimit-remaining-tokens": "79976",
      "x-ratelimit-reset-tokens": "30.009s",
    };
    expect(told(headers)).toEqual({
      requests: { limit: 5_000, remaining: 4_999, reset_ms: 12 },
      tokens: { limit: 160_000, remaining: 79_976, reset_ms: 30_009 },
    });
  });

  it("of Groq: its requests are of a day, which is no pace", () => {
    const headers = {
      "x-ratelimit-limit-requests": "14400",
      "x-ratelimit-remaining-requests": "14370",
      "x-ratelimit-reset-requests": "2m59.56s",
      "x-ratelimit-limit-tokens": "18000",
      "x-ratelimit-remaining-tokens": "17997",
      "x-ratelimit-reset-tokens": "7.66s",
    };
    expect(told(headers)).toEqual({ tokens: { limit: 18_000, remaining: 17_997, reset_ms: 7_660 } });
    // One request of a day comes back within a minute too.
    expect(told({ "x-ratelimit-limit-requests": "14400", "x-ratelimit-remaining-requests": "14399", "x-ratelimit-reset-requests": "6s" })).toBeNull();
    expect(told({ "x-ratelimit-limit-requests": "200", "x-ratelimit-remaining-requests": "199", "x-ratelimit-reset-requests": "7m12s" })).toBeNull();
  });

  it("of Anthropic, with tokens in and out apart, or together where only that is said", () => {
    const reset = "2026-11-23T08:00:30Z";
    const requests = {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "48",
      "anthropic-ratelimit-requests-reset": reset,
    };
    const tokens = { "anthropic-ratelimit-tokens-limit": "38000", "anthropic-ratelimit-tokens-remaining": "38000", "anthropic-ratelimit-tokens-reset": reset };
    const apart = {
      "anthropic-ratelimit-input-tokens-limit": "30000",
      "anthropic-ratelimit-input-tokens-remaining": "27000",
      "anthropic-ratelimit-input-tokens-reset": reset,
      "anthropic-ratelimit-output-tokens-limit": "8000",
      "anthropic-ratelimit-output-tokens-remaining": "0",
      "anthropic-ratelimit-output-tokens-reset": "2026-11-23T07:59:59Z",
    };
    expect(told({ ...requests, ...tokens, ...apart })).toEqual({
      requests: { limit: 50, remaining: 48, reset_ms: 30_000 },
      input_tokens: { limit: 30_000, remaining: 27_000, reset_ms: 30_000 },
      output_tokens: { limit: 8_000, remaining: 0, reset_ms: 0 },
    });
    expect(told(tokens)).toEqual({ tokens: { limit: 38_000, remaining: 38_000, reset_ms: 30_000 } });
  });

  it.each([
    [
      "Mistral",
      {
        "x-ratelimit-limit-tokens-minute": "5000000",
        "x-ratelimit-remaining-tokens-minute": "4999911",
        "x-ratelimit-tokens-query-cost": "52",
        "x-ratelimit-limit-req-minute": "720",
        "x-ratelimit-remaining-req-minute": "717",
      },
      { requests: { limit: 720, remaining: 717, reset_ms: null }, tokens: { limit: 5_000_000, remaining: 4_999_911, reset_ms: null } },
    ],
    [
      "Cerebras",
      {
        "x-ratelimit-limit-requests-day": "14400",
        "x-ratelimit-remaining-requests-day": "14000",
        "x-ratelimit-reset-requests-day": "33011.382867097855",
        "x-ratelimit-limit-tokens-minute": "60000",
        "x-ratelimit-remaining-tokens-minute": "30000",
        "x-ratelimit-reset-tokens-minute": "11.5",
      },
      { tokens: { limit: 60_000, remaining: 30_000, reset_ms: 11_500 } },
    ],
    [
      "Together, which counts by the second",
      { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "1", "x-tokenlimit-limit": "3000", "x-tokenlimit-remaining": "1500" },
      { requests: { limit: 600, remaining: 540, reset_ms: 1_000 }, tokens: { limit: 180_000, remaining: 90_000, reset_ms: null } },
    ],
    [
      "Fireworks, which counts by the second",
      { "x-ratelimit-limit-tokens-prompt": "60000", "x-ratelimit-remaining-tokens-prompt": "30000", "x-ratelimit-limit-tokens-generated": "600" },
      { input_tokens: { limit: 3_600_000, remaining: 1_800_000, reset_ms: null }, output_tokens: { limit: 36_000, remaining: null, reset_ms: null } },
    ],
    [
      "the standard, whose policy says its window",
      { "ratelimit-policy": '"default";q=100;w=30', ratelimit: '"default";r=50;t=10' },
      { requests: { limit: 200, remaining: 100, reset_ms: 10_000 } },
    ],
    [
      "the standard's earlier versions",
      { "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "40", "ratelimit-reset": "20" },
      { requests: { limit: 100, remaining: 40, reset_ms: 20_000 } },
    ],
    [
      "no standard at all, where the reset can only be that of a minute (OpenRouter: in milliseconds since 1970)",
      { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW + 40_000) },
      { requests: { limit: 20, remaining: 0, reset_ms: 40_000 } },
    ],
  ])("of %s", (_who, headers, expected) => {
    expect(told(headers)).toEqual(expected);
  });

  it.each([
    ["Azure where it does not know", { "x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0" }],
    ["Azure without limits", { "x-ratelimit-remaining-requests": "79", "x-ratelimit-remaining-tokens": "61353" }],
    ["a window that is not said", { "x-ratelimit-limit": "1000", "x-ratelimit-remaining": "999", "x-ratelimit-reset": "7" }],
    ["a window of an hour", { "ratelimit-limit": "1000;w=3600", "ratelimit-remaining": "999", "ratelimit-reset": "7" }],
    ["nonsense", { "x-ratelimit-limit-requests": "many", "x-ratelimit-limit-tokens": "1e999", "anthropic-ratelimit-requests-limit": "" }],
    ["nothing", { "content-type": "application/json" }],
  ])("are none where they are of %s", (_what, headers) => {
    expect(told(headers)).toBeNull();
  });

  it("are taken with a reset that is none", () => {
    expect(told({ "x-ratelimit-limit-requests": "60", "x-ratelimit-reset-requests": "soon" })).toEqual({
      requests: { limit: 60, remaining: null, reset_ms: null },
    });
  });
});

describe("looks at headers", () => {
  const OPENAI = new Headers({ "x-ratelimit-limit-requests": "60" });
  const SILENT = new Headers();

  it("come some times a second where an endpoint says its limits, and with every refusal", () => {
    const looks = new LimitHeaders();
    expect(looks.look({ headers: OPENAI }, NOW, false)).not.toBeNull();
    expect(looks.look({ headers: OPENAI }, NOW + 50, false)).toBeNull();
    expect(looks.look({ headers: OPENAI }, NOW + 50, true)).not.toBeNull();
    expect(looks.look({ headers: OPENAI }, NOW + 150, false)).not.toBeNull();
  });

  it("are seldom where it says none, and find it when it begins to", () => {
    const looks = new LimitHeaders();
    for (let at = 0; at < 3; at++) expect(looks.look({ headers: SILENT }, NOW, false)).toBeNull();
    expect(looks.look({ headers: OPENAI }, NOW + 1_000, false)).toBeNull();
    expect(looks.look({ headers: OPENAI }, NOW + 10_000, false)).not.toBeNull();
  });
});
