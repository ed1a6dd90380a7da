import type { Refusal, Sightings } from "../../../durable-objects/limiter/limiter-control.ts";
import type { AttemptOutcome, ToldLimits } from "../../endpoint-limits/limit-kinds.ts";

/** Refusals that are told one by one; of more the number is told. */
export const MAX_REFUSALS = 16;
/** Times of requests are told by powers of two up to 2^22 ms, more than an hour. */
const LATENCY_ENTRIES = 23;

interface Refused extends Omit<Refusal, "ago_ms" | "in_flight"> {
  readonly at: number;
  inFlight: number;
}

/** What an executor sees of an endpoint between two exchanges: sums, and the first refusals. Times are milliseconds of one clock, handed in. */
export class Seen {
  #since: number;
  #counts = { sent: 0, accepted: 0, rate_limited: 0, overloaded: 0, missed: 0, failed: 0 };
  /** Of failed ones. */
  #answered = 0;
  #input = 0;
  #output = 0;
  #refused: Refused[] = [];
  #told: ToldLimits | null = null;
  #latencies: number[] = [];

  constructor(now: number) {
    this.#since = now;
  }

  get refusals(): number {
    return this.#counts.rate_limited + this.#counts.overloaded;
  }

  get missed(): number {
    return this.#counts.missed;
  }

  /** Nothing was looked at before `now`: the time until then says nothing. */
  beginsAt(now: number): void {
    this.#since = now;
  }

  sent(): void {
    this.#counts.sent++;
  }

  /** `inFlight`: requests of this executor there that go on. `now` is asked where it was refused. */
  ended(outcome: AttemptOutcome, inFlight: number, now: () => number): void {
    const { kind } = outcome;
    if (kind === "unsent") {
      this.#counts.sent--;
      return;
    }
    this.#counts[kind]++;
    if (kind === "failed" && outcome.answered === true) this.#answered++;
    if (outcome.told !== null) this.#told = outcome.told;
    if (kind === "accepted") {
      const { input_tokens, output_tokens } = outcome.used ?? outcome.cost;
      this.#input += input_tokens;
      this.#output += output_tokens;
      const entry = latencyEntry(outcome.ms);
      while (this.#latencies.length <= entry) this.#latencies.push(0);
      this.#latencies[entry] = (this.#latencies[entry] ?? 0) + 1;
    } else if (kind === "rate_limited" || kind === "overloaded") this.#refusal(kind, outcome, inFlight, now());
  }

  #refusal(kind: Refusal["kind"], { ms, named, named_limit, retry_after_ms, told }: AttemptOutcome, inFlight: number, now: number): void {
    // Requests that were under way beside an earlier refusal, and are refused too, were none that the endpoint had taken.
    for (const earlier of this.#refused) if (now - ms <= earlier.at) earlier.inFlight = Math.max(0, earlier.inFlight - 1);
    if (this.#refused.length < MAX_REFUSALS) this.#refused.push({ kind, at: now, named, named_limit, retry_after_ms, told, inFlight });
  }

  /** All of it, as of `now`. */
  told(now: number): Sightings {
    const { sent, ...outcomes } = this.#counts;
    return {
      over_ms: Math.max(0, now - this.#since),
      // A permit that was given back unused may be of the time before.
      sent: Math.max(0, sent),
      ...outcomes,
      answered: this.#answered,
      used: { input_tokens: this.#input, output_tokens: this.#output },
      refusals: this.#refused.map(({ at, inFlight, ...refusal }) => ({ ...refusal, ago_ms: Math.max(0, now - at), in_flight: inFlight })),
      told: this.#told,
      latencies: this.#latencies,
    };
  }
}

/** Position of the highest bit; a time below 2 ms is in the first entry. */
const latencyEntry = (ms: number): number => Math.min(LATENCY_ENTRIES - 1, Math.max(0, 31 - Math.clz32(ms)));
