import type { LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import { durationOf } from "./limit-headers.ts";

/** What the words of a refusal say of the limit that was met. */
export interface SaidLimit {
  readonly named: LimitKind | null;
  /** Per minute, or in flight. */
  readonly named_limit: number | null;
  /** What the refused request counts for, in the unit of the limit. */
  readonly requested: number | null;
  /** Milliseconds until it may be sent again. */
  readonly wait_ms: number | null;
}

/** A provider says it at once; a page of text has no more to say. */
const READ_CHARACTERS = 4_000;

/** Times to which a minute's worth is the answer; null: no pace, or none that a minute can be asked about. */
const PER_MINUTE: Readonly<Record<string, number>> = { second: 60, sec: 60, minute: 1, min: 1 };
const isLonger = (unit: string): boolean => PER_MINUTE[unit] === undefined;

const KINDS: Readonly<Record<string, LimitKind>> = {
  requests: "requests",
  queries: "requests",
  tokens: "tokens",
  "input tokens": "input_tokens",
  "prompt tokens": "input_tokens",
  "output tokens": "output_tokens",
};
const KIND = "((?:input |prompt |output )?tokens|requests|queries)";
const UNIT = "(second|sec|minute|min|hour|day)";
const NUMBER = "~?(\\d+(?:\\.\\d+)?)";

/** "on tokens per min (TPM): Limit 30000, Used 29937, Requested 385." OpenAI; Groq with "Requested ~12903". */
const OPENAI = new RegExp(`\\bon ${KIND} per ${UNIT}[^:]{0,20}[.:] limit:? ${NUMBER}(?:[^.]{0,8}, used ${NUMBER})?(?:, requested ${NUMBER})?`);
/** "Tokens per Minute (actual/limit): 65605/16000" xAI. */
const XAI = new RegExp(`\\b${KIND} per ${UNIT} \\(actual/limit\\): ${NUMBER}/${NUMBER}`);
/** "rate limit of 30,000 input tokens per minute" Anthropic; "your rate limit is 60 queries per minute" Together. */
const COUNTED = new RegExp(`\\b${NUMBER} ${KIND} per ${UNIT}`);
/** "rejected due to request rate limiting. Your rate limits are 600 RPM (10 QPS) and 180000 TPM" Together. */
const TOGETHER = /\bdue to (request|token) rate limiting/;
/** "request reached organization max RPM: 3", "reached max organization concurrency: 1", "TPM rate limit, current: 1410, limit: 100" Moonshot. */
const MOONSHOT = new RegExp(`\\b(?:max )?(?:organization )?(concurrency|rpm|tpm|rpd|tpd)(?:: ?| rate limit, current: ?${NUMBER}, limit: ?)${NUMBER}`);
/** "Limit: 1 concurrent requests"; "on concurrent requests: Limit 8". */
const CONCURRENT = new RegExp(`\\b${NUMBER} concurrent (?:requests|connections)|\\bconcurrent requests[^:]{0,20}: limit:? ${NUMBER}`);
/** Google's details, `quotaId` with the amount where it says it: GenerateRequestsPerMinutePerProjectPerModel-FreeTier. */
const GOOGLE = /"(?:quotaid|quota_limit)":\s*"([a-z0-9-]{1,120})"/g;
const GOOGLE_VALUE = /"(?:quotavalue|quota_limit_value)":\s*"(\d{1,15})"/;

const SHORT: Readonly<Record<string, LimitKind>> = { rpm: "requests", tpm: "tokens", concurrency: "concurrent" };

/**
 * Words that name a kind and no amount, the particular before the general. That requests are too many says every 429. Azure: "exceeded token rate limit",
 * "exceeded call rate limit"; Mistral: "Requests rate limit exceeded"; Cerebras: "Tokens per minute limit exceeded"; Anthropic: "Number of concurrent
 * connections has exceeded your rate limit", "Number of request tokens has exceeded your per-minute rate limit"; Together: `dynamic_token_limited`; Bedrock:
 * "Too many tokens, please wait before trying again"; Workers AI: "inference request per min rate reached"; LiteLLM: `rate_limit_type`; OpenAI: the
 * error's type.
 */
const WORDS: readonly (readonly [RegExp, LimitKind])[] = [
  [/\bconcurren(?:t|cy)(?:\b|_)|\bparallel requests\b/, "concurrent"],
  [/\binput[ _-]tokens?\b|\bprompt tokens\b/, "input_tokens"],
  [/\boutput[ _-]tokens?\b|\bgenerated tokens\b/, "output_tokens"],
  [
    /\btokens? rate limit|\btokens? per (?:second|min)|\btpm\b|\btoo many tokens\b|\btoken_limited\b|_token_limited\b|\brequest tokens\b|type": ?"tokens"/,
    "tokens",
  ],
  [/\b(?:calls?|requests?) rate limit|\brequests? per (?:second|min)|\brpm\b|_request_limited\b|\bnumber of requests\b|type": ?"requests"/, "requests"],
];
/** Limits of an hour or a day are no pace: nothing that is done within a minute meets or avoids them. */
const LONG = /\bper (?:hour|day|week|month)\b|\b[rt]pd\b|\b(?:hourly|daily|weekly|monthly)\b/;

/** "Please try again in 7m12s", "Please retry in 8.94s", "Please retry after 9 seconds", "try again after 1 seconds"; Google's `"retryDelay": "22s"`. */
const WAIT = /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(milliseconds?|seconds?|minutes?|hours?)\b/;
const WAIT_SHORT = /(?:\b(?:try again|retry) (?:in|after) |"retrydelay":\s*")((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)\b/;
const WAIT_UNITS: Readonly<Record<string, number>> = { millisecond: 1, second: 1_000, minute: 60_000, hour: 3_600_000 };

/** Reads a refusal's body, in whatever form. What it does not say is null. */
export function limitIn(body: string): SaidLimit {
  // Thousands are written with commas.
  const text = body
    .slice(0, READ_CHARACTERS)
    .toLowerCase()
    .replace(/(\d),(?=\d{3})/g, "$1");
  return { ...limitOf(text), wait_ms: waitOf(text) };
}

type Limit = Omit<SaidLimit, "wait_ms">;

const nothing: Limit = { named: null, named_limit: null, requested: null };

const said = (kind: string, unit: string, limit: string | undefined, requested?: string): Limit =>
  isLonger(unit)
    ? nothing
    : {
        named: KINDS[kind] ?? null,
        named_limit: limit === undefined ? null : positive(Number(limit) * (PER_MINUTE[unit] ?? 1)),
        requested: requested === undefined ? null : Number(requested),
      };

const positive = (value: number): number | null => (Number.isFinite(value) && value > 0 ? value : null);

function limitOf(text: string): Limit {
  const openAi = OPENAI.exec(text);
  if (openAi !== null) return said(openAi[1] ?? "", openAi[2] ?? "", openAi[3], openAi[5]);
  const xai = XAI.exec(text);
  if (xai !== null) return said(xai[1] ?? "", xai[2] ?? "", xai[4]);
  const google = googleLimit(text);
  if (google !== null) return google;
  const moonshot = MOONSHOT.exec(text);
  if (moonshot !== null) {
    const named = SHORT[moonshot[1] ?? ""] ?? null;
    return named === null ? nothing : { named, named_limit: positive(Number(moonshot[3])), requested: null };
  }
  const together = TOGETHER.exec(text);
  if (together !== null) {
    const [named, short] = together[1] === "token" ? (["tokens", "tpm"] as const) : (["requests", "rpm"] as const);
    const limit = new RegExp(`${NUMBER} ${short}\\b`).exec(text)?.[1];
    return { named, named_limit: limit === undefined ? null : positive(Number(limit)), requested: null };
  }
  const counted = COUNTED.exec(text);
  if (counted !== null) return said(counted[2] ?? "", counted[3] ?? "", counted[1]);
  const concurrent = CONCURRENT.exec(text);
  if (concurrent !== null) return { named: "concurrent", named_limit: positive(Number(concurrent[1] ?? concurrent[2])), requested: null };
  if (LONG.test(text)) return nothing;
  const named = WORDS.filter(([pattern]) => pattern.test(text)).map(([, kind]) => kind);
  // "Too many requests (TPM/RPM)".
  return named.includes("tokens") && named.includes("requests") ? nothing : { ...nothing, named: named[0] ?? null };
}

/** Of several quotas that are used up, the first of a minute; none is named where one of a day is among them, which lasts longer. */
function googleLimit(text: string): Limit | null {
  const quotas = [...text.matchAll(GOOGLE)];
  if (quotas.length === 0) return null;
  if (quotas.some(([, id = ""]) => !id.includes("perminute"))) return nothing;
  const [first] = quotas;
  const id = first?.[1] ?? "";
  const named = id.includes("inputtoken") ? "input_tokens" : id.includes("token") ? "tokens" : id.includes("request") ? "requests" : null;
  const value = quotas.length === 1 ? GOOGLE_VALUE.exec(text)?.[1] : undefined;
  return { named, named_limit: value === undefined ? null : positive(Number(value)), requested: null };
}

function waitOf(text: string): number | null {
  const short = WAIT_SHORT.exec(text);
  if (short !== null) return durationOf(short[1] ?? "");
  const wait = WAIT.exec(text);
  return wait === null ? null : Number(wait[1]) * (WAIT_UNITS[(wait[2] ?? "").replace(/s$/, "")] ?? 0);
}
