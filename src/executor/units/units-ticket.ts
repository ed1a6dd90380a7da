import type { GivesBack, Grant, Holding, Report } from "../../../durable-objects/run/protocol.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { RolloutLeft } from "../../rollouts/kept/left.ts";
import type { State } from "../../rollouts/types.ts";
import { unsteered } from "../../config/plan/steered.ts";
import { failureOf, type Failure } from "../../errors/result.ts";
import { maskJson } from "../../errors/masking.ts";
import { Inputs } from "./inputs.ts";
import { damageOf } from "../damage.ts";
import { ticketOf } from "../keep-alive.ts";
import { redoOf } from "./kept-rows.ts";
import type { LooseBase } from "./loose-rollouts.ts";
import { OutgoingRows } from "./outgoing-rows.ts";
import { RolloutKeeper } from "./rollout-keeper.ts";
import type { RunStub } from "../ports.ts";
import type { UnitRows } from "../../environments/unit/run-unit.ts";
import { Session } from "../session/session.ts";
import type { Effect, SessionEvent, UnitWork } from "../session/session-events.ts";
import { TicketCalls } from "./ticket-calls.ts";
import type { TicketHost } from "./ticket-host.ts";
import { timingOf } from "./ticket-timing.ts";
import { rowsOf } from "./unit-rows.ts";
import type { UnitWatch } from "./unit-watch.ts";
import { playSpan } from "./unit-span.ts";
import { UnitsRoom } from "./units-room.ts";

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
  readonly #calls: TicketCalls;
  /** What all rows of this grant depend on. */
  readonly #terms: string;
  readonly #keeper: RolloutKeeper;
  readonly #rows: OutgoingRows;
  readonly #abort = new AbortController();
  /** Of what is being generated. */
  readonly #generation = new AbortController();
  /** Rollouts that have finished, of units that are not committed. */
  readonly #finished = new Map<number, number>();
  readonly #room: UnitsRoom;
  /** Units that wait for their turn to be scored. */
  readonly #turns = new Map<number, PromiseWithResolvers<void>>();
  readonly #over = Promise.withResolvers<void>();
  /** By the number of the segment that they are over with. */
  readonly #spans = new Map<number, readonly number[]>();
  #undivided: { readonly undivided?: true } = {};
  /** Whoever waits until no more is under way than the session lets be. */
  #narrowing: (() => void)[] = [];
  #narrowings = 0;
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
    this.#keeper = new RolloutKeeper(
      host,
      grant.config,
      (event) => this.#feed(event),
      () => this.#endUndivided(),
    );
    this.#rows = new OutgoingRows(host, grant, this.#keeper, (event) => this.#feed(event));
    this.#terms = JSON.stringify([unsteered(grant.config), host.envDigest ?? null]);
    this.#session = new Session(grant, timingOf(host, grant, this.#keeper), sentAt);
    if (grant.scores_only === true) this.#generation.abort(new Error("the run has ended"));
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
    this.#room.watch(() => this.#rows.flush());
    return this.#over.promise.finally(() => this.#room.end());
  }

  /** Bytes held for rows and inputs; bounded whatever the run's size (tested). */
  get bufferedBytes(): number {
    return this.#rows.bytes + this.#inputs.bytes;
  }

  get holdings(): Session["holdings"] {
    return this.#session.holdings;
  }

  /** No more model requests than that; resolves when no more are under way, or it is kept after all. */
  async narrow(requests: number): Promise<void> {
    this.#feed({ type: "narrow", requests });
    if (this.holdings.isFalling) await new Promise<void>((resolve) => this.#narrowing.push(resolve));
  }

  /** Nobody needs what was asked for by `narrow` and is not free yet. */
  keep(): void {
    this.#feed({ type: "keep" });
    this.#tellNarrowed();
  }

  #narrow(holding: Holding): void {
    const narrowing = ++this.#narrowings;
    this.#host.narrow(holding, (requests, scoring) => {
      // Told in the middle of whatever ended a request.
      queueMicrotask(() => {
        if (narrowing !== this.#narrowings) return;
        this.#feed({ type: "narrowed", requests, scoring });
        this.#tellNarrowed();
      });
    });
  }

  #tellNarrowed(): void {
    if (!this.holdings.isFalling) for (const resolve of this.#narrowing.splice(0)) resolve();
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
            .claim({ ...ticket, ...this.#told(started), seq, free, soon, open, spans: true })
            .then((answer) => ({ type: "claimed", seq, sentAt, answer }));
        return this.#call("claim", call, (wait) => ({ type: "claim-failed", seq, wait }));
      }
      case "start":
        return void (effect.work.block.span === undefined ? this.#runUnit(effect.work) : this.#runSpan(effect.work));
      case "score":
        for (const unit of effect.units) this.#turns.get(unit)?.resolve();
        return;
      case "store":
        return this.#call(
          `segment ${effect.n}`,
          () => this.#rows.store(effect.n, effect.pieces, effect.turns),
          (wait) => ({ type: "store-failed", n: effect.n, wait }),
        );
      case "commit":
        this.#spans.set(effect.n, effect.spans);
        return this.#call(
          `commit ${effect.n}`,
          () => this.#rows.commit(effect.n, this.#told(effect.started)),
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
        return this.#narrow(effect.holding);
      case "weigh":
        return this.#host.weigh(effect.priority);
      case "abort":
        this.#end(effect.closes ? new Error("the run has ended") : new RolloutLeft("the executor stopped this unit"));
        return this.#keeper.keepAll();
      case "end-generation":
        this.#generation.abort(new Error("the run has ended"));
        return this.#keeper.keepAll();
      case "leave":
        this.#calls.end();
        this.#rows.save();
        // Not waited for by the session: a ticket nobody leaves lapses.
        return void this.#settled(this.#host.beforeLeave().then(() => this.#run().leave({ ...ticket, ...this.#undivided }))).finally(() =>
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

  #end(reason: unknown): void {
    this.#generation.abort(reason);
    this.#abort.abort(reason);
  }

  /** A fault of this library: nothing of the ticket may go on. */
  #crash(thrown: unknown): void {
    this.#end(thrown);
    clearTimeout(this.#timer);
    this.#over.reject(thrown);
  }

  /** Only for the answer that counts. */
  #committed({ n, answer }: Extract<SessionEvent, { type: "committed" }>): void {
    if (answer.kind === "committed") this.#host.outage.committed();
    const spans = this.#spans.get(n) ?? [];
    this.#spans.delete(n);
    for (const unit of spans) this.#keeper.endSpan(unit);
    for (const unit of [...this.#rows.committed(n), ...spans]) {
      this.#finished.delete(unit);
      this.#room.gone(unit);
    }
  }

  /** What a span has generated can be kept with its whole unit only: the run divides no more of them, and this grant ends. */
  #endUndivided(): void {
    this.#undivided = { undivided: true };
    this.#feed({ type: "stop", how: "abort" });
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
      const { lines: _, ...facts } = rows;
      const finished = { ...facts, terms: this.#termsOf(work) };
      await this.#rows.add(unit, finished, lines, this.#abort.signal);
      this.#feed({ type: "unit-finished", unit, full: this.#rows.isFull || this.#room.isWanted });
    } catch (thrown) {
      await this.#failUnit(unit, thrown);
    }
  }

  async #failUnit(unit: number, thrown: unknown): Promise<void> {
    const damage = damageOf(thrown);
    // Storage that does not answer, mostly: the ticket ends, and whoever asked for it waits before the next.
    if (!this.#abort.signal.aborted && damage === null) this.#failure ??= thrown;
    if (damage !== null) await this.#settled(this.#fail(damage));
    this.#feed({ type: "stop", how: "abort" });
    this.#drop(unit);
  }

  async #runSpan(work: UnitWork): Promise<void> {
    const { unit } = work;
    try {
      await this.#room.begin(unit, true, this.#abort.signal);
      this.#keeper.beginSpan(unit);
      const terms = this.#termsOf(work);
      const isOver = await playSpan(this.#host, this.#grant, this.#inputs, work, {
        ...this.#watch(unit, terms),
        onEnd: (rollout, state, base) => this.#keeper.keepInSpan(unit, rollout, state, { ...base, terms }, "generated"),
        others: (texts) => this.#host.saved.keepRollouts(unit, terms, texts),
      });
      if (!isOver) return this.#drop(unit);
      this.#feed({ type: "span-ended", unit });
    } catch (thrown) {
      await this.#failUnit(unit, thrown);
    }
  }

  #drop(unit: number): void {
    this.#room.gone(unit);
    this.#finished.delete(unit);
    this.#keeper.drop(unit);
    this.#feed({ type: "unit-dropped", unit });
  }

  #endRollout(unit: number, rollout: number, state: State, base: LooseBase): void {
    this.#finished.set(unit, (this.#finished.get(unit) ?? 0) + 1);
    const told = this.#keeper.add(unit, rollout, state, base);
    if (!told && this.#host.slice.wall !== null) this.#feed({ type: "rollout-ended", unit, rollout, keeps: false });
  }

  async #rowsOf(work: UnitWork): Promise<UnitRows | null> {
    const { unit } = work;
    const terms = this.#termsOf(work);
    const saved = this.#host.saved.take(unit, terms);
    if (saved !== null) return saved;
    const waits = this.#grant.config.no_interleave_scoring === true ? { scoringTurn: () => this.#scoringTurn(unit) } : {};
    const answered = this.#host.answersOf?.(unit, work.block.jobs ?? []);
    return rowsOf(this.#host, this.#grant, this.#inputs, work, { ...this.#watch(unit, terms), ...waits }).finally(answered);
  }

  #watch(unit: number, terms: string): UnitWatch {
    return {
      signal: this.#abort.signal,
      generation: this.#generation.signal,
      generated: this.#host.saved.takeRollouts(unit, terms),
      onPlay: (generated, missing, unscored) => {
        if (generated > 0) this.#finished.set(unit, generated);
        this.#keeper.expect(unit, missing, unscored);
      },
      onRollout: (rollout, state, base) => this.#endRollout(unit, rollout, state, { ...base, terms }),
      onTurn: (rollout, state, turn, base) => this.#keeper.turn(unit, rollout, state, turn, { ...base, terms }),
      onScoring: (rollout) => this.#keeper.beginScoring(unit, rollout),
      onScored: (rollout, state, base) => this.#keeper.scored(unit, rollout, state, { ...base, terms }),
      onFull: () => this.stop("drain"),
      refused: (failure) => this.#fail(failure),
    };
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
    this.#end(new Error(failure.message));
    this.#feed({ type: "stop", how: "abort" });
  }
}
