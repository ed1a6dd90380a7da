import { RATE_KINDS, type RateKind, type ToldLimit, type ToldLimits } from "../../endpoint-limits/limit-kinds.ts";

/** Of an answer. */
export interface HeaderSource {
  get(name: string): string | null;
}

const SECOND = 1_000;
const MINUTE = 60_000;

/** How a provider writes of one limit: `*` stands for `limit`, `remaining` and `reset`. */
interface Form {
  readonly kind: RateKind;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
  /** Milliseconds that the numbers are of; null where that is not said by the name. */
  readonly window: number | null;
}

const form = (kind: RateKind, name: string, window: number | null): Form => ({
  kind,
  window,
  limit: name.replace("*", "limit"),
  remaining: name.replace("*", "remaining"),
  reset: name.replace("*", "reset"),
});

/**
 * Of the forms of one kind the first that is there counts. What is limited by the hour or the day is no pace, and not among them: it is met as a refusal.
 *
 * - Anthropic, https://platform.claude.com/docs/en/api/rate-limits#response-headers: per minute, resets in RFC 3339. `tokens` is the strictest of its
 *   limits, whichever that is, and says something only where the others are absent.
 * - OpenAI, https://platform.openai.com/docs/guides/rate-limits, resets as `6m0s` or `12ms`; the same names from Groq (whose requests are of a day,
 *   https://console.groq.com/docs/rate-limits), Azure (0 and -1 where it does not know) and LiteLLM.
 * - Mistral, https://github.com/mistralai/client-ts/issues/169; Cerebras, https://inference-docs.cerebras.ai/support/rate-limits.
 * - Fireworks, https://docs.fireworks.ai/serverless/rate-limits: "described in tokens per second".
 * - Together, https://docs.together.ai/docs/rate-limits: per second, recognised by its limit of tokens.
 */
const FORMS: readonly Form[] = [
  form("requests", "anthropic-ratelimit-requests-*", MINUTE),
  form("input_tokens", "anthropic-ratelimit-input-tokens-*", MINUTE),
  form("output_tokens", "anthropic-ratelimit-output-tokens-*", MINUTE),
  form("tokens", "anthropic-ratelimit-tokens-*", MINUTE),
  form("requests", "x-ratelimit-*-requests", null),
  form("tokens", "x-ratelimit-*-tokens", null),
  form("requests", "x-ratelimit-*-requests-minute", MINUTE),
  form("requests", "x-ratelimit-*-req-minute", MINUTE),
  form("tokens", "x-ratelimit-*-tokens-minute", MINUTE),
  form("tokens", "x-ratelimitbysize-*-minute", MINUTE),
  form("input_tokens", "x-ratelimit-*-tokens-prompt", SECOND),
  form("output_tokens", "x-ratelimit-*-tokens-generated", SECOND),
  form("tokens", "x-tokenlimit-*", SECOND),
];
const TOGETHER = form("requests", "x-ratelimit-*", SECOND);
const TOGETHER_TOKENS = "x-tokenlimit-limit";

/** Headers that name no kind; the first that is there counts, and counts requests. */
const PLAIN: readonly Form[] = [form("requests", "ratelimit-*", null), form("requests", "x-ratelimit-*", null), form("requests", "x-rate-limit-*", null)];

/** What the headers of an answer say of the endpoint's limits; null where they say nothing. `now`: Unix milliseconds. */
export function toldBy(headers: HeaderSource, now: number): ToldLimits | null {
  const told: { [K in RateKind]?: ToldLimit } = {};
  for (const each of FORMS) {
    if (told[each.kind] !== undefined) continue;
    const found = read(headers, each, now);
    if (found !== null) told[each.kind] = found;
  }
  if (told.input_tokens !== undefined || told.output_tokens !== undefined) delete told.tokens;
  if (told.requests === undefined) {
    const found = headers.get(TOGETHER_TOKENS) === null ? plain(headers, now) : read(headers, TOGETHER, now);
    if (found !== null) told.requests = found;
  }
  return RATE_KINDS.some((kind) => told[kind] !== undefined) ? told : null;
}

function read(headers: HeaderSource, { limit: name, remaining: left, reset: until, window }: Form, now: number): ToldLimit | null {
  const limit = numberOf(headers.get(name));
  if (limit === null || limit <= 0) return null;
  const remaining = numberOf(headers.get(left));
  const reset = timeOf(headers.get(until), now);
  const of = window ?? (isOfMinute(limit, remaining, reset) ? MINUTE : null);
  return of === null ? null : perMinute({ limit, remaining, reset_ms: reset }, of);
}

/** In the numbers of a minute. */
function perMinute({ limit, remaining, reset_ms }: ToldLimit, window: number): ToldLimit {
  const times = MINUTE / window;
  return { limit: limit * times, remaining: remaining === null || remaining < 0 ? null : remaining * times, reset_ms };
}

