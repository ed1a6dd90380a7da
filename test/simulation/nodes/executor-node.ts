import type { Seat } from "../../../src/executor/session/isolate.ts";
import { Session } from "../../../src/executor/session/session.ts";
import type { Effect, SessionEvent, UnitWork } from "../../../src/executor/session/session-events.ts";
import type { GivesBack, Grant, Report } from "../../../durable-objects/run/protocol.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { clockBeside } from "../world/clockwork.ts";
import { Calls } from "../world/calls.ts";
import { broken, checkFence, checkHeld } from "../invariants.ts";
import { Invocation } from "./invocation.ts";
import type { IsolateNode } from "./isolate-node.ts";
import { Loose, type Made, type PackedPiece } from "../world/loose.ts";
import { ROW_BYTES } from "../world/merging.ts";
import { doOtherTask } from "../world/other-tasks.ts";
import { isSlow } from "../world/plan.ts";
import { Requests, roomFor } from "../world/requests.ts";
import type { Code, Scene } from "../world/scene.ts";
import { Bucket, Troubles } from "../world/storage.ts";
import { UnitPlayer } from "./unit-player.ts";
import { Waits } from "../world/waits.ts";
import { ticketOf, WorkSearch } from "../work-search.ts";

const MARGIN_MS = 1_500;

/**
 * One invocation of an executor as the simulator plays it: the real session machine, and round it a driver whose every call may
 * be lost on the way or on the way back. A crash forgets all of it and cuts its requests; a partition lets the requests go on.
 */
export class ExecutorNode {
  /** That of the run it works for, or asked last. */
  #world: Scene;
  readonly #isolate: IsolateNode;
  readonly #code: Code;
  /** What rows carry under the present grant. */
  #mark: string | undefined;
  readonly #now: () => number;
  #alive = true;
  readonly #calls: Calls;
  #session: Session | null = null;
  #grant: Grant | null = null;
  /** Of the present grant, and what it has of rollouts whose units have no rows. */
  #player: UnitPlayer | null = null;
  #loose = new Loose();
  /** By segment. */
  readonly #packed = new Map<number, readonly PackedPiece[]>();
  #requests: Requests;
  #bucket = new Bucket();
  readonly #rows = new Map<number, readonly RolloutSummary[]>();
  /** Of the present grant. */
  readonly #waits: Waits;
  readonly #invocation: Invocation;
  readonly #search: WorkSearch;
  /** The model server refuses it. */
  readonly #misplaced: boolean;

