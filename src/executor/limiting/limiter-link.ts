import {
  type Bound,
  type ExchangeAnswer,
  type ExchangeRequest,
  type HolderReport,
  LIMITER_PROTOCOL,
  type Sightings,
} from "../../../durable-objects/limiter/limiter-control.ts";
import type { AttemptOutcome } from "../../endpoint-limits/limit-kinds.ts";
import { ANSWER_MS, type ExchangePorts, LEAVE_TRIES, NextExchange, repeatMs, SOON_MS } from "../exchange-pacing.ts";
import { Circuit } from "./circuit.ts";
import { Holder, type HolderLink, type HolderName } from "./holder.ts";
import { Seen } from "./seen.ts";

/** Of the time that the Limiter gives between two exchanges, what has to go by before one that is early. */
const SOON_SHARE = 0.25;
/** A Limiter that answers nothing for so long is taken for one that there is not, so that no run waits for ever. Milliseconds. */
const GONE_MS = 5 * 60_000;
/** After a Limiter has refused to say anything it is asked again so much later. Milliseconds. */
const REFUSED_MS = 60_000;
export type LinkPorts = ExchangePorts<ExchangeRequest, ExchangeAnswer, "silent" | "gone" | "refused">;

export type LinkName = Pick<ExchangeRequest, "executor" | "boot" | "runtime" | "place">;

/** What an exchange said that is not answered yet; repeated as it is, since the Limiter may have counted it. */
interface Unanswered {
  readonly seen: Sightings;
  readonly counts: ReadonlyMap<Holder, Pick<HolderReport, "sent" | "accepted">>;
}

type Ok = Extract<ExchangeAnswer, { kind: "ok" }>;

/**
 * What one executor has with one Limiter: it says now and then what its holders do and what was seen of the endpoint, and is told what they may do. Nothing
 * is sent for a single request. It is of one executor alone, so that its timers and calls are of one invocation.
 */
export class LimiterLink implements HolderLink {
  readonly name: LinkName;
  readonly #ports: LinkPorts;
  readonly #holders = new Set<Holder>();
  readonly circuit: Circuit;
  /** Neither share nor pause nor circuit: what every request looks at first. */
  isFree = false;
  #mode: "unknown" | "open" | "limited" = "unknown";
  #validUntil = Number.NEGATIVE_INFINITY;
  #pausedUntil: number | null = null;
  #bound: Bound | null = null;
  #inFlight = 0;
  #seen: Seen;
  #seq = 0;
  #unanswered: Unanswered | null = null;
  #sending: { readonly at: number; readonly late: () => void } | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #againMs = 0;
  #failures = 0;
  #failingSince: number | null = null;
  /** It is not waited for any more. */
  #isGone = false;
  readonly #next: NextExchange;
  /** How long after the one that is under way the next one is to be sent, where that is not the usual time; null = it is. */
  #hurryMs: number | null = null;
  #left: (() => void)[] = [];
  /** Of holders that it has answered for: what they were given is known there. */
  readonly #teams = new Set<string>();
  /** Holders that waited in the last exchange. */
  #known = new Set<Holder>();

  constructor(name: LinkName, ports: LinkPorts) {
    this.name = name;
    this.#ports = ports;
    this.#next = new NextExchange(ports, () => this.#exchange());
    this.#seen = new Seen(ports.now());
    this.circuit = new Circuit(ports.now, () => {
      this.#soon(SOON_MS);
      this.#changed();
    });
  }

  readonly now = (): number => this.#ports.now();

  /** Nothing but the grant's own gate limits how many requests are under way. */
  get isOpen(): boolean {
    return this.#mode === "open";
  }

  /** Whether shares still hold. */
  get isValid(): boolean {
    return this.now() < this.#validUntil;
  }

