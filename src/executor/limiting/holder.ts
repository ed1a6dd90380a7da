import type { Bound, HolderReport, Share } from "../../../durable-objects/limiter/limiter-control.ts";
import type { Permits } from "../../clients/client.ts";
import type { Gate } from "../../clients/gate.ts";
import { WaitingLine } from "../../clients/waiting-line.ts";
import type { AttemptOutcome, RequestCost } from "../../endpoint-limits/limit-kinds.ts";
import { Balance } from "./balance.ts";

/** What a Limiter is told of a holder that does not change. */
export interface HolderName extends Pick<HolderReport, "id" | "run" | "team" | "kind" | "priority" | "caps"> {
  /** The grant's own limit; holders of several places share it. */
  readonly gate: Gate;
  /** Whether a request is to be sent though the endpoint is down and it is not its turn: it has waited long enough, or another place takes it. */
  readonly passes?: () => boolean;
}

/** What a holder needs of the link that it is of (`limiter-link.ts`). */
export interface HolderLink {
  /** Milliseconds. */
  readonly now: () => number;
  /** Nothing but the gate keeps requests from beginning. */
  readonly isFree: boolean;
  /** Nothing but the gate, a pause or the circuit does. */
  readonly isOpen: boolean;
  /** Whether shares still hold. */
  readonly isValid: boolean;
  /** Null = it is not paused. */
  readonly pausedUntil: number | null;
  readonly circuit: { readonly isOpen: boolean; readonly mayAsk: boolean };
  /** Whether neither pause nor circuit keeps a request from beginning. */
  lets(passes: (() => boolean) | undefined): boolean;
  /** Calls `then` at that time, unless the function that it gives back was called before. */
  at(at: number, then: () => void): () => void;
  began(): void;
  ended(outcome: AttemptOutcome | undefined): void;
  /** It begins to wait for the Limiter. */
  waits(holder: Holder): void;
  closed(holder: Holder): void;
  reopened(holder: Holder): void;
}

/** How often a line looks whether one of it passes an endpoint that is down. Milliseconds. */
const LOOK_MS = 1_000;
/** Timers of the platform have whole milliseconds. */
const SAME_MS = 1;
const NOTHING: RequestCost = { input_tokens: 0, output_tokens: 0 };

/**
 * The permits of one grant at one place: a request begins when the grant's gate and the Limiter's share both allow it. Requests wait in one line, in the
 * order in which they came. None holds a permit of the gate while it waits for the share; for the gate the whole line waits with one place in it.
 */
export class Holder implements Permits {
  readonly reads = true;
  #name: HolderName;
  readonly #link: HolderLink;
  readonly #line = new WaitingLine<RequestCost>();
  readonly #balance = new Balance();
  #inFlight = 0;
  #sent = 0;
  #accepted = 0;
  /** Of all accepted requests. */
  #total = { count: 0, input: 0, output: 0 };
  /** Requests in flight at once by its share; null = as many as the gate allows; undefined = it has no share yet. */
  #concurrent: number | null | undefined;
  #bound: Bound | null = null;
  /** The Limiter has not answered for it: what its team was given, and its caps, hold also where nothing else is limited. */
  #isUnheard = true;
  /** Since when what requests take is counted: what began before took nothing of a balance. */
  #countedSince = Number.POSITIVE_INFINITY;
  #giveUpGate: (() => void) | null = null;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  #waitsForShare = false;
  #closed = false;

  /** Made by `LimiterLink.open`. */
  constructor(name: HolderName, link: HolderLink) {
    this.#name = name;
    this.#link = link;
  }

  /** It keeps to a bound together with others, of which only the Limiter knows what they have. */
  get isCapped(): boolean {
    return this.name.caps.length > 0;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests that the Limiter keeps waiting, and not the gate. */
  get waiting(): number {
    return this.#waitsForShare ? this.#line.length : 0;
  }

  /** What keeps them waiting, by its share; null = nothing that is known. Another holder of the link may wait for something else, of which this one is not to know. */
  get bound(): Bound | null {
    return this.waiting === 0 ? null : this.#bound;
  }

  /** Whether it is of no more use to the link. */
  get isOver(): boolean {
    return this.#closed && this.#inFlight === 0 && this.#line.length === 0;
  }

  enter(signal?: AbortSignal | null, cost: RequestCost = NOTHING): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#line.length === 0 && this.#mayBegin() && this.name.gate.tryEnter()) {
      this.#begin(cost);
      return Promise.resolve();
    }
    const admitted = this.#line.wait(cost, signal);
    // A request of a grant that is over, such as a judge's while its environment is taken down.
    if (this.#closed) this.#link.reopened(this);
    if (this.#line.length === 1) {
      // Those before it may have given up.
      this.#waitsForShare = false;
      this.pump();
    }
    return admitted;
  }

