import { describe, expect, it } from "vitest";
import { limitIn } from "../../../../src/clients/limits/limit-words.ts";
import type { LimitKind } from "../../../../src/endpoint-limits/limit-kinds.ts";

const error = (message: string, more: object = {}): string => JSON.stringify({ error: { message, ...more } });
const google = (quotas: readonly (readonly [string, string?])[], delay: string): string =>
  JSON.stringify([
    {
      error: {
        code: 429,
        message: "You exceeded your current quota, please check your plan and billing details.",
        status: "RESOURCE_EXHAUSTED",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: quotas.map(([quotaId, quotaValue]) => ({ quotaId, ...(quotaValue === undefined ? {} : { quotaValue }) })),
          },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: delay },
        ],
      },
    },
  ]);

interface Told {
  readonly named?: LimitKind;
  readonly limit?: number;
  readonly requested?: number;
  readonly wait?: number;
}

/** As providers have written them, shortened. */
const WORDS: readonly (readonly [string, string, Told])[] = [
  [
    "OpenAI, of tokens",
    error(
      "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms. Visit https://platform.openai.com",
      { type: "tokens", code: "rate_limit_exceeded" },
    ),
    { named: "tokens", limit: 30_000, requested: 385, wait: 644 },
  ],
  [
    "OpenAI, of requests",
    error("Rate limit reached for gpt-4 in organization org-x on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms."),
    { named: "requests", limit: 500, requested: 1, wait: 120 },
  ],
  [
    "OpenAI, in its older words",
    error("Rate limit reached for 10KTPM-200RPM in organization org-x on tokens per min. Limit: 10000 / min. Please try again in 6ms."),
    { named: "tokens", limit: 10_000, wait: 6 },
  ],
  [
    "OpenAI, of a day",
    error("Rate limit reached for gpt-4o-mini in organization org-x on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s."),
    { wait: 432_000 },
  ],
  [
    "OpenAI, of a request that is too large",
    error(
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 46000. The input or output tokens must be reduced in order to run successfully.",
    ),
    { named: "tokens", limit: 30_000, requested: 46_000 },
  ],
  [
    "Groq",
    error(
      "Rate limit reached for model `llama3-70b-8192` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s.",
    ),
    { named: "tokens", limit: 7_000, requested: 12_903, wait: 50_597.142857 },
  ],
  [
    "Groq, of a day",
    error(
      "Rate limit reached for model `m` in organization `o` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.",
    ),
    { wait: 578_016 },
  ],
  [
    "Anthropic, of input",
    error(
      "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: x, model: claude-opus-4-6). For details, refer to: https://docs.claude.com/en/api/rate-limits.",
      { type: "rate_limit_error" },
    ),
    { named: "input_tokens", limit: 30_000 },
  ],
  [
    "Anthropic, of output",
    error("This request would exceed the rate limit for your organization (x) of 1,000,000 output tokens per minute."),
    { named: "output_tokens", limit: 1_000_000 },
  ],
  ["Anthropic, of requests", error("This request would exceed your organization's rate limit of 50 requests per minute."), { named: "requests", limit: 50 }],
  [
    "Anthropic, of connections",
    error("Number of concurrent connections has exceeded your rate limit. Please try again later or contact sales."),
    { named: "concurrent" },
  ],
  ["Anthropic, without a number", error("Number of request tokens has exceeded your per-minute rate limit."), { named: "tokens" }],
  ["Anthropic, of a day", error("Number of request tokens has exceeded your daily rate limit."), {}],
  [
    "Azure, of tokens",
    error(
      "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 9 seconds.",
    ),
    { named: "tokens", wait: 9_000 },
  ],
  [
    "Azure, in newer words",
    error(
      "Your requests to gpt-5.1 for gpt-5.1 in East US 2 have exceeded the token rate limit for your current AIServices S0 pricing tier. Please retry after 60 seconds.",
    ),
    { named: "tokens", wait: 60_000 },
  ],
  [
    "Azure, of requests",
    error(
      "Requests to the Embeddings_Create Operation under Azure OpenAI API version 2023-07-01-preview have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 1 second.",
    ),
    { named: "requests", wait: 1_000 },
  ],
  ["Google, of requests", google([["GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15"]], "22s"), { named: "requests", limit: 15, wait: 22_000 }],
  [
    "Google, of input",
    google([["GenerateContentInputTokensPerModelPerMinute-FreeTier", "250000"]], "8s"),
    { named: "input_tokens", limit: 250_000, wait: 8_000 },
  ],
  [
    "Google, of a day too",
    google([["GenerateRequestsPerMinutePerProjectPerModel-FreeTier"], ["GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250"]], "10s"),
    { wait: 10_000 },
  ],
  ["Mistral", JSON.stringify({ message: "Requests rate limit exceeded" }), { named: "requests" }],
  ["Mistral, naming nothing", JSON.stringify({ object: "error", message: "Rate limit exceeded", type: "rate_limited", code: "1300" }), {}],
  [
    "Together",
    error("Request was rejected due to request rate limiting. Your rate limits are 600 RPM (10 QPS) and 180000 TPM (3000 TPS)."),
    { named: "requests", limit: 600 },
  ],
  [
    "Together, of tokens",
    error("Request was rejected due to token rate limiting. Your rate limits are 600 RPM (10 QPS) and 180000 TPM (3000 TPS)."),
    { named: "tokens", limit: 180_000 },
  ],
  [
    "Together, of a model",
    error("You have reached the rate limit specific to this model x. The maximum rate limit for this model is 9.0 queries per minute."),
    { named: "requests", limit: 9 },
  ],
  ["Together, by type", error("slow down", { error_type: "dynamic_token_limited" }), { named: "tokens" }],
  [
    "xAI",
    error("Too many tokens for team x and model grok-4-0709. Your team's rate limit is — Tokens per Minute (actual/limit): 65605/16000."),
    { named: "tokens", limit: 16_000 },
  ],
  [
    "xAI, by the second",
    error("Too many requests for team x and model grok-4. Your team's rate limit is — Requests per Second (actual/limit): 3/2."),
    { named: "requests", limit: 120 },
  ],
  [
    "Cerebras",
    JSON.stringify({ message: "Tokens per minute limit exceeded - too many tokens processed.", type: "too_many_tokens_error" }),
    { named: "tokens" },
  ],
  [
    "Moonshot",
    error("Your account org-x<ak-y> request reached organization max RPM: 3, please try again after 1 seconds", { type: "rate_limit_reached_error" }),
    { named: "requests", limit: 3, wait: 1_000 },
  ],
  [
    "Moonshot, in flight",
    error("Your account org-x<ak-y> request reached max organization concurrency: 1, please try again after 1 seconds"),
    { named: "concurrent", limit: 1, wait: 1_000 },
  ],
  [
    "Moonshot, of tokens",
    error("Your account x / proj-y <ak-z> request reached project TPM rate limit, current: 1410, limit: 100, see https://platform.moonshot.cn"),
    { named: "tokens", limit: 100 },
  ],
  ["Moonshot, of a day", error("Your account x request reached organization TPD rate limit, current: 1526210, limit: 1500000"), {}],
  ["Bedrock", JSON.stringify({ message: "Too many tokens, please wait before trying again." }), { named: "tokens" }],
  [
    "Workers AI",
    JSON.stringify({ internalCode: 3021, description: "rate limiting: inference request per min rate reached", name: "AiError" }),
    { named: "requests" },
  ],
  ["LiteLLM", error("Rate limit exceeded", { rate_limit_type: "concurrent_requests" }), { named: "concurrent" }],
  ["a relay", error("Too many concurrent requests. Limit: 2 concurrent requests"), { named: "concurrent", limit: 2 }],
  ["a server that counts both", error("Rate limit reached (HTTP 429): too many requests (TPM/RPM)."), {}],
  ["a server without a word", "Too Many Requests", {}],
];

describe("words of a refusal", () => {
  it.each(WORDS)("of %s", (_who, body, { named = null, limit = null, requested = null, wait = null }) => {
    const said = limitIn(body);
    expect({ ...said, wait_ms: said.wait_ms === null ? null : Number(said.wait_ms.toFixed(6)) }).toEqual({
      named,
      named_limit: limit,
      requested,
      wait_ms: wait,
    });
  });

  it("count where a provider writes them, not at the end of a long text that it quotes", () => {
    const words = "Too many concurrent requests";
    expect(limitIn(words + " ".repeat(400_000)).named).toBe("concurrent");
    expect(limitIn(" ".repeat(400_000) + words).named).toBeNull();
  });
});
