import type { LimitKind } from "../../../../src/endpoint-limits/limit-kinds.ts";
import type { ProviderPlan } from "./provider-plan.ts";

const SECOND_MS = 1_000;

interface Second {
  taken: number;
  refused: number;
  input_tokens: number;
  output_tokens: number;
  /** Milliseconds times requests in flight. */
  flight: number;
}

const NOTHING: Second = { taken: 0, refused: 0, input_tokens: 0, output_tokens: 0, flight: 0 };

/** What a provider has taken and refused, second by second, for measuring how much of its limits was used. Milliseconds since its start. */
export class ProviderTally {
  readonly #plan: ProviderPlan;
  readonly #seconds: Second[] = [];
  readonly #because = new Map<LimitKind | "storm", number>();
  #inFlight = 0;
  #flightAt = 0;
  /** Most requests that were in flight at once. */
  most = 0;

  constructor(plan: ProviderPlan) {
    this.#plan = plan;
  }

  taken({ input_tokens, output_tokens }: { readonly input_tokens: number; readonly output_tokens: number }, now: number): void {
    this.#flow(now);
    const second = this.#at(now);
    second.taken++;
    second.input_tokens += input_tokens;
    if (this.#plan.tokens_count === "reserved") second.output_tokens += output_tokens;
    this.#inFlight++;
    this.most = Math.max(this.most, this.#inFlight);
  }

  refused(_status: number, because: LimitKind | null, now: number): void {
    this.#at(now).refused++;
    const reason = because ?? "storm";
    this.#because.set(reason, (this.#because.get(reason) ?? 0) + 1);
  }

  ended(_asked: unknown, outputTokens: number, now: number): void {
    this.#flow(now);
    if (this.#plan.tokens_count === "used") this.#at(now).output_tokens += outputTokens;
    this.#inFlight--;
  }

  /** Refusals by what bound. */
  get because(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#because);
  }

  /** Requests taken and refused in `[from, to)`, to whole seconds. */
  requests(from: number, to: number): { readonly taken: number; readonly refused: number } {
    const seconds = this.#between(from, to);
    return { taken: sum(seconds, "taken"), refused: sum(seconds, "refused") };
  }

  /** Share of requests in `[from, to)` that were refused. */
  refusedShare(from: number, to: number): number {
    const { taken, refused } = this.requests(from, to);
    return taken + refused === 0 ? 0 : refused / (taken + refused);
  }

  /** What was used of the limit of a kind in `[from, to)`, as a share of what there was of it: the limit as it was at each time, storms left out. */
  use(kind: LimitKind, from: number, to: number): number {
    const there = this.#there(kind, from, to);
    return there === 0 ? 0 : this.#used(kind, this.#between(from, to)) / there;
  }

  /** Of all limits the one that most was used of: what a client can use of a provider is bounded by it. */
  bestUse(from: number, to: number): number {
    return Math.max(0, ...this.#plan.limits.map(({ kind }) => this.use(kind, from, to)));
  }

  #used(kind: LimitKind, seconds: readonly Second[]): number {
    switch (kind) {
      case "concurrent":
        return sum(seconds, "flight");
      case "requests":
        return sum(seconds, "taken");
      case "tokens":
        return sum(seconds, "input_tokens") + sum(seconds, "output_tokens");
      default:
        return sum(seconds, kind);
    }
  }

  /** Requests or tokens that could be taken, or milliseconds times requests. */
  #there(kind: LimitKind, from: number, to: number): number {
    let limits = 0;
    for (let at = from; at < to; at += SECOND_MS) {
      if (this.#plan.storms.some(({ from_ms, to_ms }) => at >= from_ms && at < to_ms)) continue;
      limits += this.#limitAt(kind, at);
    }
    return kind === "concurrent" ? limits * SECOND_MS : limits / 60;
  }

  #limitAt(kind: LimitKind, at: number): number {
    const changed = this.#plan.changes.filter((change) => change.kind === kind && change.at_ms <= at).at(-1);
    return changed?.limit ?? this.#plan.limits.find((limit) => limit.kind === kind)?.limit ?? 0;
  }

  #between(from: number, to: number): readonly Second[] {
    return this.#seconds.slice(Math.floor(from / SECOND_MS), Math.ceil(to / SECOND_MS)).filter((second) => second !== undefined);
  }

  #at(now: number): Second {
    const index = Math.floor(now / SECOND_MS);
    const second = this.#seconds[index] ?? { ...NOTHING };
    this.#seconds[index] = second;
    return second;
  }

  /** Time has passed with as many in flight as there are. */
  #flow(now: number): void {
    while (this.#flightAt < now) {
      const end = Math.min(now, (Math.floor(this.#flightAt / SECOND_MS) + 1) * SECOND_MS);
      this.#at(this.#flightAt).flight += this.#inFlight * (end - this.#flightAt);
      this.#flightAt = end;
    }
  }
}

const sum = (seconds: readonly Second[], field: keyof Second): number => seconds.reduce((total, second) => total + second[field], 0);
