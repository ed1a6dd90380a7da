import type { AttemptOutcome, RequestCost } from "../../endpoint-limits/limit-kinds.ts";
import type { RequestBound } from "../../prices/request-bound.ts";
import { billedOf } from "../../rollouts/state/usage.ts";
import type { AttemptCost, AttemptSpent } from "../client.ts";
import { readUsage } from "../openai/reply-fields.ts";
import { isMissed, isRefused, RequestFailed, type RequestFailure } from "../transport/request-failure.ts";
import type { LimitHeaders } from "./limit-headers.ts";
import { type RequestCosts, usedBy, type Weight } from "./request-costs.ts";

/** What is looked at of an answer: how it begins. */
export type AnswerHead = Pick<Response, "ok" | "headers" | "status">;

/** Failures of an answer that was given: the endpoint had taken the request. */
const TAKEN: readonly RequestFailure["code"][] = ["malformed_response", "invalid_response", "empty_response", "row_too_large", "request_timeout"];

/** What a gateway says of a server that it has given up waiting for, or lost: that one may be at work still, and is paid (52x: Cloudflare's). */
const GIVEN_UP: readonly number[] = [408, 499, 504, 520, 524];
/** Words of a connection that was never made: nothing was sent. */
const NEVER_MADE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_/;

/** A request, as far as its attempts are watched. */
export interface WatchedRequest {
  /** What it weighs now: of a request that others may join, more from time to time. */
  readonly weigh: () => Weight;
  readonly costs: RequestCosts;
  readonly headers: LimitHeaders;
}

/**
 * Watches one attempt for what its permit is told at the end. It is also what the request is expected to use, told when that is first asked for: a request that
 * waits long for its permit is taken for what was learned meanwhile.
 */
export class AttemptWatch implements AttemptCost {
  readonly #request: WatchedRequest;
  #cost: RequestCost | null = null;
  #bound: RequestBound | null = null;
  #at = 0;
  #head: AnswerHead | null = null;
  #used: RequestCost | null = null;
  #usage: unknown = null;
  #isSent = false;
  #thrown: unknown = null;

  constructor(request: WatchedRequest) {
    this.#request = request;
  }

  get input_tokens(): number {
    return this.#estimate.input_tokens;
  }

  get output_tokens(): number {
    return this.#estimate.output_tokens;
  }

  get #estimate(): RequestCost {
    const { costs, weigh } = this.#request;
    this.#cost ??= costs.of(weigh());
    return this.#cost;
  }

  get bound(): RequestBound {
    this.#bound ??= this.#request.weigh().billed();
    return this.#bound;
  }

  /** A refusal is not billed; whatever else has no word of its tokens may be. */
  get spent(): AttemptSpent {
    if (!this.#isSent) return NOTHING;
    const usage = readUsage(this.#usage);
    if (usage !== null) return { kind: "billed", usage: billedOf(usage) };
    if (this.#head !== null) return this.#head.ok || GIVEN_UP.includes(this.#head.status) ? UNSEEN : NOTHING;
    const failure = this.#thrown instanceof RequestFailed ? this.#thrown.failure : null;
    return failure !== null && (failure.code === "connect_timeout" || NEVER_MADE.test(failure.message)) ? NOTHING : UNSEEN;
  }

  /** The attempt holds its permit. `now`: Unix milliseconds. */
  begin(now: number): void {
    this.#at = now;
  }

  /** A request is about to go out. Of several in one attempt those before it were refused. */
  sends(): void {
    this.#isSent = true;
    this.#head = null;
    this.#usage = null;
  }

  /** An answer has begun. Of several requests in one attempt the last one counts. */
  answered(head: AnswerHead): void {
    this.#head = head;
  }

  /** What the answer says of its tokens. */
  took(usage: unknown): void {
    this.#usage = usage;
    this.#used = usedBy(usage);
  }

  failed(thrown: unknown): void {
    this.#thrown = thrown;
  }

  /** How the attempt ended. Its `cost` is the watch itself, which the permit was asked for with: where nobody reads it, it is never worked out. */
  outcome(now: number): AttemptOutcome {
    const failure = this.#thrown instanceof RequestFailed ? this.#thrown.failure : null;
    const kind = this.#kind(failure);
    const refused = kind === "rate_limited" || kind === "overloaded";
    return {
      kind,
      answered: this.#head !== null,
      ms: now - this.#at,
      cost: this,
      used: this.#used,
      told: this.#head === null ? null : this.#request.headers.look(this.#head, now, refused),
      named: failure?.said?.named ?? null,
      named_limit: failure?.said?.named_limit ?? null,
      retry_after_ms: failure?.retryAfterMs ?? null,
    };
  }

  /** Of a permit that was given back unused. */
  unsent(): AttemptOutcome {
    return { kind: "unsent", ms: 0, cost: this, used: null, told: null, named: null, named_limit: null, retry_after_ms: null };
  }

  /** What comes later is expected to use is learned from it; after `outcome`. */
  teach(): void {
    const { costs, weigh } = this.#request;
    if (this.#used !== null) return costs.learn(weigh(), this.#used);
    // Tokens that a refusal says the server took the request for.
    const said = this.#thrown instanceof RequestFailed ? this.#thrown.failure.said : undefined;
    if (said?.named === "tokens" && said.requested !== null) costs.refused(weigh(), said.requested);
  }

  #kind(failure: RequestFailure | null): AttemptOutcome["kind"] {
    if (this.#thrown === null) return "accepted";
    if (failure !== null && isRefused(failure)) return failure.overloaded === true ? "overloaded" : "rate_limited";
    if (failure !== null && isMissed(failure)) return "missed";
    // Whoever gave up on an answer that had begun was being served.
    return this.#head?.ok === true && (failure === null || TAKEN.includes(failure.code)) ? "accepted" : "failed";
  }
}

const NOTHING: AttemptSpent = { kind: "nothing" };
const UNSEEN: AttemptSpent = { kind: "unseen" };
