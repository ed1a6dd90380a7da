import type { CommitUnit, GivesBack, Grant, Holding, Report } from "../../../durable-objects/run/protocol.ts";
import { segmentKey, segmentName } from "../../../r2-layout/keys.ts";
import { SegmentBuffer, type SegmentContents } from "../../../r2-layout/segment.ts";
import { onAbort } from "../../clients/on-abort.ts";
import { RolloutLeft } from "../../rollouts/kept/left.ts";
import type { State } from "../../rollouts/types.ts";
import { EdgewiseError, failureOf, type Failure } from "../../errors/result.ts";
import { maskJson } from "../../errors/masking.ts";
import { Inputs } from "./inputs.ts";
import { damageOf } from "../damage.ts";
import { ticketOf } from "../keep-alive.ts";
import { redoOf } from "./kept-rows.ts";
import type { LooseBase } from "./loose-rollouts.ts";
import { RolloutKeeper } from "./rollout-keeper.ts";
import type { RunStub } from "../ports.ts";
import type { UnitRows } from "../../environments/run-unit.ts";
import type { FinishedUnit } from "./saved-rows.ts";
import { Session } from "../session/session.ts";
import type { Effect, LoosePiece, SessionEvent, UnitWork } from "../session/session-events.ts";
import { TicketCalls } from "./ticket-calls.ts";
import type { TicketHost } from "./ticket-host.ts";
import { timingOf } from "./ticket-timing.ts";
import { rowsOf } from "./unit-rows.ts";
import { UnitsRoom } from "./units-room.ts";

const NOTHING: SegmentContents = { bytes: new Uint8Array(0), units: [], pieces: [], rows: 0 };

/**
 * Carries out the effects of one session: claims, runs units, writes segments, commits, beats. Knows nothing of why; every rule is
 * in session.ts. Resolves when the session is over and nothing of it is running any more;
 * rejects, just as late, when a unit could not be run at all.
 */
export class UnitsTicket {
  readonly #host: TicketHost;
  readonly #grant: Grant;
  readonly #session: Session;
  readonly #inputs: Inputs;
  readonly #buffer = new SegmentBuffer();
  readonly #calls: TicketCalls;
  /** What all rows of this grant depend on. */
  readonly #terms: string;
  /** Of units that are finished and not committed. */
  readonly #facts = new Map<number, FinishedUnit>();
  /** Rows that wait for room in the buffer. */
  readonly #waiting = new Map<number, readonly string[]>();
  readonly #segments = new Map<number, SegmentContents>();
  readonly #keeper: RolloutKeeper;
  readonly #abort = new AbortController();
  /** Rollouts that have finished, of units that are not committed. */
  readonly #finished = new Map<number, number>();
  readonly #room: UnitsRoom;
  /** Units that wait for their turn to be scored. */
  readonly #turns = new Map<number, PromiseWithResolvers<void>>();
  readonly #over = Promise.withResolvers<void>();
  /** Resolves when no more is under way than the session lets be. */
  #narrowing: Promise<void> = Promise.resolve();
  #failed = false;
  #pauseMs: number | null = null;
  /** The first failure to run a unit at all; null while there is none. */
  #failure: unknown = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** `sentAt`: when the join that was answered with `grant` was sent. */
  constructor(host: TicketHost, grant: Grant, sentAt: number) {
    this.#host = host;
    this.#grant = grant;
    this.#calls = new TicketCalls(host);
    this.#keeper = new RolloutKeeper(host, (event) => this.#feed(event));
    this.#terms = JSON.stringify([grant.config, host.envDigest ?? null]);
    this.#session = new Session(grant, timingOf(host, grant), sentAt);
    onAbort(this.#abort.signal, () => {
      for (const turn of this.#turns.values()) turn.reject(this.#abort.signal.reason);
      this.#turns.clear();
    });
    const { run_id, rollouts_per_example } = grant.config;
    this.#inputs = new Inputs(host.ports.store, run_id, host.ports.bytes);
    this.#room = new UnitsRoom(host.ports.bytes, this.#inputs, run_id, rollouts_per_example);
  }

