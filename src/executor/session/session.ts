import type { Allowance, BeatAnswer, ClaimAnswer, GivesBack, Grant, Renewal } from "../../../durable-objects/run/protocol.ts";
import { Batch } from "./batch.ts";
import { Claiming } from "./claiming.ts";
import { Flushes } from "./flushes.ts";
import { Holdings } from "./holdings.ts";
import { LastScoring } from "./last-scoring.ts";
import { Lease } from "./lease.ts";
import { Pacing } from "./pacing.ts";
import { SCORING_GRACE_MS } from "../../limits.ts";
import type { Effect, SessionEvent, SessionTiming, UnitWork } from "./session-events.ts";
import { UnitTimes } from "./unit-times.ts";

/** What is open waits so long to be allowed again before it goes back: a rollout between two requests gets to its next turn. */
const HOLD_MS = 2_000;

/**
 * The protocol of one grant, from the executor's side, as a pure machine: events in, effects out, no clock and no I/O of its
 * own. The driver (`units-ticket.ts`) carries the effects out and reports what came of them; the simulator does the same with
 * messages that are lost, late or doubled. Times are milliseconds of the executor's own clock.
 */
export class Session {
  readonly grant: Grant;
  readonly #timing: SessionTiming;
  readonly #lease: Lease;
  readonly #claiming: Claiming;
  #queue: UnitWork[] = [];
  readonly #running = new Set<number>();
  readonly #pacing: Pacing;
  readonly #holdings: Holdings;
  /** Of those running, the ones that are generated and wait for their scores, and the ones that are being scored. */
  readonly #unscored = new Set<number>();
  readonly #scoring = new Set<number>();
  readonly #batch: Batch;
  readonly #flushes = new Flushes();
  /** Something of this grant was committed: storage takes what is given to it. */
  #proven = false;
  /** Units begun whose rows an earlier grant could not commit. */
  readonly #saving = new Set<number>();
  #stopping: "drain" | "abort" | null = null;
  /** Nothing may be under way, and since when nothing is; null = something may, or is. */
  #heldSince: number | null = null;
  /** Scoring alone goes on, where that is on. */
  readonly #lastScoring: LastScoring;
  #fenced = false;
  #over = false;

