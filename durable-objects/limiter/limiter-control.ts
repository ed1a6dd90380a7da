import type { Bound } from "../../src/endpoint-limits/bound.ts";
import type { Amounts, Cap, LimitKind, RateKind, RequestCost, ToldLimits } from "../../src/endpoint-limits/limit-kinds.ts";

export type { Bound } from "../../src/endpoint-limits/bound.ts";

/** What crosses the border between a Limiter and the executors that call its endpoint, and the door. Every answer is a value. */
export const LIMITER_PROTOCOL = 1;

/** Where it is called, as a person knows it; never the key. */
export interface LimitedPlace {
  /** Without credentials and query. */
  readonly base_url: string;
  readonly api_key_var: string;
  /** src/endpoint-limits/model-class.ts. */
  readonly model_class: string;
}

/** What one run has at one executor: the requests of a grant, or of its judges. */
export interface HolderReport {
  /** Unique within the executor for as long as it lives. */
  readonly id: string;
  /** `runName` of its run, and its team. */
  readonly run: string;
  readonly team: string;
  readonly kind: "model" | "judges";
  /** Weight; above 0. */
  readonly priority: number;
  readonly caps: readonly Cap[];
  /** Requests that it may have in flight at once by its own grant: no more are any use to it. */
  readonly most: number;
  readonly in_flight: number;
  /** By a share that still holds; null = as many as its grant allows, 0 = it has none. A Limiter that begins anew knows by it what may be out. */
  readonly allowed: number | null;
  readonly waiting: number;
  /** Requests of it that were sent, and accepted, since the last exchange that was answered. */
  readonly sent: number;
  readonly accepted: number;
  /** Of rates, what it has of earlier shares and has not used; below 0 = it owes. */
  readonly balance: Amounts<RateKind>;
  /** What one of its requests has used on average; null before one has ended. */
  readonly mean_cost: RequestCost | null;
}

/** What was seen since the last exchange that was answered; all numbers are of that time alone. */
export interface Sightings {
  /** Milliseconds that they are of. */
  readonly over_ms: number;
  readonly sent: number;
  readonly accepted: number;
  /** Of accepted ones, what they used (as the server counts, else as estimated). */
  readonly used: RequestCost;
  readonly rate_limited: number;
  readonly overloaded: number;
  readonly missed: number;
  readonly failed: number;
  /** Of failed ones, those that a server answered; absent from executors of before. */
  readonly answered?: number;
  /** Of refusals (rate limits and overload), the first ones, at most 16, oldest first. */
  readonly refusals: readonly Refusal[];
  /** The newest that headers said. */
  readonly told: ToldLimits | null;
  /** Times of accepted requests by powers of two: entry i counts those of [2^i, 2^(i+1)) ms. */
  readonly latencies: readonly number[];
}

export interface Refusal {
  readonly kind: "rate_limited" | "overloaded";
  /** Before the exchange was sent, since clocks differ. */
  readonly ago_ms: number;
  readonly named: LimitKind | null;
  readonly named_limit: number | null;
  readonly retry_after_ms: number | null;
  readonly told: ToldLimits | null;
  /** Requests that this executor had in flight when the refused one was sent, itself not counted, less those that were refused too as far as is known. */
  readonly in_flight: number;
}

export interface ExchangeRequest {
  readonly protocol: typeof LIMITER_PROTOCOL;
  readonly executor: string;
  /** As those of tickets: what an earlier boot or life of the process held is free at once. */
  readonly boot: string;
  readonly runtime: string;
  /** Raised by one for each; the same number again means that the answer was lost: what was seen counts once. */
  readonly seq: number;
  readonly place: LimitedPlace;
  /** All that this executor has; whoever is not named any more holds nothing. Empty = it leaves. */
  readonly holders: readonly HolderReport[];
  readonly seen: Sightings;
}

/** What a holder may do from now on. It replaces what earlier answers said of `concurrent`, and adds to its balance. */
export interface Share {
  readonly id: string;
  /** Requests in flight at once; null = as many as its grant allows. Those above it end by themselves. */
  readonly concurrent: number | null;
  /** Comes in evenly over `over_ms`; a kind that is absent is not bounded. A request begins while each balance is above 0, and may overdraw it. */
  readonly adds: Amounts<RateKind>;
  /** A balance never grows beyond this, so that what is saved up is no burst. */
  readonly most: Amounts<RateKind>;
  /** The strictest that keeps its requests waiting, for people; absent = nothing does. Another holder may be told of another. */
  readonly bound?: Bound;
}

export type ExchangeAnswer =
  | {
      readonly kind: "ok";
      /** `open`: nothing is known that limits; requests are sent as the run's own limit has it, and only seen. */
      readonly mode: "open" | "limited";
      /** In the order of the holders. Empty in mode `open`. */
      readonly shares: readonly Share[];
      readonly over_ms: number;
      /** From the sending of the exchange: after that nothing begins by these shares (mode `limited`). */
      readonly valid_ms: number;
      /** When to come again at the latest; earlier when a holder begins to wait or ends, and at once for a first refusal. */
      readonly again_ms: number;
      /** The endpoint is to be left alone for so long; null = it is not. */
      readonly pause_ms: number | null;
      /** The endpoint is down since so many milliseconds: only who has `ask` sends one request, to see whether it is back. */
      readonly down: { readonly since_ms: number; readonly ask: boolean } | null;
      readonly bound: Bound | null;
    }
  /** What is stored is of another version: the executor goes on as without a Limiter, and says so. */
  | { readonly kind: "refused"; readonly message: string };

/** For `/limits`. Times are Unix milliseconds. */
export interface LimiterView {
  readonly place: LimitedPlace;
  readonly mode: "open" | "limited";
  readonly bound: Bound | null;
  /** As known now, with where each is from. */
  readonly limits: readonly { readonly kind: LimitKind; readonly limit: number; readonly source: "given" | "told" | "found" }[];
  readonly paused_until: number | null;
  readonly down_since: number | null;
  readonly in_flight: number;
  readonly waiting: number;
  /** Of the last minute. */
  readonly minute: { readonly sent: number; readonly accepted: number; readonly refused: number; readonly used: RequestCost };
  /** Milliseconds of accepted requests of the last ten minutes, to the precision of their buckets; null before one was. */
  readonly latency_ms: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  readonly users: readonly {
    readonly run: string;
    readonly team: string;
    readonly kind: "model" | "judges";
    readonly priority: number;
    readonly in_flight: number;
    readonly waiting: number;
    /** Accepted in the last minute. */
    readonly accepted: number;
  }[];
}

/** The Limiter's methods; its object's name is `limiterName` (src/endpoint-limits/limiter-name.ts). */
export interface LimiterControl {
  exchange(request: ExchangeRequest): Promise<ExchangeAnswer>;
  /** Null where nobody has called it. `team`: runs of others are counted together under the name "". */
  view(team: string | null): Promise<LimiterView | null>;
  /**
   * What a team gives holds for its holders together from now on; team null = the owner of the service gives it, for all who use the key. `limits` null =
   * nothing is given any more. What held before is `limiterSeen`'s to say (durable-objects/registry/limiters/limiter-index-control.ts).
   */
  give(team: string | null, limits: Amounts | null): Promise<void>;
  /** Forgets what was found and told, so that it is found anew. */
  forget(): Promise<void>;
}