/** What a server's clock and its rounding may add to a minute. */
const SLACK = 1.05;
const HOUR = 60 * MINUTE;
const LONGER: readonly number[] = [HOUR, 24 * HOUR];

/**
 * Whether numbers under OpenAI's names are of a minute, as they mostly are. Where requests come back one by one, the time until all are back tells what
 * they are of: 30 of 14,400 that take three minutes are of a day. What may be either is left unsaid: a limit of a day taken for one of a minute is met
 * again, one of a minute taken for one of a day would stop everybody.
 */
function isOfMinute(limit: number, remaining: number | null, reset: number | null): boolean {
  if (reset === null) return true;
  if (reset > MINUTE * SLACK) return false;
  const used = remaining === null ? 0 : limit - remaining;
  if (used <= 0 || reset === 0) return true;
  const window = (reset * limit) / used;
  return !LONGER.some((longer) => window > longer / SLACK && window < longer * SLACK);
}

/** A reset that is further off is of a minute and not of some seconds. */
const MORE_THAN_SECONDS = 15 * SECOND;

/**
 * Limits that are of requests because nothing else is said: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/, whose policy (`w=60`)
 * says the window in seconds, `limit;w=60` in its earlier versions; and what frameworks send without a standard, of no window that is said. Those count
 * when their reset can be that of a minute only.
 */
function plain(headers: HeaderSource, now: number): ToldLimit | null {
  const policy = headers.get("ratelimit-policy") ?? headers.get("ratelimit-limit");
  const window = numberOf(/\bw=(\d+)/.exec(policy ?? "")?.[1] ?? null);
  const fields = headers.get("ratelimit");
  if (fields !== null) {
    const limit = numberOf(/\bq=(\d+)/.exec(policy ?? "")?.[1] ?? null);
    const seconds = numberOf(/\bt=(\d+)/.exec(fields)?.[1] ?? null);
    const told = { limit: limit ?? 0, remaining: numberOf(/\br=(\d+)/.exec(fields)?.[1] ?? null), reset_ms: seconds === null ? null : seconds * SECOND };
    return told.limit > 0 && window !== null ? inWindow(told, window * SECOND) : null;
  }
  for (const { limit: name, remaining: left, reset } of PLAIN) {
    const limit = numberOf(headers.get(name)?.split(/[,;]/)[0] ?? null);
    if (limit === null || limit <= 0) continue;
    const told = { limit, remaining: numberOf(headers.get(left)), reset_ms: timeOf(headers.get(reset), now) };
    if (window !== null) return inWindow(told, window * SECOND);
    const { reset_ms } = told;
    return reset_ms !== null && reset_ms > MORE_THAN_SECONDS && reset_ms <= MINUTE * SLACK ? perMinute(told, MINUTE) : null;
  }
  return null;
}

/** A window of more than a minute is no pace. */
const inWindow = (told: ToldLimit, window: number): ToldLimit | null => (window > 0 && window <= MINUTE ? perMinute(told, window) : null);

const numberOf = (text: string | null): number | null => {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
};

const UNITS: Readonly<Record<string, number>> = { h: HOUR, m: MINUTE, s: SECOND, ms: 1 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/;

/** Milliseconds of `6m0s`, `12ms` or `7.66s`; null for anything else. */
export function durationOf(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)) sum += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  return sum;
}

/** Numbers above are times since 1970: in seconds, and in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** Milliseconds until a reset: seconds, a duration, a date, or a time since 1970. Null where it is none of them. */
function timeOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const value = numberOf(text);
  if (value !== null) return Math.max(0, value >= EPOCH_MS ? value - now : value >= EPOCH_SECONDS ? value * SECOND - now : value * SECOND);
  const duration = durationOf(text);
  if (duration !== null) return duration;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** A look at headers costs some microseconds in workerd, and what they say is wanted some times a second. */
const LOOK_MS = 100;
/** Answers that are looked at in any case, before an endpoint is taken for one that says nothing; and how often one is looked at then. */
const FIRST_LOOKS = 3;
const SILENT_LOOK_MS = 10_000;

/** Looks at the headers of answers as often as it is worth it. One per client. */
export class LimitHeaders {
  #looks = 0;
  #next = 0;

  /** `always`: a refusal, which is looked at in any case. An answer that is not looked at is not asked for its headers either: a runtime may have to make them first. */
  look(answer: { readonly headers: HeaderSource }, now: number, always: boolean): ToldLimits | null {
    if (!always && now < this.#next) return null;
    const told = toldBy(answer.headers, now);
    this.#looks = told === null ? this.#looks + 1 : 0;
    this.#next = this.#looks === 0 ? now + LOOK_MS : this.#looks >= FIRST_LOOKS ? now + SILENT_LOOK_MS : 0;
    return told;
  }
}