  run(): Promise<void> {
    this.#feed({ type: "tick" });
    this.#room.watch(() => {
      if (!this.#buffer.isEmpty) this.#feed({ type: "flush" });
    });
    return this.#over.promise.finally(() => this.#room.end());
  }

  /** Bytes held for rows and inputs; bounded whatever the run's size (tested). */
  get bufferedBytes(): number {
    let bytes = this.#buffer.capacity + this.#inputs.bytes;
    for (const contents of this.#segments.values()) bytes += contents.bytes.byteLength;
    return bytes;
  }

  get holdings(): Session["holdings"] {
    return this.#session.holdings;
  }

  /** No more model requests than that; resolves when no more are under way. */
  async narrow(requests: number): Promise<void> {
    this.#feed({ type: "narrow", requests });
    await this.#narrowing;
  }

  async #narrow(holding: Holding): Promise<void> {
    this.#narrowing = this.#host.narrow(holding);
    await this.#narrowing;
    this.#feed({ type: "narrowed", requests: holding.requests });
  }

  /** How long the run is to be left alone after this grant; null = not at all. */
  get pauseMs(): number | null {
    return this.#pauseMs;
  }

  /** `leave`: as `drain`, and rollouts that others can go on with stop at their next turn. */
  stop(how: "drain" | "leave" | "abort"): void {
    if (how === "leave") this.#keeper.leave();
    this.#feed({ type: "stop", how: how === "abort" ? how : "drain" });
  }

  #feed(event: SessionEvent): void {
    for (const effect of this.#session.step(event, this.#host.ports.now())) this.#carryOut(effect);
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#session.isOver) return clearTimeout(this.#timer);
    const now = this.#host.ports.now();
    const at = this.#session.nextTick(now);
    if (this.#timerAt <= at && this.#timerAt > now) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.#feed({ type: "tick" });
      },
      Math.max(1, at - now),
    );
  }

  #carryOut(effect: Effect): void {
    const { ports } = this.#host;
    const ticket = ticketOf(this.#grant);
    switch (effect.type) {
      case "claim": {
        const { seq, free, soon, open, started } = effect;
        const sentAt = ports.now();
        const call = (): Promise<SessionEvent> =>
          this.#run()
            .claim({ ...ticket, ...this.#told(started), seq, free, soon, open })
            .then((answer) => ({ type: "claimed", seq, sentAt, answer }));
        return this.#call("claim", call, (wait) => ({ type: "claim-failed", seq, wait }));
      }
      case "start":
        return void this.#runUnit(effect.work);
      case "score":
        for (const unit of effect.units) this.#turns.get(unit)?.resolve();
        return;
      case "store":
        return this.#call(
          `segment ${effect.n}`,
          () => this.#store(effect.n, effect.pieces, effect.turns),
          (wait) => ({ type: "store-failed", n: effect.n, wait }),
        );
      case "commit":
        return this.#call(
          `commit ${effect.n}`,
          () => this.#commit(effect.n, effect.started),
          (wait) => ({ type: "commit-failed", n: effect.n, wait }),
        );
      case "beat": {
        const sentAt = ports.now();
        const call = (): Promise<SessionEvent> =>
          this.#run()
            .beat({ ...ticket, ...this.#told(effect.started) })
            .then((answer) => ({ type: "beaten", sentAt, answer }));
        return this.#call("beat", call, (wait) => ({ type: "beat-failed", sentAt, wait }));
      }
      case "narrow":
        return void this.#narrow(effect.holding);
      case "abort":
        this.#abort.abort(new RolloutLeft("the executor stopped this unit"));
        return this.#keeper.keepAll();
      case "leave":
        this.#calls.end();
        this.#save();
        // Not waited for by the session: a ticket nobody leaves lapses.
        return void this.#settled(this.#host.beforeLeave().then(() => this.#run().leave(ticket))).finally(() =>
          this.#failure === null ? this.#over.resolve() : this.#over.reject(this.#failure),
        );
      case "over":
        return clearTimeout(this.#timer);
    }
  }

  /** What every call says that renews the lease. */
  #told(started: readonly number[]): GivesBack & Report {
    const finished = [...this.#finished.values()].reduce((sum, count) => sum + count, 0);
    return { ...this.#session.givesBack, started, vitals: { ...this.#host.vitals(), finished } };
  }

  /** A stub for one call. */
  #run(): RunStub {
    return this.#host.ports.run(this.#grant.config.run_id);
  }

  /** One call to the outside: its event, or what `failed` makes of the wait until it may be made again. */
  #call(name: string, call: () => Promise<SessionEvent>, failed: (wait: number) => SessionEvent): void {
    this.#calls
      .make(name, call, failed)
      .then((event) => {
        if (event.type === "committed") this.#committed(event);
        this.#feed(event);
      })
      .catch((thrown: unknown) => this.#crash(thrown));
  }

  async #settled(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      this.#host.ports.log(`run ${this.#grant.config.run_id}: its last word was not heard: ${failureOf(thrown).message}`);
    }
  }

  /** A fault of this library: nothing of the ticket may go on. */
  #crash(thrown: unknown): void {
    this.#abort.abort(thrown);
    clearTimeout(this.#timer);
    this.#over.reject(thrown);
  }

  async #store(n: number, pieces: readonly LoosePiece[], turns: boolean): Promise<SessionEvent> {
    const contents = this.#segments.get(n) ?? this.#pack(pieces, turns);
    // Rollouts that cannot be kept.
    if (contents === null) return { type: "stored", n };
    this.#segments.set(n, contents);
    const { config, ticket, epoch } = this.#grant;
    const stored = await this.#host.ports.store.create(segmentKey(config.run_id, segmentName(ticket, epoch, n)), contents.bytes);
    if (stored === "other") throw new EdgewiseError("internal", "a segment of this grant holds other rows");
    return { type: "stored", n };
  }

  #pack(pieces: readonly LoosePiece[], turns: boolean): SegmentContents | null {
    const left = this.#keeper.moveInto(this.#buffer, pieces, turns);
    const contents = this.#buffer.take();
    for (const piece of left) this.#feed({ type: "rollouts-left", ...piece });
    return contents;
  }

  async #commit(n: number, started: readonly number[]): Promise<SessionEvent> {
    const sentAt = this.#host.ports.now();
    const contents = this.#segments.get(n) ?? NOTHING;
    const { ticket, epoch } = this.#grant;
    const units = contents.units.map((place): CommitUnit => {
      const { summaries = [], unscored } = this.#facts.get(place.unit) ?? {};
      return { ...place, rollouts: summaries, ...(unscored === undefined ? {} : { unscored }) };
    });
    const answer = await this.#run().commit({
      ...ticketOf(this.#grant),
      ...this.#told(started),
      segment: segmentName(ticket, epoch, n),
      units: JSON.stringify(units),
      ...(contents.pieces.length === 0 ? {} : { pieces: JSON.stringify(contents.pieces) }),
    });
    return { type: "committed", n, sentAt, answer };
  }

  /** Only for the answer that counts: one that came too late must leave the rows to the attempt after it. */
  #committed({ n, answer }: Extract<SessionEvent, { type: "committed" }>): void {
    if (answer.kind === "committed") this.#host.outage.committed();
    for (const { unit } of this.#segments.get(n)?.units ?? []) {
      this.#facts.delete(unit);
      this.#finished.delete(unit);
      this.#room.gone(unit);
    }
    this.#segments.delete(n);
  }

  /** What is finished and could not be committed under this grant is kept for the next one. */
  #save(): void {
    const { saved } = this.#host;
    const buffered = this.#buffer.take();
    for (const contents of [...this.#segments.values(), ...(buffered === null ? [] : [buffered])]) saved.keepSegment(contents, this.#facts);
    this.#keeper.saveInto(saved, this.#segments.values());
    for (const [unit, lines] of this.#waiting) {
      const facts = this.#facts.get(unit);
      if (facts !== undefined) saved.keep(unit, facts, lines);
    }
  }

  /** What the rows of a unit depend on. */
  #termsOf({ unit, block }: UnitWork): string {
    const redo = redoOf(unit, block);
    return redo === undefined ? this.#terms : `${this.#terms} ${JSON.stringify(redo)}`;
  }

  /** Resolves when the unit may be scored. */
  #scoringTurn(unit: number): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#turns.set(unit, turn);
    if (this.#abort.signal.aborted) turn.reject(this.#abort.signal.reason);
    this.#feed({ type: "unit-generated", unit });
    return turn.promise.finally(() => this.#turns.delete(unit));
  }

  async #runUnit(work: UnitWork): Promise<void> {
    const { unit } = work;
    try {
      // Rows that are there already make no room by waiting, nor do units that are scored when all of them are generated.
      const waits = this.#grant.config.no_interleave_scoring !== true && !this.#host.saved.has(unit);
      await this.#room.begin(unit, waits, this.#abort.signal);
      const rows = await this.#rowsOf(work);
      if (rows === null) return this.#drop(unit);
      this.#keeper.finish(unit);
      const lines = rows.lines.map(maskJson);
      this.#room.finished(unit, lines);
      const { summaries, unscored } = rows;
      this.#facts.set(unit, { summaries, ...(unscored === undefined ? {} : { unscored }), terms: this.#termsOf(work) });
      // Rows that do not fit beside what is buffered send that on its way first.
      if (!this.#buffer.add(unit, lines)) {
        this.#feed({ type: "flush" });
        await this.#untilAdded(unit, lines);
      }
      this.#feed({ type: "unit-finished", unit, full: this.#buffer.isFull || this.#room.isWanted });
    } catch (thrown) {
      const damage = damageOf(thrown);
      // Storage that does not answer, mostly: the ticket ends, and whoever asked for it waits before the next.
      if (!this.#abort.signal.aborted && damage === null) this.#failure ??= thrown;
      if (damage !== null) await this.#settled(this.#fail(damage));
      this.#feed({ type: "stop", how: "abort" });
      this.#drop(unit);
    }
  }

  #drop(unit: number): void {
    this.#room.gone(unit);
    this.#finished.delete(unit);
    this.#keeper.drop(unit);
    this.#feed({ type: "unit-dropped", unit });
  }

  #endRollout(unit: number, rollout: number, state: State, base: LooseBase, last: boolean): void {
    this.#finished.set(unit, (this.#finished.get(unit) ?? 0) + 1);
    const told = this.#keeper.add(unit, rollout, state, base, last);
    if (!told && this.#host.slice.wall !== null) this.#feed({ type: "rollout-ended", unit, rollout, keeps: false });
  }

  /** At most two segments are on their way at once; the third waits here, holding one unit's rows. */
  async #untilAdded(unit: number, lines: readonly string[]): Promise<void> {
    this.#waiting.set(unit, lines);
    while (!this.#buffer.add(unit, lines)) {
      await this.#host.ports.sleep(20, this.#abort.signal);
      this.#feed({ type: "flush" });
    }
    this.#waiting.delete(unit);
  }

  async #rowsOf(work: UnitWork): Promise<UnitRows | null> {
    const { unit } = work;
    const terms = this.#termsOf(work);
    const saved = this.#host.saved.take(unit, terms);
    if (saved !== null) return saved;
    const { no_interleave_scoring, rollouts_per_example: r } = this.#grant.config;
    const waits = no_interleave_scoring === true ? { scoringTurn: () => this.#scoringTurn(unit) } : {};
    let left = r;
    return rowsOf(this.#host, this.#grant, this.#inputs, work, {
      signal: this.#abort.signal,
      generated: this.#host.saved.takeRollouts(unit, terms),
      ...waits,
      onGenerated: (rollouts) => {
        left -= rollouts;
        if (rollouts > 0) this.#finished.set(unit, rollouts);
      },
      onRollout: (rollout, state, base) => {
        this.#endRollout(unit, rollout, state, { ...base, terms }, --left === 0 && no_interleave_scoring !== true);
      },
      onTurn: (rollout, state, turn, base) => this.#keeper.turn(unit, rollout, state, turn, { ...base, terms }),
      onScoring: () => this.#keeper.beginScoring(unit),
      onFull: () => this.stop("drain"),
      refused: (failure) => this.#fail(failure),
    });
  }

  /** Told once: the others that are open would only meet the same. Nothing begins until the Run has said what that means for it. */
  async #fail(failure: Failure): Promise<void> {
    if (this.#failed) return;
    this.#failed = true;
    this.#feed({ type: "stop", how: "drain" });
    const { progress } = this.#host.vitals();
    const answer = await this.#run().fail({ ...ticketOf(this.#grant), failure, ...(progress === undefined ? {} : { progress }) });
    this.#pauseMs = answer.pause_ms ?? null;
    if (this.#pauseMs !== null) return;
    this.#abort.abort(new Error(failure.message));
    this.#feed({ type: "stop", how: "abort" });
  }
}
