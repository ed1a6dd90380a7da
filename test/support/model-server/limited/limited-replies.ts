import type { LimitKind, RateKind, ToldLimit, ToldLimits } from "../../../../src/endpoint-limits/limit-kinds.ts";
import { type Refusal, refusal } from "../model-answers.ts";
import type { RefusedRequest } from "./limited-provider.ts";
import type { ProviderPlan } from "./provider-plan.ts";

type Headers = Readonly<Record<string, string>>;

/** What is told, as headers of the form that the plan has. `wallNow`: Unix milliseconds, since Anthropic says when and not how long. */
export function headersOf(told: ToldLimits | null, form: ProviderPlan["headers"], wallNow: number): Headers {
  if (told === null || form === "none") return {};
  const kinds = Object.entries(told) as [RateKind, ToldLimit][];
  return Object.fromEntries(kinds.flatMap(([kind, limit]) => Object.entries(form === "openai" ? openai(kind, limit) : anthropic(kind, limit, wallNow))));
}

/** OpenAI knows requests and tokens; tokens in and out apart have no header there. */
function openai(kind: RateKind, { limit, remaining, reset_ms }: ToldLimit): Headers {
  if (kind !== "requests" && kind !== "tokens") return {};
  return {
    [`x-ratelimit-limit-${kind}`]: String(limit),
    [`x-ratelimit-remaining-${kind}`]: String(remaining),
    [`x-ratelimit-reset-${kind}`]: goDuration(reset_ms ?? 0),
  };
}

function anthropic(kind: RateKind, { limit, remaining, reset_ms }: ToldLimit, wallNow: number): Headers {
  const name = `anthropic-ratelimit-${kind.replace("_", "-")}`;
  // Tokens are said to the nearest thousand.
  const rounded = kind === "requests" ? (remaining ?? 0) : Math.round((remaining ?? 0) / 1_000) * 1_000;
  return {
    [`${name}-limit`]: String(limit),
    [`${name}-remaining`]: String(rounded),
    [`${name}-reset`]: new Date(Math.ceil((wallNow + (reset_ms ?? 0)) / 1_000) * 1_000).toISOString().replace(".000Z", "Z"),
  };
}

/** `120ms`, `8.64s`, `6m0s`: as programs in Go print a duration. */
function goDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes > 0 ? `${minutes}m` : ""}${Number(((ms - minutes * 60_000) / 1_000).toFixed(3))}s`;
}

const IN_WORDS: Record<LimitKind, readonly [words: string, short: string]> = {
  concurrent: ["concurrent requests", "concurrency"],
  requests: ["requests per min", "RPM"],
  tokens: ["tokens per min", "TPM"],
  input_tokens: ["input tokens per min", "ITPM"],
  output_tokens: ["output tokens per min", "OTPM"],
};

/** The answer of a server to a request that is refused. */
export function replyOf(refused: RefusedRequest, model: string, form: ProviderPlan["headers"], wallNow: number): Refusal {
  const { named, named_limit, retry_after_ms, status, told } = refused;
  const headers = { ...headersOf(told, form, wallNow), ...(retry_after_ms === null ? {} : { "retry-after": String(Math.round(retry_after_ms / 1_000)) }) };
  if (status === 529) return refusal(529, "Overloaded", "overloaded_error", null, headers);
  if (named === null) return refusal(429, "Too many requests.", "rate_limit_error", "rate_limit_exceeded", headers);
  const [words, short] = IN_WORDS[named];
  const text = `Rate limit reached for ${model} in organization org-tests on ${words} (${short}): Limit ${named_limit}, Used ${named_limit}, Requested 1.`;
  return refusal(429, text, named === "requests" ? "requests" : "tokens", "rate_limit_exceeded", headers);
}
