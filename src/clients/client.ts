import type { AttemptOutcome, RequestCost } from "../endpoint-limits/limit-kinds.ts";
import type { PricedUsage } from "../prices/price.ts";
import type { RequestBound } from "../prices/request-bound.ts";
import type { Usage } from "../rollouts/types.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import type { Batched } from "./batching/batch-route.ts";
import type { KnownAnswers } from "./known-answers.ts";
import type { Outage } from "./outage.ts";
import type { RequestCosts } from "./limits/request-costs.ts";
import type { Storm } from "./storm.ts";
import type { TokenLimitName } from "./openai/token-limit-name.ts";
import type { ScoringChoices } from "./scoring/choices.ts";

export type { Client, ModelRequest, ModelResponse } from "../rollouts/types.ts";

/** Resolves after `ms`; rejects with the signal's reason when that comes first. */
export type Sleep = (ms: number, signal?: AbortSignal | null) => Promise<void>;

/** Where a model is called. The key is a value here, for this object's life only; everything stored knows its variable. */
export interface Endpoint {
  readonly base_url: string;
  readonly api_key: string;
  /** Name of the variable the key came from, for messages. */
  readonly api_key_var: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Header name → state key, whose value is sent when it is not null; over the default `X-Session-ID: example_id`. */
  readonly headers_from_state?: Readonly<Record<string, string>>;
}

/** What an attempt has come to, for whoever pays: nothing was sent, or it was refused; tokens that it is billed for; or nobody saw its end. */
export type AttemptSpent = { readonly kind: "nothing" } | { readonly kind: "billed"; readonly usage: PricedUsage } | { readonly kind: "unseen" };

/** What a permit is asked for with; of one attempt it is the same object from its beginning to its end. */
export interface AttemptCost extends RequestCost {
  /** The most that it can be billed for. Worked out when it is first asked for. */
  readonly bound?: RequestBound;
  /** Known once the attempt has ended. */
  readonly spent?: AttemptSpent;
}

/** Permits for requests in flight (`src/clients/gate.ts`): held during one attempt, never while waiting for anything else. */
export interface Permits {
  /** Whether it makes anything of costs and outcomes; absent: it does not, and is told neither. */
  readonly reads?: boolean;
  /** `cost`: what the request is expected to use. It is looked at when the permit is given: while a request waits, more is learned of those before it. */
  enter(signal?: AbortSignal | null, cost?: AttemptCost): Promise<void>;
  /** `outcome`: how the attempt ended; `cost`: the object that its permit was asked for with. */
  leave(outcome?: AttemptOutcome, cost?: AttemptCost): void;
}

/** An endpoint's wish to be left alone, shared by all that call it (`src/clients/endpoint-pause.ts`). */
export interface Pause {
  /** Unix milliseconds; null when there is no pause. */
  readonly until: number | null;
  /** Begins a pause or makes it longer, within the cap; gives its end. */
  hold(ms: number): number;
  wait(signal?: AbortSignal | null): Promise<void>;
}

/** How callers outlast a place that answers nobody (`src/clients/outage.ts`). */
export interface Outlasting {
  /** Shared by all that call the place. */
  readonly outage: Outage;
  /** How long it may be gone before requests that ended with `code` are given up or counted, in milliseconds; 0 = they are counted at once. */
  readonly patienceMs: (code: RolloutErrorCode) => number;
  /** Called by every request that waits for the place to come back, and when it is back; each may be called several times for one outage. */
  readonly onGone?: (code: RolloutErrorCode) => void;
  readonly onBack?: () => void;
  /** Whether the place takes connections, found out by what nobody is billed for; absent: a request that is to be answered finds it out. */
  readonly isThere?: (signal: AbortSignal | null) => Promise<boolean>;
}

/** One refused attempt that is about to be repeated. */
export interface RetryNotice {
  readonly code: RolloutErrorCode;
  readonly message: string;
  /** From 1. */
  readonly attempt: number;
  /** Unix milliseconds of the next attempt, at the earliest. */
  readonly until: number;
}

/** Cloudflare's own models, as a Worker's binding offers them. */
export interface AiBinding {
  run(model: string, inputs: object, options: AiRunOptions): Promise<Response>;
}
export interface AiRunOptions {
  /** The answer as it came, with its status, rather than an exception without one. */
  readonly returnRawResponse: true;
  readonly extraHeaders: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The world as a client sees it; everything that takes time or chance is handed in. */
export interface ClientPorts {
  readonly gate: Permits;
  /**
   * Connections that wait for an answer's headers, where the platform counts them. A streamed answer's headers come when the
   * model begins, those of any other when it has ended.
   */
  readonly connections?: Permits;
  readonly pause: Pause;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** [0, 1). */
  readonly random: () => number;
  readonly onRetry: (notice: RetryNotice) => void;
  /** Something a person should know that is no failure. Called for every occurrence; `kind` tells which are the same. */
  readonly onWarning?: (kind: string, message: string) => void;
  /** What is known of the place's name for the limit of tokens; absent: this client finds out for itself. */
  readonly limitName?: TokenLimitName;
  /** What stands on the record and is no warning. Called once for each thing that was found out. */
  readonly onNote?: (message: string) => void;
  /** What requests of each model use there; absent: this client finds out for itself. */
  readonly costs?: RequestCosts;
  /** What is known of the ways to score texts there; absent: this client finds out for itself. */
  readonly scoring?: ScoringChoices;
  /** How many texts one request may carry that scores them; default 40. */
  readonly textsPerRequest?: number;
  /** Characters of a streamed answer that is passed on; default 2 Mi. */
  readonly relayedCharacters?: number;
  /** After every attempt that was sent: tokens that the server says it took, for an answer that was no good too; null where it says nothing. `answered`: it gave an answer. */
  readonly onAttempt?: (state: Readonly<Record<string, unknown>>, usage: Usage | null, answered: boolean) => void;
  /** Answers of earlier calls; absent: every request is sent. */
  readonly answers?: KnownAnswers;
  /** Who answers instead of the server; absent: the server does. */
  readonly batched?: Batched;
  /** After every answer that was taken from those: no request was sent. */
  readonly onCached?: (state: Readonly<Record<string, unknown>>, usage: Usage | null) => void;
  /** With every answer that was taken, as its server gave it. */
  readonly onTaken?: (answer: unknown) => void;
  /** For the client type `workers_ai`. */
  readonly ai?: AiBinding;
  readonly timeouts: {
    /** One attempt from its permit to the last byte of its answer; default 3,600,000. */
    readonly request_ms?: number;
  };
  /** Whether a request that failed in this way is taken to another place instead of being repeated here. */
  readonly elsewhere?: (code: RolloutErrorCode) => boolean;
  /** Absent: a place that is gone is outlasted by the retries of each request, and no longer. */
  readonly outlasting?: Outlasting;
  /** Absent: whoever is refused for want of room is sent again as often as its retries allow, and no more. */
  readonly storm?: Storm;
  /** Request retries (docs/retries.md); default 10. */
  readonly maxRequestRetries?: number;
}

export const DEFAULT_REQUEST_MS = 3_600_000;
export const DEFAULT_REQUEST_RETRIES = 10;