  /** `sentAt`: when the join was sent; the lease counts from there. */
  constructor(grant: Grant, timing: SessionTiming, sentAt: number) {
    this.grant = grant;
    this.#holdings = new Holdings(grant);
    this.#timing = timing;
    this.#lastScoring = new LastScoring(timing.isUnpaid);
    this.#pacing = new Pacing(grant, timing.wall ?? null, timing.times ?? new UnitTimes());
    // What no claim finds now is asked for again with what a beat would say.
    this.#claiming = new Claiming({ idle: timing.idle, beat: Math.max(timing.idle, grant.beat_ms) });
    this.#batch = new Batch(timing, this.#pacing);
    this.#lease = new Lease(grant, timing.margin, sentAt);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** What this grant has under way at most: less than was granted once some of it is given back. */
  get holdings(): Pick<Holdings, "allowed" | "requests" | "isFalling" | "isHeld"> {
    return this.#holdings;
  }

  /** Goes with every claim, beat and commit. */
  get givesBack(): GivesBack {
    return { ...this.#holdings.told(this.#running.size), ...(this.#timing.seat?.isBeside ? { beside: true } : {}) };
  }

  /** When the driver must call `tick` at the latest. */
  nextTick(now: number): number {
    const due = [this.#lease.stopsAt, this.#lease.nextBeat, ...this.#flushes.retries, ...(this.#flushes.areAllTaken ? [] : [this.#batch.dueAt])];
    if (this.#wantsClaim(now)) due.push(this.#nextClaim);
    if (this.#isHeldBack) due.push(now + this.#timing.idle);
    due.push(...this.#lastScoring.dueFrom(now));
    if (this.#heldSince !== null) due.push(this.#heldSince + (now - this.#heldSince < HOLD_MS ? HOLD_MS : SCORING_GRACE_MS));
    return Math.max(now, Math.min(...due));
  }

  step(event: SessionEvent, now: number): Effect[] {
    if (this.#over) return [];
    const effects: Effect[] = [];
    this.#take(event, now, effects);
    this.#proceed(now, effects);
    this.#timing.seat?.has(this.#startedCount, this.#queue.length > 0);
    return effects;
  }

  #take(event: SessionEvent, now: number, effects: Effect[]): void {
    switch (event.type) {
      case "tick":
        return;
      case "claimed":
        if (this.#claiming.isOutstanding(event.seq)) this.#takeClaim(event.sentAt, event.answer, now, effects);
        return;
      case "claim-failed":
        if (this.#claiming.isOutstanding(event.seq)) this.#claiming.failed(now + event.wait);
        return;
      case "unit-finished":
        return this.#finishUnit(event.unit, event.full, now);
      case "rollout-ended":
        if (!this.#running.has(event.unit)) return;
        this.#pacing.rolloutEnded(event.unit);
        if (event.keeps) this.#batch.addRollout(event.unit, event.rollout, now);
        return;
      case "rollout-scored":
        if (this.#running.has(event.unit)) this.#batch.addRollout(event.unit, event.rollout, now);
        return;
      case "turns-due":
        return this.#batch.addTurns();
      case "unit-scoring":
        return this.#batch.letGo(event.unit);
      case "rollouts-left":
        for (const rollout of event.rollouts) this.#batch.addRollout(event.unit, rollout, Number.NEGATIVE_INFINITY);
        if (this.#flushes.dropSpan(event.unit)) this.#batch.endSpan(event.unit);
        return;
      case "span-ended":
        if (!this.#running.has(event.unit)) return;
        this.#pacing.finish(event.unit, now);
        this.#end(event.unit);
        return this.#batch.endSpan(event.unit);
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
        else this.#takeRenewal(event.sentAt, event.answer, now, effects);
        this.#proven = true;
        // There may be work that was refused a moment ago: with nothing open a suspect unit, which is handed out alone; after a span its unit.
        if (this.#flushes.committed(event.n).length > 0) this.#claiming.mayHaveMore();
        else if (this.#open() > 0) return;
        return this.#claiming.hurry(now);
      case "beaten":
        this.#lease.answered();
        this.#takeBeat(event.sentAt, event.answer, now, effects);
        return;
      case "beat-failed":
        return this.#lease.failed(event.sentAt, now + event.wait);
      case "flush":
        return this.#batch.fill();
      case "narrow":
        return this.#allow(this.#holdings.narrow(event.requests), effects);
      case "narrowed":
        return this.#holdings.reach(event.requests, event.scoring);
      case "keep":
        return this.#allow(this.#holdings.keep(), effects);
      case "stop":
        this.#stop(event.how, effects);
    }
  }

  /** What the answer to a call that was sent then says beside its own. */
  #takeRenewal(sentAt: number, { renewed, orders = "continue", ends, allows }: Renewal, now: number, effects: Effect[]): void {
    if (renewed === true) this.#lease.renew(sentAt);
    if (allows !== undefined && !this.#fenced) this.#steer(allows, effects);
    if (orders === "abort" && ends === "scored") this.#endGeneration(now, effects);
    else if (orders !== "continue") this.#stop(orders, effects, ends !== undefined);
  }

  /** The run was steered. What cannot be gone on with by others is played to its end where nothing more is to begin here. */
  #steer(allows: Allowance, effects: Effect[]): void {
    const { open, room = () => Number.POSITIVE_INFINITY } = this.#timing;
    const playsOn = allows.requests === 0 && open?.keeps() === false;
    if (!this.#holdings.steer(playsOn ? { ...this.#holdings.allowed, size: allows.size } : allows, room())) return;
    this.#allow(true, effects);
    if (allows.priority !== undefined) effects.push({ type: "weigh", priority: allows.priority });
    if (playsOn) this.#stop("drain", effects);
  }

  /** Nothing may begin here, and nothing has been under way for a moment in which it might have been allowed again: others go on with what is open. */
  #isHandedOver(now: number): boolean {
    if (!this.#holdings.isHeld || this.#holdings.requests > 0) this.#heldSince = null;
    else this.#heldSince ??= now;
    return this.#heldSince !== null && now - this.#heldSince >= (this.#timing.open?.isScoring() === true ? SCORING_GRACE_MS : HOLD_MS);
  }

  /** The run has ended, and keeps what is generated: units of which that is all are scored, in the time that there is for it. */
  #endGeneration(now: number, effects: Effect[]): void {
    this.#stop("drain", effects);
    if (this.#stopping !== "abort" && this.#lastScoring.begin(now)) effects.push({ type: "end-generation" });
  }

  #takeClaim(sentAt: number, answer: ClaimAnswer, now: number, effects: Effect[]): void {
    this.#takeRenewal(sentAt, answer, now, effects);
    this.#claiming.answered(answer, now);
    if (answer.kind === "block") {
      for (let unit = answer.lo; unit < answer.hi; unit++) this.#queue.push({ unit, block: answer });
      this.#pacing.given(this.#queue.length - this.#claiming.asked);
      if (this.#stopping !== null) this.#queue = [];
      return;
    }
    if (answer.kind === "empty") return;
    this.#stop(answer.kind === "closed" ? "drain" : "abort", effects);
    if (answer.kind !== "closed") this.#fenced = true;
  }

  #finishUnit(unit: number, full: boolean, now: number): void {
    if (!this.#running.has(unit)) return;
    this.#pacing.finish(unit, now);
    this.#end(unit);
    this.#batch.addUnit(unit, full, now);
  }

  #end(unit: number): void {
    this.#running.delete(unit);
    this.#pacing.end(unit);
    this.#unscored.delete(unit);
    this.#scoring.delete(unit);
  }

  #takeBeat(sentAt: number, answer: BeatAnswer, now: number, effects: Effect[]): void {
    const { kind, ...ending } = answer;
    if (kind === "lost" || kind === "gone") this.#fence(effects);
    else this.#takeRenewal(sentAt, { renewed: true, orders: kind, ...ending }, now, effects);
  }

  #stop(how: "drain" | "abort", effects: Effect[], closes = this.#lastScoring.isOn): void {
    this.#queue = [];
    if (how === "abort" && this.#stopping !== "abort") {
      effects.push({ type: "abort", closes });
      this.#lastScoring.end();
    }
    if (this.#stopping === how || this.#stopping === "abort") return;
    this.#stopping = how;
    this.#batch.hurry();
  }

  /** The lease is over or about to be: nothing of this grant may go on, and nothing it has is worth committing later. */
  #fence(effects: Effect[]): void {
    this.#stop("abort", effects);
    this.#fenced = true;
  }

  #open(): number {
    return this.#queue.length + this.#startedCount;
  }

  #free(): number {
    return Math.max(0, this.#room() - this.#queue.length);
  }

  #generating(): number {
    return this.#running.size - this.#unscored.size - this.#scoring.size;
  }

  /** Units of other grants in the same isolate go first: one that may kill is alone in it. */
  get #isHeldBack(): boolean {
    return this.#stopping === null && this.#timing.seat?.holdsBack(this.#queue[0]?.block.alone === true) === true;
  }

  /** Units that may begin beside those that are open: a unit gives its lane back when it has only its scores to wait for. */
  #room(): number {
    if (this.#isHeldBack) return 0;
    const { hold = Number.POSITIVE_INFINITY } = this.#timing;
    const generating = this.#generating();
    const { allowed } = this.#holdings;
    return Math.min(allowed.lanes - generating, hold - this.#unscored.size - generating, this.#pacing.room(allowed));
  }

  /** What is finished now may not be stored: nothing is begun that would be paid for, until it is known that it can be. */
  get #isTroubled(): boolean {
    return this.#lease.isUnheard || this.#flushes.areFailing;
  }

  #wantsClaim(now: number): boolean {
    if (this.#stopping !== null || this.#claiming.isInFlight || this.#isTroubled) return false;
    return this.#free() > 0 || this.#pacing.isShort(this.#queue.length, this.#holdings.allowed, now);
  }

  get #nextClaim(): number {
    return this.#claiming.nextAt(this.#free() > 0);
  }

  /** Asked with every step, so nothing is listed for it. */
  get #startedCount(): number {
    return this.#running.size + this.#batch.units.length + this.#flushes.unitCount;
  }

  #started(): number[] {
    return [...this.#running, ...this.#batch.units, ...this.#flushes.units];
  }

  #proceed(now: number, effects: Effect[]): void {
    if (!this.#fenced && now >= this.#lease.stopsAt) this.#fence(effects);
    if (this.#lastScoring.isOver(now)) this.#stop("abort", effects);
    if (this.#isHandedOver(now)) this.#stop("abort", effects, false);
    // Nothing more would be done in time: others do it, and what is open goes on.
    if (this.#stopping === null && !this.#pacing.fits(this.#holdings.allowed, now, this.#queue[0]) && this.#room() > 0) this.#stop("drain", effects);
    if (this.#stopping === null) this.#startUnits(now, effects);
    this.#score(effects);
    this.#giveBackRest(effects);
    if (!this.#fenced) this.#flush(now, effects);
    if (!this.#fenced && !this.#lease.isBeating(now) && now >= this.#lease.nextBeat) this.#beat(now, effects);
    if (this.#wantsClaim(now) && now >= this.#nextClaim) this.#claim(now, effects);
    this.#maybeLeave(effects);
  }

  #startUnits(now: number, effects: Effect[]): void {
    // Storage is slower than the model: no new units until it has caught up, or rows would pile up in memory.
    if (this.#isTroubled || (this.#batch.isFull && this.#flushes.areAllTaken)) return;
    const started: Effect[] = [];
    let wary = false;
    while (this.#room() > 0 && this.#scoring.size === 0) {
      const work = this.#nextWork();
      // Its report must go out with it: no start while an earlier report is under way.
      if (work === undefined || (work.block.wary && this.#lease.isBeating(now))) break;
      // Mostly the first of thousands, which an array gives up without moving the others.
      if (work === this.#queue[0]) this.#queue.shift();
      else this.#queue.splice(this.#queue.indexOf(work), 1);
      this.#running.add(work.unit);
      this.#timing.seat?.begins(work.block.alone);
      this.#pacing.begin(work, now);
      if (this.#timing.saved?.(work.unit) === true) this.#saving.add(work.unit);
      wary ||= work.block.wary;
      started.push({ type: "start", work });
    }
    if (wary) this.#beat(now, effects);
    effects.push(...started);
  }

  /** Rows that an earlier grant could not commit go first, and alone: nothing is paid for before they are. */
  #nextWork(): UnitWork | undefined {
    const { saved } = this.#timing;
    const [first] = this.#spansOnTheirWay.length === 0 ? this.#queue : this.#queue.filter(({ unit }) => !this.#spansOnTheirWay.includes(unit));
    if (saved === undefined || this.#proven) return first;
    const known = this.#queue.find(({ unit }) => saved(unit));
    if (known !== undefined) return known;
    return this.#saving.size > 0 ? undefined : first;
  }

  /** The Run has taken a span that is over, and given out its unit, before its answer is here: what is known here of the unit is still the span's. */
  get #spansOnTheirWay(): readonly number[] {
    return [...this.#batch.spans, ...this.#flushes.spans];
  }

  #allow(other: boolean, effects: Effect[]): void {
    if (other) effects.push({ type: "narrow", holding: this.#holdings.allowed });
  }

  /** What begins nothing more needs no more than its open units may ask for, and waits for those only where that is not long. */
  #giveBackRest(effects: Effect[]): void {
    if (this.#isExhausted || (this.#stopping !== null && !this.#pacing.isOverSoon))
      this.#allow(this.#holdings.narrow(this.#running.size * this.grant.config.rollouts_per_example), effects);
  }

  /** Nothing is left to begin, here or for a claim. */
  get #isExhausted(): boolean {
    return this.#queue.length === 0 && this.#claiming.isExhausted && this.#spansOnTheirWay.length === 0;
  }

  /** Scores what is generated, all of it at once, when no more may be generated before, or is to be had. */
  #score(effects: Effect[]): void {
    if (this.#unscored.size === 0 || this.#scoring.size > 0 || this.#generating() > 0) return;
    const last = this.#queue.length === 0 && (this.#stopping !== null || this.#claiming.isDry);
    if (!last && this.#room() > 0) return;
    effects.push({ type: "score", units: [...this.#unscored] });
    for (const unit of this.#unscored) this.#scoring.add(unit);
    this.#unscored.clear();
  }

  #flush(now: number, effects: Effect[]): void {
    const idle = this.#running.size === 0 && this.#queue.length === 0;
    if (this.#batch.isDue(now, idle) && !this.#flushes.areAllTaken) effects.push(this.#flushes.begin(this.#batch.take(now, idle)));
    effects.push(...this.#flushes.due(now, () => this.#started()));
  }

  #beat(now: number, effects: Effect[]): void {
    this.#lease.beat(now);
    effects.push({ type: "beat", started: this.#started() });
  }

  #claim(now: number, effects: Effect[]): void {
    const free = this.#free();
    const seq = this.#claiming.begin(free);
    const soon = this.#pacing.soon(this.#holdings.allowed, now);
    effects.push({ type: "claim", seq, free, soon, open: this.#open(), started: this.#started() });
  }

  /** Leaves when nothing is open and nothing more is to be had; a fenced session leaves as soon as its work is aborted. */
  #maybeLeave(effects: Effect[]): void {
    const holding = !this.#fenced && (this.#queue.length > 0 || !this.#batch.isEmpty || !this.#flushes.isEmpty);
    if (this.#running.size > 0 || holding) return;
    if (this.#stopping === null && !this.#isExhausted) return;
    this.#over = true;
    effects.push({ type: "leave" }, { type: "over" });
  }
}
