import type { ProviderPlanInput } from "../../support/model-server/limited/provider-plan.ts";
import type { Traffic } from "./world/provider-port.ts";

/** A provider, and the times in which what is made of it is looked at. Milliseconds since the beginning. */
export interface Case {
  readonly name: string;
  readonly provider: ProviderPlanInput;
  readonly traffic: Traffic;
  readonly until: number;
  /** Each begins when a minute has passed since the beginning, or since the provider has changed. */
  readonly looked: readonly (readonly [from: number, to: number])[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Answers of one to three seconds. */
const CHAT: Traffic = { takes: [1 * SECOND, 3 * SECOND], output: [50, 400] };
const REQUESTS = 600;
/** About 625 of such requests: 300 tokens in and 225 out on average. */
const TOKENS = 330_000;
const sliding = (limit: number) => ({ kind: "requests", limit, meter: "sliding_minute" }) as const;

const steady = (name: string, provider: ProviderPlanInput, traffic = CHAT): Case => ({
  name,
  provider,
  traffic,
  until: 8 * MINUTE,
  looked: [[1 * MINUTE, 8 * MINUTE]],
});
const changing = (name: string, provider: ProviderPlanInput): Case => ({
  name,
  provider,
  traffic: CHAT,
  until: 10 * MINUTE,
  looked: [
    [1 * MINUTE, 5 * MINUTE],
    [6 * MINUTE, 10 * MINUTE],
  ],
});
const stormy = (name: string, storm: { readonly status: 429 | 529; readonly retry_after_s?: number }): Case => ({
  name,
  provider: { limits: [sliding(REQUESTS)], storms: [{ from_ms: 3 * MINUTE, to_ms: 13 * MINUTE, ...storm }] },
  traffic: CHAT,
  until: 18 * MINUTE,
  looked: [
    [1 * MINUTE, 3 * MINUTE],
    [14 * MINUTE, 18 * MINUTE],
  ],
});

/** Everything that the issue names: what is limited, how it is counted, what headers say of it, changes and storms. */
export const CASES: readonly Case[] = [
  steady("requests, sliding minute", { limits: [sliding(REQUESTS)] }),
  steady("requests, fixed minute", { limits: [{ kind: "requests", limit: REQUESTS, meter: "fixed_minute" }] }),
  steady("requests, bucket of a minute", { limits: [{ kind: "requests", limit: REQUESTS, meter: "token_bucket" }] }),
  steady("requests, bucket of a second", { limits: [{ kind: "requests", limit: REQUESTS, meter: "token_bucket", burst_s: 1 }] }),
  steady("tokens as used, bucket", { limits: [{ kind: "tokens", limit: TOKENS, meter: "token_bucket" }] }),
  steady("tokens as reserved, sliding minute", { limits: [{ kind: "tokens", limit: TOKENS, meter: "sliding_minute" }], tokens_count: "reserved" }),
  steady("concurrent", { limits: [{ kind: "concurrent", limit: 24 }] }),
  steady("concurrent, long answers", { limits: [{ kind: "concurrent", limit: 40 }] }, { takes: [5 * SECOND, 30 * SECOND], output: [500, 4_000] }),
  steady("requests, retry-after", { limits: [sliding(REQUESTS)], retry_after: "exact" }),
  steady("requests, retry-after that is too long", { limits: [sliding(REQUESTS)], retry_after: 20 }),
  steady("requests, refusals name it", { limits: [sliding(REQUESTS)], names_limit: true, counts_refused: true }),
  steady("requests and tokens, headers of OpenAI", {
    limits: [
      { kind: "requests", limit: REQUESTS, meter: "token_bucket" },
      { kind: "tokens", limit: 2 * TOKENS, meter: "token_bucket" },
    ],
    headers: "openai",
    retry_after: "exact",
  }),
  steady("tokens in and out, headers of Anthropic", {
    limits: [
      { kind: "requests", limit: 2 * REQUESTS, meter: "token_bucket" },
      { kind: "input_tokens", limit: TOKENS, meter: "token_bucket" },
      { kind: "output_tokens", limit: TOKENS / 3, meter: "token_bucket" },
    ],
    headers: "anthropic",
    retry_after: "exact",
  }),
  steady("headers that say twice as much", { limits: [sliding(REQUESTS)], headers: "openai", says: 2 }),
  steady("headers that say half", { limits: [sliding(REQUESTS)], headers: "openai", says: 0.5 }),
  changing("a limit that is halved", { limits: [sliding(REQUESTS)], changes: [{ at_ms: 5 * MINUTE, kind: "requests", limit: REQUESTS / 2 }] }),
  changing("a limit that is doubled", { limits: [sliding(REQUESTS)], changes: [{ at_ms: 5 * MINUTE, kind: "requests", limit: 2 * REQUESTS }] }),
  stormy("a storm of 429", { status: 429 }),
  stormy("a storm of 429 with retry-after", { status: 429, retry_after_s: 20 }),
  stormy("a storm of 529", { status: 529 }),
];
export const CROWDS: readonly number[] = [1, 4, 16];