  /** By the Limiter's word, and the clock handed in; null = it is not paused. */
  get pausedUntil(): number | null {
    if (this.#pausedUntil !== null && this.now() >= this.#pausedUntil) this.#pausedUntil = null;
    return this.#pausedUntil;
  }

  /** What keeps requests waiting, as last heard; null = nothing. */
  get bound(): Bound | null {
    return this.#bound;
  }

  /** Requests of this executor that are under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  open(name: HolderName): Holder {
    const holder = new Holder(name, this);
    this.reopened(holder);
    return holder;
  }

  /** Says at once that it has nothing more here; `left` is called when the Limiter knows it or cannot be told. */
  leave(left: () => void): void {
    if (this.#holders.size === 0 && !this.#next.isPlanned && this.#sending === null) return left();
    this.#left.push(left);
    for (const holder of this.#holders) {
      holder.close();
      this.#drop(holder);
    }
    if (this.#sending === null) this.#exchange();
    else this.#hurryMs = 0;
  }

  // What follows is for its holders.

  /** Whether neither pause nor circuit keeps a request from beginning; one that begins for the circuit's sake has taken its turn. */
  lets(passes: (() => boolean) | undefined): boolean {
    if (this.pausedUntil !== null) return false;
    if (this.circuit.isOpen) return this.circuit.mayAsk || passes?.() === true;
    this.#look();
    return true;
  }

  at(at: number, then: () => void): () => void {
    return this.#ports.timer(Math.max(1, Math.ceil(at - this.now())), then);
  }

  began(): void {
    this.#inFlight++;
    this.#seen.sent();
    if (this.circuit.isOpen) this.circuit.asked();
  }

  ended(outcome: AttemptOutcome | undefined): void {
    this.#inFlight--;
    if (outcome === undefined) return;
    const { refusals, missed } = this.#seen;
    this.#seen.ended(outcome, this.#inFlight, this.now);
    if (outcome.kind === "unsent") return;
    const isFirst = (refusals === 0 && this.#seen.refusals > 0) || (missed === 0 && this.#seen.missed > 0);
    if (isFirst) this.#soon(SOON_MS);
    // Whoever was given up before an answer began says nothing.
    if (outcome.kind !== "missed" && (outcome.kind !== "failed" || outcome.answered === true)) this.circuit.close();
  }

  /** A holder begins to wait: the Limiter is told at once, unless it knows. */
  waits(holder: Holder): void {
    if (this.#mode === "limited" && !this.#known.has(holder)) this.#soon(Math.max(SOON_MS, this.#againMs * SOON_SHARE));
  }

  /** A holder that is new, or that has something again after it was over. */
  reopened(holder: Holder): void {
    if (this.#holders.has(holder)) return;
    if (this.#holders.size === 0 && this.#mode === "unknown") this.#seen.beginsAt(this.now());
    const isOpen = this.#mode === "open" && (this.#isGone || this.#isKnown(holder));
    if (isOpen) holder.open();
    this.#holders.add(holder);
    // In mode open it can wait: it has all that it could be given.
    if (isOpen) this.#schedule(this.#againMs);
    else if (this.#mode === "unknown" && this.#failures === 0 && this.#sending === null) this.#exchange();
    else this.#soon(SOON_MS);
  }

  closed(holder: Holder): void {
    if (!holder.isOver || !this.#holders.has(holder)) return;
    this.#drop(holder);
    if (this.#mode === "limited") this.#soon(SOON_MS);
  }

  #drop(holder: Holder): void {
    this.#holders.delete(holder);
    holder.await();
  }

  /** Whether requests may begin as the gate has it, without a look at anything else. */
  #look(): void {
    this.isFree = this.#mode === "open" && this.#pausedUntil === null && !this.circuit.isOpen;
  }

  #changed(): void {
    this.#look();
    for (const holder of this.#holders) holder.pump();
  }

  /** An exchange no later than in `ms` after the last one was sent. */
  #soon(ms: number): void {
    if (this.#sending !== null) this.#hurryMs = Math.min(ms, this.#hurryMs ?? ms);
    else if (this.#failures === 0) this.#schedule(Math.max(0, this.#sentAt + ms - this.now()));
  }

  #schedule(ms: number): void {
    if (this.#sending === null) this.#next.plan(ms);
  }

  #exchange(): void {
    const now = this.now();
    this.#next.drop();
    const request = this.#request(now);
    this.#sentAt = now;
    this.#hurryMs = null;
    const sending = { at: now, late: this.#ports.timer(ANSWER_MS, () => failed("no answer")) };
    this.#sending = sending;
    // An answer that was given up is not taken any more: its validity counts from a time long ago, and another may have come since.
    const isOver = (): boolean => {
      if (this.#sending !== sending) return true;
      sending.late();
      this.#sending = null;
      return false;
    };
    const failed = (message: string): void => {
      if (!isOver()) this.#failed(message);
    };
    const answered = (answer: ExchangeAnswer): void => {
      if (!isOver()) this.#answered(answer, request, now);
    };
    this.#ports.send(request, answered, failed);
  }

  #request(now: number): ExchangeRequest {
    // Of one that is over those that waited may have given up.
    for (const holder of this.#holders) if (holder.isOver) this.#drop(holder);
    if (this.#unanswered === null) {
      this.#seq++;
      this.#unanswered = { seen: this.#seen.told(now), counts: new Map([...this.#holders].map((holder) => [holder, holder.takeCounts()])) };
      this.#seen = new Seen(now);
    }
    const { seen, counts } = this.#unanswered;
    this.#known = new Set([...this.#holders].filter(({ waiting }) => waiting > 0));
    const holders = [...this.#holders].map((holder) => ({ ...holder.report(now), ...(counts.get(holder) ?? { sent: 0, accepted: 0 }) }));
    return { protocol: LIMITER_PROTOCOL, ...this.name, seq: this.#seq, holders, seen };
  }

  #failed(message: string): void {
    this.#failures++;
    const wait = repeatMs(this.#failures, this.#ports.random());
    this.#failingSince ??= this.now();
    const failing = this.now() - this.#failingSince;
    if (failing >= ANSWER_MS) this.#ports.onTrouble?.("silent", message);
    if (failing >= GONE_MS && !this.#isGone) {
      this.#isGone = true;
      this.#ports.onTrouble?.("gone", message);
      this.#unbind();
    }
    if (this.#holders.size === 0 && this.#failures >= LEAVE_TRIES) return this.#stop();
    this.#schedule(wait);
  }

  #answered(answer: ExchangeAnswer, request: ExchangeRequest, sentAt: number): void {
    this.#failures = 0;
    this.#isGone = false;
    this.#unanswered = null;
    if (this.#failingSince !== null) {
      this.#failingSince = null;
      this.#ports.onTrouble?.(null, "");
    }
    if (answer.kind === "refused") return this.#refused(answer.message);
    this.#take(answer, request, sentAt);
    if (request.holders.length === 0 && this.#holders.size === 0) return this.#stop();
    this.#schedule(this.#againMs * (1 - 0.1 * this.#ports.random()));
    if (this.#hurryMs !== null) this.#soon(this.#hurryMs);
  }

  /** As without a Limiter, until it is asked again. */
  #refused(message: string): void {
    this.#ports.onTrouble?.("refused", message);
    this.#againMs = REFUSED_MS;
    this.#unbind();
    if (this.#holders.size === 0) this.#stop();
    else this.#schedule(REFUSED_MS);
  }

  #unbind(): void {
    this.#open(null);
    this.#bound = null;
    this.#pausedUntil = null;
    this.circuit.told(null);
    this.#changed();
  }

  /** `asked`: those that the Limiter knew of when it said so; null = it keeps to nothing, and knows of nobody. */
  #open(asked: ExchangeRequest | null): void {
    const known = new Set(asked?.holders.map(({ id }) => id));
    this.#mode = "open";
    for (const holder of this.#holders) {
      if (asked === null || known.has(holder.name.id) || this.#isKnown(holder)) holder.open();
      else holder.await();
    }
  }

  /** Whether the Limiter would say nothing else of it than of others that it has answered for. */
  #isKnown({ isCapped, name }: Holder): boolean {
    return !isCapped && this.#teams.has(name.team);
  }

  #take(answer: Ok, request: ExchangeRequest, sentAt: number): void {
    const now = this.now();
    this.#againMs = answer.again_ms;
    this.#validUntil = sentAt + answer.valid_ms;
    this.#bound = answer.bound;
    this.#pausedUntil = answer.pause_ms === null ? null : now + answer.pause_ms;
    this.circuit.told(answer.down === null ? null : { since: now - answer.down.since_ms, ask: answer.down.ask, until: this.#heardUntil(answer, sentAt) });
    for (const { team } of request.holders) this.#teams.add(team);
    if (answer.mode === "open") this.#open(request);
    else this.#limit(answer, request);
    this.#changed();
  }

  /** How long what is said of a pause or an outage holds where nothing more is heard. */
  #heardUntil({ valid_ms, again_ms }: Ok, sentAt: number): number {
    return sentAt + Math.max(valid_ms, 2 * again_ms + ANSWER_MS);
  }

  #limit({ shares, over_ms }: Ok, request: ExchangeRequest): void {
    if (this.#mode !== "limited") for (const holder of this.#holders) holder.await();
    this.#mode = "limited";
    const asked = new Set(request.holders.map(({ id }) => id));
    const given = new Map(shares.map((share) => [share.id, share]));
    for (const holder of this.#holders) {
      const share = given.get(holder.name.id);
      if (share !== undefined) holder.share(share, over_ms);
      // One that is not answered for has nothing; one that was not asked for yet, what it had.
      else if (asked.has(holder.name.id)) holder.await();
    }
  }

  #stop(): void {
    this.#next.drop();
    // Whoever comes later begins as one that knows nothing: what was heard may be long ago, and so may what was not answered.
    this.#mode = "unknown";
    this.#failures = 0;
    this.#failingSince = null;
    this.#isGone = false;
    this.#pausedUntil = null;
    this.#bound = null;
    this.#teams.clear();
    this.circuit.told(null);
    this.#look();
    const left = this.#left;
    this.#left = [];
    for (const each of left) each();
  }
}
