import type { Block, ClaimAnswer, CommitAnswer, BeatAnswer, Grant } from "../../durable-objects/run/protocol.ts";

/**
 * The protocol of one grant, from the executor's side, as a pure machine: events in, effects out, no clock and no I/O of its
 * own. The driver (`ticket-driver.ts`) carries the effects out and reports what came of them; the simulator does the same with
 * messages that are lost, late or doubled. Times are milliseconds of the executor's own clock.
 */
export interface UnitWork {
  readonly unit: number;
  readonly block: Block;
}

export type SessionEvent =
  | { readonly type: "tick" }
  | { readonly type: "claimed"; readonly seq: number; readonly answer: ClaimAnswer }
  | { readonly type: "claim-failed"; readonly seq: number }
  /** The unit's rows are in the buffer; `full` when the buffer is. */
  | { readonly type: "unit-finished"; readonly unit: number; readonly full: boolean }
  /** All its rollouts are generated, and wait to be scored (only with `hold`). */
  | { readonly type: "unit-generated"; readonly unit: number }
  /** Given up without rows (aborted). */
  | { readonly type: "unit-dropped"; readonly unit: number }
  /** The segment of flush `n` is in R2 (put, or found there with the same digest). */
  | { readonly type: "stored"; readonly n: number }
  | { readonly type: "store-failed"; readonly n: number }
  | { readonly type: "committed"; readonly n: number; readonly answer: CommitAnswer }
  | { readonly type: "commit-failed"; readonly n: number }
  | { readonly type: "beaten"; readonly sentAt: number; readonly answer: BeatAnswer }
  | { readonly type: "beat-failed" }
  /** The buffer has no room for the next unit: what is in it must go first. */
  | { readonly type: "flush" }
  /** The driver wants out: slice over (`drain`), yield (`drain`), parent gone or fatal error (`abort`). */
  | { readonly type: "stop"; readonly how: "drain" | "abort" };

export type Effect =
  | { readonly type: "claim"; readonly seq: number; readonly free: number; readonly soon: number; readonly open: number; readonly started: readonly number[] }
  | { readonly type: "start"; readonly work: UnitWork }
  /** Score these units, which wait for it: nothing is generated meanwhile. */
  | { readonly type: "score"; readonly units: readonly number[] }
  /** Take everything buffered and put it as segment number `n`; repeated for the same `n` after a failure. */
  | { readonly type: "store"; readonly n: number; readonly units: readonly number[] }
  | { readonly type: "commit"; readonly n: number; readonly units: readonly number[] }
  | { readonly type: "beat"; readonly started: readonly number[] }
  /** Abort every request of this grant, now. */
  | { readonly type: "abort" }
  | { readonly type: "leave" }
  /** The session is over; no further effects. */
  | { readonly type: "over" };

export interface SessionTiming {
  /** Distance kept from the end of the lease (self-fencing). */
  readonly margin: number;
  /** Waits after a failed call, and after an empty claim. */
  readonly retry: number;
  readonly idle: number;
  /** Units that may be generated before the first of them is scored; absent = each is scored as soon as it can be. */
  readonly hold?: number;
}

/** How far ahead units are claimed. A claim costs three rows, a unit that is claimed and not begun just goes back. */
const SOON_MS = 5_000;
const FLUSH_MIN_MS = 200;
const FLUSH_MAX_MS = 5_000;
const FEW_UNITS = 10;
/** Segments on their way to storage at once; with the buffer and the inputs they are what an executor holds. */
export const MAX_FLUSHES = 2;
/** Weight of the newest unit in the running mean of unit times. */
const MEAN_WEIGHT = 0.1;