  leave(outcome?: AttemptOutcome): void {
    this.#inFlight--;
    if (outcome !== undefined) this.#ended(outcome);
    this.#link.ended(outcome);
    this.name.gate.leave();
    if (this.#line.length > 0) this.pump();
    if (this.#closed) this.#link.closed(this);
  }

  /** The grant is over; what is in flight is told until it has ended. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#link.closed(this);
  }

  /** Lets requests of the line begin, as far as gate and share allow it. */
  pump(): void {
    while (this.#line.length > 0) {
      if (!this.#mayBegin()) {
        this.#waitForShare();
        return;
      }
      if (!this.name.gate.tryEnter()) {
        this.#waitForGate();
        return;
      }
      this.#admit();
    }
    this.#waitsForShare = false;
  }

  /** What it may do from now on. */
  share(share: Share, overMs: number): void {
    const now = this.#link.now();
    this.#concurrent = share.concurrent;
    this.#bound = share.bound ?? null;
    this.#isUnheard = false;
    this.#balance.add(share, overMs, now);
    this.#countedSince = Math.min(this.#countedSince, now);
  }

  /** Nothing limits it but the gate. */
  open(): void {
    this.#concurrent = null;
    this.#bound = null;
    this.#isUnheard = false;
    this.#balance.clear();
    this.#countedSince = Number.POSITIVE_INFINITY;
  }

  get name(): HolderName {
    return this.#name;
  }

  /** Its run has this weight from now on, which the Limiter hears with the next exchange. */
  weigh(priority: number): void {
    this.#name = { ...this.#name, priority };
  }

  /** It has no share. */
  await(): void {
    this.#concurrent = undefined;
    this.#bound = null;
    this.#isUnheard = true;
  }

  /** What was counted since it was asked last. */
  takeCounts(): Pick<HolderReport, "sent" | "accepted"> {
    const counts = { sent: Math.max(0, this.#sent), accepted: this.#accepted };
    this.#sent = 0;
    this.#accepted = 0;
    return counts;
  }

  report(now: number): Omit<HolderReport, "sent" | "accepted"> {
    const { gate, passes: _, ...name } = this.name;
    const { count, input, output } = this.#total;
    return {
      ...name,
      most: Number.isFinite(gate.size) ? gate.size : UNBOUNDED,
      in_flight: this.#inFlight,
      allowed: this.#allowed,
      waiting: this.waiting,
      balance: this.#balance.report(now),
      mean_cost: count === 0 ? null : { input_tokens: input / count, output_tokens: output / count },
    };
  }

  get #allowed(): number | null {
    if (this.#link.isOpen) return null;
    return this.#concurrent === undefined || !this.#link.isValid ? 0 : this.#concurrent;
  }

  #mayBegin(): boolean {
    const link = this.#link;
    if (link.isFree && !this.#isUnheard) return true;
    if (!link.lets(this.name.passes)) return false;
    if (link.isOpen) return !this.#isUnheard;
    const concurrent = this.#concurrent;
    if (concurrent === undefined || !link.isValid || (concurrent !== null && this.#inFlight >= concurrent)) return false;
    // Where nobody else sends anything rates are not used up.
    if (link.circuit.mayAsk) return true;
    const now = link.now();
    return (this.#balance.readyAt(now) ?? Number.POSITIVE_INFINITY) <= now;
  }

  #begin(cost: RequestCost): void {
    this.#inFlight++;
    this.#sent++;
    if (this.#countedSince !== Number.POSITIVE_INFINITY) this.#balance.take(cost);
    this.#link.began();
  }

  #admit(): void {
    this.#begin(this.#line.firstValue ?? NOTHING);
    this.#line.admitFirst();
  }

  #waitForGate(): void {
    this.#waitsForShare = false;
    if (this.#giveUpGate !== null) return;
    this.#giveUpGate = this.name.gate.whenFree(() => {
      this.#giveUpGate = null;
      if (this.#line.length > 0 && this.#mayBegin()) this.#admit();
      else this.name.gate.leave();
      this.pump();
    });
  }

  #waitForShare(): void {
    this.#giveUpGate?.();
    this.#giveUpGate = null;
    if (!this.#waitsForShare) {
      this.#waitsForShare = true;
      this.#link.waits(this);
    }
    this.#wakeAt(this.#wakesAt());
  }

  #wakeAt(at: number | null): void {
    if (at !== null && this.#timer !== null && Math.abs(this.#timer.at - at) < SAME_MS) return;
    this.#timer?.cancel();
    this.#timer = null;
    if (at === null) return;
    const wake = (): void => {
      this.#timer = null;
      this.pump();
    };
    this.#timer = { at, cancel: this.#link.at(at, wake) };
  }

  /** When a request may begin without a further word of the Limiter; null = not at all. */
  #wakesAt(): number | null {
    const link = this.#link;
    if (link.pausedUntil !== null) return link.pausedUntil;
    if (link.circuit.isOpen) return link.now() + LOOK_MS;
    if (link.isOpen || this.#concurrent === undefined || !link.isValid) return null;
    if (this.#concurrent !== null && this.#inFlight >= this.#concurrent) return null;
    return this.#balance.readyAt(link.now());
  }

  #ended(outcome: AttemptOutcome): void {
    const { kind, cost } = outcome;
    const used = outcome.used ?? (kind === "accepted" ? cost : NOTHING);
    if (kind === "unsent") this.#sent--;
    if (kind === "accepted") {
      this.#accepted++;
      this.#total.count++;
      this.#total.input += used.input_tokens;
      this.#total.output += used.output_tokens;
    }
    if (this.#countedSince === Number.POSITIVE_INFINITY || this.#link.now() - outcome.ms < this.#countedSince) return;
    if (kind === "rate_limited" || kind === "overloaded") this.#balance.refused(cost);
    else this.#balance.correct(cost, kind === "unsent" || kind === "missed" ? null : used);
  }
}

/** Of a run without a limit: more than any executor has under way. */
const UNBOUNDED = 1_000_000;