  constructor(world: Scene, id: string, code: Code, isolate: IsolateNode) {
    this.#world = world;
    this.#code = code;
    this.#isolate = isolate;
    isolate.enter(this);
    this.#now = clockBeside(world);
    this.#misplaced = world.random.chance(world.plan.misplaced);
    this.#invocation = new Invocation(world.plan, this.#now());
    this.#requests = new Requests(world);
    this.#calls = new Calls(world, () => this.#alive);
    this.#waits = new Waits(() => world.random.next());
    this.#search = new WorkSearch(world, {
      id,
      code,
      invocation: this.#invocation,
      calls: this.#calls,
      now: this.#now,
      isIdle: () => this.#alive && this.#session === null,
      moveTo: (next) => this.#moveTo(next),
      begin: (grant, sentAt, mark) => this.#begin(grant, sentAt, mark),
      giveUp: () => this.crash(),
    });
  }

  start(): void {
    this.#search.ask();
    this.#ticking();
  }

  /** Units begun and not committed: what an outside observer may hold against them if this executor falls silent. */
  readonly open = new Set<number>();
  /** Units of which a span was committed under the present grant: a call that was late may have named them as begun again. */
  readonly spanned = new Set<number>();
  /** Units with a span that is generated, and not heard to be committed. */
  readonly #leaving = new Set<number>();
  #troubles = new Troubles();
  /** Under the present grant nothing goes on any more. */
  #stopped = false;
  #seat: Seat | null = null;

  crash(): void {
    if (!this.#alive) return;
    this.#isolate.fallsSilent(this.#world, this);
    this.#isolate.leave(this);
    this.#alive = false;
    this.#requests.abort();
    this.#world.executors.delete(this);
  }

  #ticking(): void {
    if (!this.#alive) return;
    const world = this.#world;
    if (world.strikes(world.plan.fault.crash)) return world.random.chance(0.5) ? this.#isolate.dies() : this.crash();
    this.#calls.partition();
    this.#feed({ type: "tick" });
    if (this.#session !== null && !this.#stopped && this.#grant !== null) checkFence(world, this.#grant.epoch, MARGIN_MS - this.#tick);
    if (this.#session !== null && this.#grant !== null) checkHeld(world, this.#grant.epoch, this.#session.holdings.requests);
    const gives = this.#invocation.gives(this.#now());
    if (gives === "out") return this.crash();
    if (gives === "up") this.#feed({ type: "stop", how: "abort" });
    if (this.#session !== null && this.#invocation.isOver(this.#now())) {
      this.#player?.leave();
      this.#feed({ type: "stop", how: "drain" });
    }
    if (this.#alive && this.#session !== null && world.strikes(world.plan.narrowing)) this.#feed(roomFor(this.#session.holdings));
    if (this.#alive) world.clock.after(this.#tick, () => this.#ticking());
  }

  /** Time between two of its ticks: it stops no more exactly than that. What clocks of other rates make of a lease is less. */
  get #tick(): number {
    return isSlow(this.#world.plan) ? 500 : 100;
  }

  /** Segments and requests are those of one run. */
  #moveTo(world: Scene): void {
    if (world === this.#world) return;
    this.#world = world;
    this.#calls.world = world;
    this.#requests = new Requests(world);
    this.#bucket = new Bucket();
    this.#rows.clear();
  }

  #begin(grant: Grant, sentAt: number, mark: string | undefined): void {
    const digest = this.#code.checks ? this.#search.digest : "e";
    this.#mark = mark;
    if (doOtherTask(this.#world, this.#calls, grant, digest, () => this.#end(grant))) return;
    this.#grant = grant;
    const hold = grant.config.no_interleave_scoring === true ? { hold: Math.max(grant.lanes, this.#world.plan.held) } : {};
    this.spanned.clear();
    this.#leaving.clear();
    this.#packed.clear();
    this.#loose = new Loose();
    this.#player = this.#playerOf(grant);
    this.#requests.open(grant);
    this.#troubles = new Troubles();
    this.#stopped = false;
    this.#waits.renew();
    this.#seat = this.#isolate.seats.seat(grant.lease_ms);
    const { wall } = this.#invocation;
    const times = this.#invocation.timesOf(grant.config.run_id);
    const { capacity, whole } = this.#world.plan;
    const known = { room: () => capacity, open: { keeps: () => !whole, isScoring: () => false } };
    this.#session = new Session(
      grant,
      { margin: MARGIN_MS, idle: 250, seat: this.#seat, times, ...known, ...(wall === null ? {} : { wall }), ...hold },
      sentAt,
    );
    this.#feed({ type: "tick" });
  }

  #playerOf(grant: Grant): UnitPlayer {
    return new UnitPlayer({
      world: this.#world,
      grant,
      requests: this.#requests,
      invocation: this.#invocation,
      calls: this.#calls,
      loose: this.#loose,
      made: this.#made,
      misplaced: this.#misplaced,
      now: this.#now,
      isAlive: () => this.#alive,
      feed: (event) => void (this.#grant === grant && this.#feed(event)),
      crash: () => this.crash(),
      dies: () => this.#isolate.dies(),
      spanEnds: (unit) => this.#leaving.add(unit),
      finished: (unit, rows) => this.#rows.set(unit, rows),
    });
  }

  /** What a row says of the code that made it, and, as a metric, which it was. */
  get #made(): Made {
    return { metrics: { version: this.#code.version }, ...(this.#mark === undefined ? {} : { env_digest: this.#mark }) };
  }

  #end(grant: Grant): void {
    this.#calls.make("leave", ticketOf(grant), () => this.#world.clock.after(50, () => this.#search.ask()));
  }

  /** What every call says that renews the lease. */
  #said(started: readonly number[]): GivesBack & Report {
    return {
      ...this.#session?.givesBack,
      started,
      vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null, progress: this.#player?.answered ?? 0 },
    };
  }

  #feed(event: SessionEvent): void {
    const { session, grant } = { session: this.#session, grant: this.#grant };
    if (session === null || grant === null) return;
    for (const effect of session.step(event, this.#now())) this.#carryOut(effect, grant);
  }

  #carryOut(effect: Effect, grant: Grant): void {
    const [ticket, sentAt] = [ticketOf(grant), this.#now()];
    // An answer may come when another grant has begun.
    const feed = (event: SessionEvent): void => void (this.#grant === grant && this.#feed(event));
    switch (effect.type) {
      case "claim":
        return this.#calls.make("claim", { ...ticket, ...this.#said(effect.started), ...effect, ...(this.#code.checks ? { spans: true } : {}) }, (answer) => {
          if (this.#grant === grant && answer?.renewed === true) this.#troubles.heard(sentAt);
          feed(
            answer === null
              ? { type: "claim-failed", seq: effect.seq, wait: this.#waits.after("claim") }
              : { type: "claimed", seq: effect.seq, sentAt, answer },
          );
        });
      case "start":
        return this.#start(effect.work);
      case "score":
        if (this.#requests.inFlight > 0) broken("units are scored while others are generated");
        for (const unit of effect.units) this.#world.clock.after(this.#world.random.int(1, 500), () => this.#player?.finish(unit));
        return;
      case "store":
        return this.#store(effect, grant);
      case "commit": {
        const units = effect.units.map((unit, index) => ({ unit, offset: index * ROW_BYTES, length: ROW_BYTES, rollouts: this.#rows.get(unit) ?? [] }));
        const pieces = (this.#packed.get(effect.n) ?? []).map(({ lines: _, ...piece }) => piece);
        const segment = `${grant.ticket}-${grant.epoch}-${effect.n}`;
        return this.#calls.make("commit", { ...ticket, ...this.#said(effect.started), segment, units, pieces }, (answer) => {
          if (this.#grant === grant && answer?.kind === "committed" && answer.renewed === true) this.#troubles.heard(sentAt);
          if (answer !== null) this.#committed(effect);
          if (this.#grant === grant) this.#troubles.note(`segment ${effect.n}`, answer !== null);
          feed(
            answer === null
              ? { type: "commit-failed", n: effect.n, wait: this.#waits.after(`commit ${effect.n}`) }
              : { type: "committed", n: effect.n, sentAt, answer },
          );
        });
      }
      case "beat": {
        return this.#calls.make("beat", { ...ticket, ...this.#said(effect.started) }, (answer) => {
          if (this.#grant === grant) this.#troubles.noteBeat(sentAt, answer !== null);
          feed(answer === null ? { type: "beat-failed", sentAt, wait: this.#waits.after("beat") } : { type: "beaten", sentAt, answer });
        });
      }
      case "narrow":
        return this.#requests.narrow(effect.holding, (requests) => this.#feed({ type: "narrowed", requests }));
      case "abort":
        this.#stopped = true;
        return this.#abort();
      case "end-generation":
        return this.#player?.endGeneration();
      case "leave":
        return this.#calls.make("leave", ticket, () => undefined);
      case "over":
        if (this.#requests.inFlight > 0) broken("a session ended with requests in flight");
        this.#session = null;
        this.#seat?.leave();
        // Should the leave be lost, what was given up is held against it.
        this.#isolate.fallsSilent(this.#world, this);
        this.open.clear();
        this.#world.clock.after(50 + (this.#player?.pause ?? 0), () => this.#search.ask());
        this.#player = null;
    }
  }

  #committed({ units, spans }: Extract<Effect, { type: "commit" }>): void {
    for (const unit of [...units, ...spans]) this.open.delete(unit);
    for (const unit of spans) {
      this.spanned.add(unit);
      this.#leaving.delete(unit);
      this.#loose.letGo(unit);
    }
  }

  #store({ n, units, pieces, turns }: Extract<Effect, { type: "store" }>, grant: Grant): void {
    const packed = this.#packed.get(n) ?? this.#loose.pack(pieces, turns, this.#world.clock.now);
    this.#packed.set(n, packed);
    this.#world.clock.after(this.#world.random.int(1, 30), () => {
      if (!this.#alive) return;
      const stored = this.#bucket.put(this.#world, `${grant.ticket}-${grant.epoch}-${n}`, { units, rows: this.#rows, kept: packed });
      if (this.#grant !== grant) return;
      if (!stored) this.#troubles.note(`segment ${n}`, false);
      this.#feed(stored ? { type: "stored", n } : { type: "store-failed", n, wait: this.#waits.after(`segment ${n}`) });
    });
  }

  #start(work: UnitWork): void {
    const { unit } = work;
    this.#troubles.mayBegin(unit);
    if (this.#session?.holdings.isHeld === true) broken(`unit ${unit} is begun though nothing of its run may begin`);
    if (this.#leaving.has(unit)) broken(`unit ${unit} is begun while a span of it is on its way`);
    this.open.add(unit);
    this.#player?.start(work);
  }

  #abort(): void {
    this.#isolate.fallsSilent(this.#world, this);
    this.open.clear();
    this.#player?.abort();
  }
}