interface Flush {
  readonly n: number;
  readonly units: readonly number[];
  state: "storing" | "stored" | "committing";
  retryAt: number;
}

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
  readonly #running = new Map<number, number>();
  /** Of those running, the ones that are generated and wait for their scores, and the ones that are being scored. */
  readonly #unscored = new Set<number>();
  readonly #scoring = new Set<number>();
  /** The newest claim found nothing for a free lane: what is running is all there is for now. */
  #dry = false;
  #asked = 0;
  #buffered: number[] = [];
  #bufferedSince = 0;
  #full = false;
  #flushes: Flush[] = [];
  #nextFlush = 1;
  #unreportedSince: number | null = null;
  #meanUnit = 0;
  #stopping: "drain" | "abort" | null = null;
  #fenced = false;
  #over = false;

  /** `sentAt`: when the join was sent; the lease counts from there. */
  constructor(grant: Grant, timing: SessionTiming, sentAt: number) {
    this.grant = grant;
    this.#timing = timing;
    this.#leaseFrom = sentAt;
    this.#beatSentAt = sentAt;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** When the driver must call `tick` at the latest. */
  nextTick(now: number): number {
    const due = [this.#leaseFrom + this.grant.lease_ms - this.#timing.margin, this.#beatSentAt + this.grant.beat_ms];
    if (this.#buffered.length > 0) due.push(this.#bufferedSince + this.#flushAge());
    if (this.#wantsClaim()) due.push(this.#claimAt);
    for (const flush of this.#flushes) if (flush.retryAt > 0) due.push(flush.retryAt);
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
        this.#claimAt = now + this.#timing.retry;
        return;
      case "unit-finished":
        this.#finishUnit(event.unit, event.full, now);
        return;
      case "unit-generated":
        if (this.#running.has(event.unit)) this.#unscored.add(event.unit);
        return;
      case "unit-dropped":
        this.#end(event.unit);
        return;
      case "stored":
        this.#flushed(event.n, (flush) => {
          flush.state = "stored";
          flush.retryAt = 0;
        });
        return;
      case "store-failed":
      case "commit-failed":
        this.#flushed(event.n, (flush) => {
          flush.retryAt = now + this.#timing.retry;
        });
        return;
      case "committed":
        if (event.answer.kind === "gone") this.#stop("abort", effects);
        else if (event.answer.orders !== "continue") this.#stop(event.answer.orders, effects);
        this.#flushes = this.#flushes.filter((flush) => flush.n !== event.n);
        // With nothing open there may be work that was refused a moment ago: a suspect unit, which is handed out alone.
        if (this.#open() === 0) this.#claimAt = Math.min(this.#claimAt, now);
        return;
      case "beaten":
        this.#beatInFlight = false;
        this.#takeBeat(event.sentAt, event.answer, effects);
        return;
      case "beat-failed":
        this.#beatInFlight = false;
        return;
      case "flush":
        this.#full = true;
        return;
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
    const since = this.#running.get(unit);
    if (since === undefined) return;
    this.#end(unit);
    const took = now - since;
    this.#meanUnit = this.#meanUnit === 0 ? took : this.#meanUnit + MEAN_WEIGHT * (took - this.#meanUnit);
    if (this.#buffered.length === 0) this.#bufferedSince = now;
    this.#buffered.push(unit);
    this.#full ||= full;
  }

  #end(unit: number): void {
    this.#running.delete(unit);
    this.#unscored.delete(unit);
    this.#scoring.delete(unit);
  }

  #takeBeat(sentAt: number, answer: BeatAnswer, effects: Effect[]): void {
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

  #flushed(n: number, change: (flush: Flush) => void): void {
    const flush = this.#flushes.find((each) => each.n === n);
    if (flush !== undefined) change(flush);
  }

  /** Age at which the buffer is flushed: half the mean unit time; few units wait longer for company, since each flush has a price. */
  #flushAge(): number {
    const age = this.#buffered.length < FEW_UNITS ? this.#meanUnit * 2 : this.#meanUnit / 2;
    return Math.min(FLUSH_MAX_MS, Math.max(FLUSH_MIN_MS, age));
  }

  /** Units expected to be begun within the next seconds at the present pace. */
  #soon(): number {
    return this.#meanUnit <= 0 ? 0 : Math.floor((this.grant.lanes * SOON_MS) / Math.max(1, this.#meanUnit));
  }

  #open(): number {
    return this.#queue.length + this.#running.size + this.#buffered.length + this.#flushes.reduce((sum, flush) => sum + flush.units.length, 0);
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
    return Math.min(this.grant.lanes - generating, hold - this.#unscored.size - generating);
  }

  #wantsClaim(): boolean {
    if (this.#stopping !== null || this.#claimInFlight) return false;
    return this.#free() > 0 || this.#queue.length < this.#soon() / 2;
  }

  #started(): number[] {
    return [...this.#running.keys(), ...this.#buffered, ...this.#flushes.flatMap((flush) => flush.units)];
  }

  #report(): number[] {
    this.#unreportedSince = null;
    return this.#started();
  }

  #proceed(now: number, effects: Effect[]): void {
    if (!this.#fenced && now >= this.#leaseFrom + this.grant.lease_ms - this.#timing.margin) this.#fence(effects);
    if (this.#stopping === null) this.#startUnits(now, effects);
    this.#score(effects);
    if (!this.#fenced) this.#flush(now, effects);
    if (!this.#fenced) this.#keepLease(now, effects);
    if (this.#wantsClaim() && now >= this.#claimAt) this.#claim(effects);
    this.#maybeLeave(effects);
  }

  #startUnits(now: number, effects: Effect[]): void {
    // Storage is slower than the model: no new units until it has caught up, or rows would pile up in memory.
    if (this.#full && this.#flushes.length >= MAX_FLUSHES) return;
    const started: Effect[] = [];
    let wary = false;
    while (this.#room() > 0 && this.#scoring.size === 0) {
      const [work] = this.#queue;
      // Its report must go out with it: no start while an earlier report is under way.
      if (work === undefined || (work.block.wary && this.#isBeating(now))) break;
      this.#queue.shift();
      this.#running.set(work.unit, now);
      this.#unreportedSince ??= now;
      wary ||= work.block.wary;
      started.push({ type: "start", work });
    }
    if (wary) this.#beat(now, effects);
    effects.push(...started);
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
    if (this.#buffered.length > 0 && due && this.#flushes.length < MAX_FLUSHES) {
      const flush: Flush = { n: this.#nextFlush++, units: this.#buffered, state: "storing", retryAt: 0 };
      this.#buffered = [];
      this.#full = false;
      this.#flushes.push(flush);
      effects.push({ type: "store", n: flush.n, units: flush.units });
    }
    for (const flush of this.#flushes) {
      if (flush.state === "storing" && flush.retryAt > 0 && now >= flush.retryAt) {
        flush.retryAt = 0;
        effects.push({ type: "store", n: flush.n, units: flush.units });
      }
      if (flush.state === "stored" || (flush.state === "committing" && flush.retryAt > 0 && now >= flush.retryAt)) {
        flush.state = "committing";
        flush.retryAt = 0;
        effects.push({ type: "commit", n: flush.n, units: flush.units });
      }
    }
  }

  #keepLease(now: number, effects: Effect[]): void {
    const unreported = this.#unreportedSince !== null && now >= this.#unreportedSince + this.grant.beat_ms / 4;
    if (this.#isBeating(now)) return;
    if (!unreported && now < this.#beatSentAt + this.grant.beat_ms) return;
    this.#beat(now, effects);
  }

  /** A beat that was not answered for so long is lost. */
  #isBeating(now: number): boolean {
    return this.#beatInFlight && now < this.#beatSentAt + this.grant.beat_ms;
  }

  #beat(now: number, effects: Effect[]): void {
    this.#beatInFlight = true;
    this.#beatSentAt = now;
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
    const holding = !this.#fenced && (this.#queue.length > 0 || this.#buffered.length > 0 || this.#flushes.length > 0);
    if (working || holding) return;
    const exhausted = this.#pendingElsewhere === 0 && !this.#claimInFlight && this.#seqDone;
    if (this.#stopping === null && !exhausted) return;
    this.#over = true;
    effects.push({ type: "leave" }, { type: "over" });
  }
}
