import type { BeatAnswer, ClaimAnswer, GivesBack, Grant } from "../../../durable-objects/run/protocol.ts";
import { SEGMENT_AGE_MS } from "../../limits.ts";
import { Flushes } from "./flushes.ts";
import { Holdings } from "./holdings.ts";
import { Pacing } from "./pacing.ts";
import type { Effect, SessionEvent, SessionTiming, UnitWork } from "./session-events.ts";
import { UnitTimes } from "./unit-times.ts";

/** How far ahead units are claimed. A claim costs three rows, a unit that is claimed and not begun just goes back. */
const SOON_MS = 5_000;
const FLUSH_MIN_MS = 200;
const FLUSH_MAX_MS = 5_000;
const FEW_UNITS = 10;

/**
 * The protocol of one grant, from the executor's side, as a pure machine: events in, effects out, no clock and no I/O of its
 * own. The driver (`units-ticket.ts`) carries the effects out and reports what came of them; the simulator does the same with
 * messages that are lost, late or doubled. Times are milliseconds of the executor's own clock.
 */
export class Session {
  readonly grant: Grant;
  readonly #timing: SessionTiming;
  #leaseFrom: number;
  #beatSentAt: number;
  #beatInFlight = false;
  #seq = 0;
  /** False while the answer to the newest `seq` is outstanding: a lost answer is asked for again under the same one. */
  #seqDone = true;
  #claimInFlight = false;
  #claimAt = 0;
  /** Pending units the Run spoke of in its last empty answer; 0 = nothing to wait for. */
  #pendingElsewhere = 1;
  #queue: UnitWork[] = [];
  readonly #running = new Set<number>();
  readonly #pacing: Pacing;
  readonly #holdings: Holdings;
  /** Of those running, the ones that are generated and wait for their scores, and the ones that are being scored. */
  readonly #unscored = new Set<number>();
  readonly #scoring = new Set<number>();
  /** The newest claim found nothing for a free lane: what is running is all there is for now. */
  #dry = false;
  #asked = 0;
  #buffered: number[] = [];
  #bufferedSince = 0;
  #full = false;
  readonly #flushes = new Flushes();
  /** The last beat failed: whoever cannot be told of a unit may not be able to take its rows either. */
  #unheard = false;
  #beatRetryAt = Number.POSITIVE_INFINITY;
  /** Something of this grant was committed: storage takes what is given to it. */
  #proven = false;
  /** Units begun whose rows an earlier grant could not commit. */
  readonly #saving = new Set<number>();
  #unreportedSince: number | null = null;
  #stopping: "drain" | "abort" | null = null;
  #fenced = false;
  #over = false;

