import { type LimitKind, RATE_KINDS, type RateKind, type RequestCost, type ToldLimit, type ToldLimits } from "../../../../src/endpoint-limits/limit-kinds.ts";
import { type Meter, meterOf } from "./meters.ts";
import type { HiddenLimit, ProviderPlan } from "./provider-plan.ts";
import { ProviderTally } from "./provider-tally.ts";

/** What a request asks for: `output_tokens` is its max_tokens. */
export type Asked = RequestCost;

export interface TakenRequest {
  readonly kind: "taken";
  readonly told: ToldLimits | null;
}

export interface RefusedRequest {
  readonly kind: "refused";
  readonly status: 429 | 529;
  /** What binds; null in a storm. What the client is told of it is `named`. */
  readonly because: LimitKind | null;
  readonly told: ToldLimits | null;
  /** As the words of the refusal have it; null where they name none. */
  readonly named: LimitKind | null;
  readonly named_limit: number | null;
  /** As the header `retry-after` has it, in milliseconds; null without one. */
  readonly retry_after_ms: number | null;
}

interface RateLimit {
  limit: number;
  readonly meter: Meter;
}

/**
 * A provider with limits that it does not tell, or tells, or tells wrongly. Pure: `now` is in milliseconds since its start, of one clock. A request that is
 * taken is in flight until `end`.
 */
export class LimitedProvider {
  readonly plan: ProviderPlan;
  readonly tally: ProviderTally;
  readonly #rates = new Map<RateKind, RateLimit>();
  #concurrent: number;
  #inFlight = 0;
  #changed = 0;

  constructor(plan: ProviderPlan) {
    this.plan = { ...plan, changes: [...plan.changes].sort((a, b) => a.at_ms - b.at_ms) };
    this.#concurrent = Number.POSITIVE_INFINITY;
    for (const hidden of plan.limits) this.#set(hidden);
    this.tally = new ProviderTally(this.plan);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** What the limit of a kind is; infinite without one. */
  limitOf(kind: LimitKind, now: number): number {
    this.#change(now);
    return kind === "concurrent" ? this.#concurrent : (this.#rates.get(kind)?.limit ?? Number.POSITIVE_INFINITY);
  }

  begin(asked: Asked, now: number): TakenRequest | RefusedRequest {
    this.#change(now);
    const storm = this.plan.storms.find(({ from_ms, to_ms }) => now >= from_ms && now < to_ms);
    if (storm !== undefined) return this.#refuse(storm.status, null, storm.to_ms - now, now, storm.retry_after_s ?? this.plan.retry_after);
    if (this.#inFlight >= this.#concurrent) return this.#refuse(429, "concurrent", 0, now);
    const binding = this.#binding(asked, now);
    if (binding !== null) return this.#refuse(429, binding.kind, binding.wait_ms, now);
    for (const [kind, { meter }] of this.#rates) meter.take(this.#atBegin(kind, asked), now);
    this.#inFlight++;
    this.tally.taken(asked, now);
    return { kind: "taken", told: this.told(now) };
  }

  /** A request that was taken has ended. `asked`: as it began; `outputTokens`: what it came to. */
  end(asked: Asked, outputTokens: number, now: number): void {
    this.#change(now);
    this.#inFlight--;
    if (this.plan.tokens_count === "used") {
      for (const kind of ["tokens", "output_tokens"] as const) this.#rates.get(kind)?.meter.take(outputTokens, now);
    }
    this.tally.ended(asked, outputTokens, now);
  }

  /** What headers say now; null where there are none. */
  told(now: number): ToldLimits | null {
    if (this.plan.headers === "none") return null;
    const told: { [K in RateKind]?: ToldLimit } = {};
    for (const [kind, { limit, meter }] of this.#rates) {
      const said = Math.round(limit * this.plan.says);
      const remaining = Math.floor(meter.remaining(now) + said - limit);
      told[kind] = { limit: said, remaining: Math.min(said, Math.max(0, remaining)), reset_ms: Math.ceil(meter.resetIn(now)) };
    }
    return told;
  }

  #refuse(status: 429 | 529, because: LimitKind | null, waitMs: number, now: number, retry_after = this.plan.retry_after): RefusedRequest {
    const { counts_refused, names_limit, says } = this.plan;
    if (counts_refused) this.#rates.get("requests")?.meter.take(1, now);
    this.tally.refused(status, because, now);
    const named = names_limit ? because : null;
    return {
      kind: "refused",
      status,
      because,
      told: this.told(now),
      named,
      named_limit: named === null ? null : Math.round(this.limitOf(named, now) * says),
      retry_after_ms: retry_after === "none" ? null : retry_after === "exact" ? Math.max(1, Math.ceil(waitMs / 1_000)) * 1_000 : retry_after * 1_000,
    };
  }

  /** The rate limit that would have to be waited for longest; null where there is room in all. */
  #binding(asked: Asked, now: number): { readonly kind: RateKind; readonly wait_ms: number } | null {
    let binding: { readonly kind: RateKind; readonly wait_ms: number } | null = null;
    for (const [kind, { meter }] of this.#rates) {
      const wait_ms = meter.waitFor(this.#atBegin(kind, asked), now);
      if (wait_ms > 0 && (binding === null || wait_ms > binding.wait_ms)) binding = { kind, wait_ms };
    }
    return binding;
  }

  #atBegin(kind: RateKind, { input_tokens, output_tokens }: Asked): number {
    const out = this.plan.tokens_count === "reserved" ? output_tokens : 0;
    return { requests: 1, tokens: input_tokens + out, input_tokens, output_tokens: out }[kind];
  }

  #set(hidden: HiddenLimit): void {
    if (hidden.kind === "concurrent") this.#concurrent = hidden.limit;
    else this.#rates.set(hidden.kind, { limit: hidden.limit, meter: meterOf(hidden.meter, hidden.limit, hidden.burst_s) });
  }

  #change(now: number): void {
    for (let next = this.plan.changes[this.#changed]; next !== undefined && next.at_ms <= now; next = this.plan.changes[this.#changed]) {
      this.#changed++;
      if (next.kind === "concurrent") {
        this.#concurrent = next.limit;
        continue;
      }
      const rate = this.#rates.get(next.kind);
      if (rate === undefined) throw new RangeError(`changes: ${next.kind} has no limit that could change`);
      rate.limit = next.limit;
      rate.meter.setLimit(next.limit, now);
    }
  }
}

/** Of kinds that count requests or tokens, those that the plan limits. */
export const limitedRates = ({ limits }: ProviderPlan): RateKind[] => RATE_KINDS.filter((kind) => limits.some((limit) => limit.kind === kind));