  /** `sentAt`: when the join was sent; the lease counts from there. */
  constructor(grant: Grant, timing: SessionTiming, sentAt: number) {
    this.grant = grant;
    this.#holdings = new Holdings(grant);
    this.#timing = timing;
    this.#pacing = new Pacing(grant, timing.wall ?? null, timing.times ?? new UnitTimes());
    this.#leaseFrom = sentAt;
    this.#beatSentAt = sentAt;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** What this grant has under way at most: less than was granted once some of it is given back. */
  get holdings(): Pick<Holdings, "allowed" | "requests" | "isFalling"> {
    return this.#holdings;
  }

  /** Goes with every claim, beat and commit. */
  get givesBack(): GivesBack {
    return this.#holdings.told(this.#running.size);
  }

  /** When the driver must call `tick` at the latest. */
  nextTick(now: number): number {
    const due = [this.#leaseFrom + this.grant.lease_ms - this.#timing.margin, this.#nextBeat(), ...this.#flushes.retries];
    if (this.#buffered.length > 0) due.push(this.#bufferedSince + this.#flushAge());
    if (this.#wantsClaim()) due.push(this.#claimAt);
    if (this.#unreportedSince !== null) due.push(this.#unreportedSince + this.grant.beat_ms / 4);
    return Math.max(now, Math.min(...due));
  }

  step(event: SessionEvent, now: number): Effect[] {
    if (this.#over) return [];
    const effects: Effect[] = [];
    this.#take(event, now, effects);
    this.#proceed(now, effects);
    return effects;
  }

  #take(event: SessionEvent, now: number, effects: Effect[]): void {
    switch (event.type) {
      case "tick":
        return;
      case "claimed":
        if (event.seq === this.#seq && this.#claimInFlight) this.#takeClaim(event.answer, now, effects);
        return;
      case "claim-failed":
        if (event.seq !== this.#seq || !this.#claimInFlight) return;
        this.#claimInFlight = false;
        this.#claimAt = now + event.wait;
        return;
      case "unit-finished":
        this.#finishUnit(event.unit, event.full, now);
        return;
      case "rollout-ended":
        return this.#pacing.rolloutEnded(event.unit);
      case "unit-generated":
        if (this.#running.has(event.unit)) this.#unscored.add(event.unit);
        return;
      case "unit-dropped":
        this.#end(event.unit);
        this.#saving.delete(event.unit);
        return;
      case "stored":
        return this.#flushes.stored(event.n);
      case "store-failed":
      case "commit-failed":
        return this.#flushes.failed(event.n, now + event.wait);
      case "committed":
        if (event.answer.kind === "gone") this.#stop("abort", effects);
        else if (event.answer.orders !== "continue") this.#stop(event.answer.orders, effects);
        this.#flushes.committed(event.n);
        this.#proven = true;
        // With nothing open there may be work that was refused a moment ago: a suspect unit, which is handed out alone.
        if (this.#open() === 0) this.#claimAt = Math.min(this.#claimAt, now);
        return;
      case "beaten":
        this.#beatInFlight = false;
        this.#takeBeat(event.sentAt, event.answer, effects);
        return;
      case "beat-failed":
        // A later one was answered.
        if (event.sentAt < this.#leaseFrom) return;
        this.#beatInFlight = false;
        this.#unheard = true;
        this.#beatRetryAt = now + event.wait;
        return;
      case "flush":
        this.#full = true;
        return;
      case "narrow":
        return this.#narrow(event.requests, effects);
      case "narrowed":
        return this.#holdings.reach(event.requests);
      case "stop":
        this.#stop(event.how, effects);
    }
  }

  #takeClaim(answer: ClaimAnswer, now: number, effects: Effect[]): void {
    this.#claimInFlight = false;
    this.#claimAt = now;
    this.#seqDone = true;
    this.#dry = answer.kind !== "block" && this.#asked > 0;
    if (answer.kind === "block") {
      this.#pendingElsewhere = 1;
      for (let unit = answer.lo; unit < answer.hi; unit++) this.#queue.push({ unit, block: answer });
      if (this.#stopping !== null) this.#queue = [];
      return;
    }
    if (answer.kind === "empty") {
      this.#pendingElsewhere = answer.pending;
      this.#claimAt = now + this.#timing.idle;
      return;
    }
    this.#stop(answer.kind === "closed" ? "drain" : "abort", effects);
    if (answer.kind !== "closed") this.#fenced = true;
  }

  #finishUnit(unit: number, full: boolean, now: number): void {
    if (!this.#running.has(unit)) return;
    this.#pacing.finish(unit, now);
    this.#end(unit);
    if (this.#buffered.length === 0) this.#bufferedSince = now;
    this.#buffered.push(unit);
    this.#full ||= full;
  }

  #end(unit: number): void {
    this.#running.delete(unit);
    this.#pacing.end(unit);
    this.#unscored.delete(unit);
    this.#scoring.delete(unit);
  }

  #takeBeat(sentAt: number, answer: BeatAnswer, effects: Effect[]): void {
    this.#unheard = false;
    if (answer.kind === "lost" || answer.kind === "gone") {
      this.#fence(effects);
      return;
    }
    this.#leaseFrom = Math.max(this.#leaseFrom, sentAt);
    if (answer.kind === "drain") this.#stop("drain", effects);
    if (answer.kind === "abort") this.#stop("abort", effects);
  }

  #stop(how: "drain" | "abort", effects: Effect[]): void {
    this.#queue = [];
    if (how === "abort" && this.#stopping !== "abort") effects.push({ type: "abort" });
    if (this.#stopping !== "abort") this.#stopping = how;
  }

  /** The lease is over or about to be: nothing of this grant may go on, and nothing it has is worth committing later. */
  #fence(effects: Effect[]): void {
    this.#stop("abort", effects);
    this.#fenced = true;
  }

  /** Age at which the buffer is flushed: half the mean unit time; few units wait longer for company, since each flush has a price. */
  #flushAge(): number {
    const age = this.#buffered.length < FEW_UNITS ? this.#pacing.mean * 2 : this.#pacing.mean / 2;
    return Math.min(this.#oldestFlush(), Math.max(FLUSH_MIN_MS, age));
  }

  /** Deployed a commit has a price and nobody watches row by row; what no lease holds any more is not kept back. */
  #oldestFlush(): number {
    const { wall, margin } = this.#timing;
    return wall === undefined ? FLUSH_MAX_MS : Math.max(FLUSH_MIN_MS, Math.min(SEGMENT_AGE_MS, this.grant.lease_ms - margin));
  }

  /** Units expected to be begun within the next seconds at the present pace. */
  #soon(): number {
    const { mean } = this.#pacing;
    return mean <= 0 ? 0 : Math.floor((this.#holdings.allowed.lanes * SOON_MS) / Math.max(1, mean));
  }

  #open(): number {
    return this.#queue.length + this.#running.size + this.#buffered.length + this.#flushes.units.length;
  }

  #free(): number {
    return Math.max(0, this.#room() - this.#queue.length);
  }

  #generating(): number {
    return this.#running.size - this.#unscored.size - this.#scoring.size;
  }

  /** Units that may begin beside those that are open: a unit gives its lane back when it has only its scores to wait for. */
  #room(): number {
    const { hold = Number.POSITIVE_INFINITY } = this.#timing;
    const generating = this.#generating();
    const { allowed } = this.#holdings;
    return Math.min(allowed.lanes - generating, hold - this.#unscored.size - generating, this.#pacing.room(allowed));
  }

  /** What is finished now may not be stored: nothing is begun that would be paid for, until it is known that it can be. */
  get #isTroubled(): boolean {
    return this.#unheard || this.#flushes.areFailing;
  }

  #wantsClaim(): boolean {
    if (this.#stopping !== null || this.#claimInFlight || this.#isTroubled) return false;
    return this.#free() > 0 || this.#queue.length < this.#soon() / 2;
  }

  #started(): number[] {
    return [...this.#running, ...this.#buffered, ...this.#flushes.units];
  }

  #report(): number[] {
    this.#unreportedSince = null;
    return this.#started();
  }

  #proceed(now: number, effects: Effect[]): void {
    if (!this.#fenced && now >= this.#leaseFrom + this.grant.lease_ms - this.#timing.margin) this.#fence(effects);
    // Nothing more would be done in time: others do it, and what is open goes on.
    if (this.#stopping === null && this.#room() > 0 && !this.#pacing.fits(this.#holdings.allowed, now)) this.#stop("drain", effects);
    if (this.#stopping === null) this.#startUnits(now, effects);
    this.#score(effects);
    this.#giveBackRest(effects);
    if (!this.#fenced) this.#flush(now, effects);
    if (!this.#fenced) this.#keepLease(now, effects);
    if (this.#wantsClaim() && now >= this.#claimAt) this.#claim(effects);
    this.#maybeLeave(effects);
  }

  #startUnits(now: number, effects: Effect[]): void {
    // Storage is slower than the model: no new units until it has caught up, or rows would pile up in memory.
    if (this.#isTroubled || (this.#full && this.#flushes.areAllTaken)) return;
    const started: Effect[] = [];
    let wary = false;
    while (this.#room() > 0 && this.#scoring.size === 0) {
      const work = this.#nextWork();
      // Its report must go out with it: no start while an earlier report is under way.
      if (work === undefined || (work.block.wary && this.#isBeating(now))) break;
      this.#queue.splice(this.#queue.indexOf(work), 1);
      this.#running.add(work.unit);
      this.#pacing.begin(work, now);
      if (this.#timing.saved?.(work.unit) === true) this.#saving.add(work.unit);
      this.#unreportedSince ??= now;
      wary ||= work.block.wary;
      started.push({ type: "start", work });
    }
    if (wary) this.#beat(now, effects);
    effects.push(...started);
  }

  /** Rows that an earlier grant could not commit go first, and alone: nothing is paid for before they are. */
  #nextWork(): UnitWork | undefined {
    const { saved } = this.#timing;
    if (saved === undefined || this.#proven) return this.#queue[0];
    const known = this.#queue.find(({ unit }) => saved(unit));
    if (known !== undefined) return known;
    return this.#saving.size > 0 ? undefined : this.#queue[0];
  }

  #narrow(requests: number, effects: Effect[]): void {
    if (this.#holdings.narrow(requests)) effects.push({ type: "narrow", holding: this.#holdings.allowed });
  }

  /** What begins nothing more needs no more than its open units may ask for. */
  #giveBackRest(effects: Effect[]): void {
    if (this.#stopping !== null || this.#isExhausted) this.#narrow(this.#running.size * this.grant.config.rollouts_per_example, effects);
  }

  /** Nothing is left to begin, here or for a claim. */
  get #isExhausted(): boolean {
    return this.#queue.length === 0 && this.#pendingElsewhere === 0 && !this.#claimInFlight && this.#seqDone;
  }

  /** Scores what is generated, all of it at once, when no more may be generated before, or is to be had. */
  #score(effects: Effect[]): void {
    if (this.#unscored.size === 0 || this.#scoring.size > 0 || this.#generating() > 0) return;
    const last = this.#queue.length === 0 && (this.#stopping !== null || (this.#dry && !this.#claimInFlight));
    if (!last && this.#room() > 0) return;
    effects.push({ type: "score", units: [...this.#unscored] });
    for (const unit of this.#unscored) this.#scoring.add(unit);
    this.#unscored.clear();
  }

  #flush(now: number, effects: Effect[]): void {
    const idle = this.#running.size === 0 && this.#queue.length === 0;
    const due = this.#full || idle || now >= this.#bufferedSince + this.#flushAge();
    if (this.#buffered.length > 0 && due && !this.#flushes.areAllTaken) {
      effects.push(this.#flushes.begin(this.#buffered));
      this.#buffered = [];
      this.#full = false;
    }
    effects.push(...this.#flushes.due(now));
  }

  #keepLease(now: number, effects: Effect[]): void {
    const unreported = this.#unreportedSince !== null && now >= this.#unreportedSince + this.grant.beat_ms / 4;
    if (this.#isBeating(now)) return;
    if (!unreported && now < this.#nextBeat()) return;
    this.#beat(now, effects);
  }

  #nextBeat(): number {
    return Math.min(this.#beatSentAt + this.grant.beat_ms, this.#beatRetryAt);
  }

  /** A beat that was not answered for so long is lost. */
  #isBeating(now: number): boolean {
    return this.#beatInFlight && now < this.#beatSentAt + this.grant.beat_ms;
  }

  #beat(now: number, effects: Effect[]): void {
    this.#beatInFlight = true;
    this.#beatSentAt = now;
    this.#beatRetryAt = Number.POSITIVE_INFINITY;
    effects.push({ type: "beat", started: this.#report() });
  }

  #claim(effects: Effect[]): void {
    if (this.#seqDone) this.#seq++;
    this.#seqDone = false;
    this.#claimInFlight = true;
    this.#asked = this.#free();
    effects.push({ type: "claim", seq: this.#seq, free: this.#free(), soon: this.#soon(), open: this.#open(), started: this.#report() });
  }

  /** Leaves when nothing is open and nothing more is to be had; a fenced session leaves as soon as its work is aborted. */
  #maybeLeave(effects: Effect[]): void {
    const working = this.#running.size > 0;
    const holding = !this.#fenced && (this.#queue.length > 0 || this.#buffered.length > 0 || !this.#flushes.isEmpty);
    if (working || holding) return;
    if (this.#stopping === null && !this.#isExhausted) return;
    this.#over = true;
    effects.push({ type: "leave" }, { type: "over" });
  }
}
