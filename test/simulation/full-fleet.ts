import { Fleet } from "../../durable-objects/dispatcher/fleet.ts";
import { OfferBook, PROMISE_MS } from "../../durable-objects/dispatcher/offers.ts";
import { type Grant, PROTOCOL } from "../../durable-objects/run/protocol.ts";
import { Services, shareAt } from "../../src/executor/hosting/services.ts";
import { Rest } from "../../src/executor/rest.ts";
import { Session } from "../../src/executor/session/session.ts";
import type { Effect, SessionEvent } from "../../src/executor/session/session-events.ts";
import { CONSUMER_WALL_MS, SLICE_MS } from "../../src/limits.ts";
import { RuleRun, summary } from "../support/run/rule-run.ts";
import { Clockwork } from "./world/clockwork.ts";
import { broken } from "./invariants.ts";
import type { Wall } from "../../src/executor/session/unit-times.ts";
import { Random } from "./world/random.ts";

/** As a deployment has it. */
const REQUESTS = 5;
const POLL_MS = 10_000;
/** How long the answer to a look takes, from and to. Milliseconds. */
const LOOK_MS = [5, 500] as const;
const WALL_MS = CONSUMER_WALL_MS - 30_000;
const START = 1_000_000;
/** An executor that ends says so after so long. */
const SILENCE_MS = 30_000;

/** Runs that are alike. */
export interface FleetRuns {
  readonly count: number;
  readonly units: number;
  /** How long a unit takes, from and to. Milliseconds. */
  readonly unit: readonly [number, number];
  /** When they begin. Milliseconds. */
  readonly from?: number;
}

export interface FullFleet {
  readonly runs: readonly FleetRuns[];
  readonly executors: number;
  /** Length of the schedule, and its beginning that is not counted: the fleet is new. Milliseconds. */
  readonly length: number;
  readonly warmUp: number;
  /** Share of its requests that is to be in flight. */
  readonly least: number;
  /** Longest that a run may wait for its first executor, or for another when it has none any more. Milliseconds. */
  readonly patience: number;
}

/** Runs that want everything and a fleet that is full, without faults: the real rules of Run, Dispatcher and executor, to see how much of it is used. */
class FleetWorld {
  readonly plan: FullFleet;
  readonly random: Random;
  readonly clock = new Clockwork();
  readonly book = new OfferBook();
  readonly fleet = new Fleet();
  readonly runs = new Map<string, RuleRun>();
  /** How long units of each run take. */
  readonly units = new Map<string, FleetRuns["unit"]>();
  #nextExecutor = 1;
  #inFlight = 0;
  #since = 0;
  #used = 0;

  constructor(seed: number, plan: FullFleet) {
    this.random = new Random(seed);
    this.plan = plan;
    for (const alike of plan.runs) {
      for (let count = 0; count < alike.count; count++) {
        const run = `run${String(this.units.size).padStart(3, "0")}`;
        this.units.set(run, alike.unit);
        this.clock.at(alike.from ?? 0, () => this.begin(run, alike));
      }
    }
    for (let index = 0; index < plan.executors; index++) this.clock.at(this.random.int(0, 20_000), () => this.start());
  }

  get now(): number {
    return START + this.clock.now;
  }
  begin(run: string, { units }: FleetRuns): void {
    const begun = new RuleRun({ num_examples: units, max_concurrent: 1_000 });
    begun.now = this.now;
    begun.pin(units);
    this.runs.set(run, begun);
    this.offer(run);
  }
  run(id: string): RuleRun {
    const run = this.runs.get(id);
    if (run === undefined) throw new Error(`no run ${id}`);
    run.now = this.now;
    return run;
  }
  offer(run: string): void {
    const { want, seq, idle } = this.run(run).head.offer;
    this.#noteIdle(run, idle === true);
    this.book.offer({ run, weight: 1, want, seq, ...(idle === undefined ? {} : { idle }) }, this.now);
  }
  #noteIdle(run: string, idle: boolean): void {
    const since = this.#idle.get(run);
    if (idle && since === undefined) this.#idle.set(run, this.now);
    if (idle || since === undefined) return;
    this.#idle.delete(run);
    this.#idleAt.set(run, this.now);
    this.noteWait(this.now - since);
  }
  /** Room is made for a run that has nothing, by one executor at a time. */
  checkYield(): void {
    const since = this.now - PROMISE_MS;
    this.#yields = [...this.#yields.filter((at) => at > since), this.now];
    const needy = new Set([...this.#idle.keys(), ...[...this.#idleAt].flatMap(([run, at]) => (at > since ? [run] : []))]).size;
    if (this.#yields.length > needy) broken(`${this.#yields.length} executors make room for ${needy} runs that have nothing`);
  }
  #yields: number[] = [];
  /** Runs that have nothing, by when that began; and of others when it ended for the last time. */
  readonly #idle = new Map<string, number>();
  readonly #idleAt = new Map<string, number>();
  /** The longest that a run has had nothing. */
  waited = 0;
  noteWait(ms: number): void {
    this.waited = Math.max(this.waited, ms);
  }
  noteEnd(): void {
    for (const since of this.#idle.values()) this.noteWait(this.now - since);
  }

  /** A consumer that ends makes room for the next message: there are always some. */
  start(): void {
    new FleetExecutor(this, `e${this.#nextExecutor++}`).ask();
  }
  count(change: 1 | -1): void {
    this.#used += this.#inFlight * Math.max(0, this.clock.now - Math.max(this.#since, this.plan.warmUp));
    this.#since = this.clock.now;
    this.#inFlight += change;
  }
  get utilisation(): number {
    return this.#used / (this.plan.executors * REQUESTS * (this.clock.now - this.plan.warmUp));
  }
}

/** One consumer invocation: what executor.ts does, with units that only take their time. */
class FleetExecutor {
  readonly #world: FleetWorld;
  readonly #id: string;
  readonly #services = new Services();
  readonly #born: number;
  #slice = SLICE_MS;
  #wanted = false;
  #joins = 0;
  readonly #rest: Rest;

  constructor(world: FleetWorld, id: string) {
    this.#world = world;
    this.#id = id;
    this.#born = world.clock.now;
    this.#rest = new Rest(world.clock.timer);
  }

  get #wall(): Wall {
    return { endsAt: this.#born + WALL_MS, deadline: null };
  }
  get #left(): number {
    return (this.#wanted ? Math.min(SLICE_MS, this.#slice) : SLICE_MS) - (this.#world.clock.now - this.#born);
  }
  get #isOver(): boolean {
    return this.#left <= 0;
  }

  /** As executor.ts: a look, and then a rest. */
  ask(): void {
    const { clock, random } = this.#world;
    this.#checkRest();
    if (this.#isOver) return this.#finish();
    this.#askedAt = clock.now;
    clock.after(random.int(...LOOK_MS), () => {
      this.#look();
      this.#rest.begin(POLL_MS, () => this.ask());
    });
  }

  /** When it began to look for the last time, and when lanes of it became free for the last time. */
  #askedAt = 0;
  #freedAt = 0;
  #checkRest(): void {
    const { now } = this.#world.clock;
    if (this.#freedAt > this.#askedAt && now - this.#freedAt > LOOK_MS[1]) broken(`an executor with free lanes looks for runs after ${now - this.#freedAt} ms`);
  }

  #look(): void {
    const { book, fleet, now, clock } = this.#world;
    const free = Math.max(0, REQUESTS - this.#services.taken);
    const passes = this.#services.beyond(this.#wall, clock.now);
    const request = { executor: this.#id, free, serving: this.#services.serving, passes, refused: [] };
    const answer = book.next(this.#services.isMakingRoom ? { ...request, yielding: true } : request, now);
    this.#slice = fleet.heard(this.#id, clock.now - this.#born, answer.wanted, now);
    this.#wanted = answer.wanted > 0;
    for (const [at, { run }] of answer.runs.entries()) this.#join(run, shareAt(at, free, answer.runs.length));
    if (answer.needy === false) this.#services.keepRest();
    if (answer.more !== undefined) this.#services.enlarge(answer.more, free, this.#left);
    if (answer.yield !== null) this.#world.checkYield();
    if (answer.yield !== null) void this.#services.makeRoom(answer.yield);
  }

  #finish(): void {
    this.#services.stop("drain");
    this.#world.clock.after(SILENCE_MS, () => {
      if (this.#services.size > 0) this.#world.fleet.finishes(this.#id, this.#wall.endsAt - this.#world.clock.now, this.#world.now);
    });
    const wait = (): void => {
      if (this.#services.size > 0) return this.#world.clock.after(100, wait);
      this.#world.fleet.left(this.#id);
      this.#world.start();
    };
    wait();
  }

  #join(run: string, free: number): void {
    const grant = this.#world.run(run).join(this.#id, { free, seq: ++this.#joins });
    this.#world.offer(run);
    if (grant.kind !== "grant") return;
    if (grant.task.kind === "units") return this.#work(run, grant, free);
    this.#world.run(run).call("finalised", this.#world.run(run).id(grant));
    this.#world.offer(run);
    this.#freed();
  }

  #freed(): void {
    this.#freedAt = this.#world.clock.now;
    this.#rest.wake();
  }

  #work(run: string, grant: Grant, asked: number): void {
    const { clock, random } = this.#world;
    const unit = this.#world.units.get(run) ?? [1, 1];
    let running = 0;
    const session = new Session(grant, { margin: 1_500, idle: 250, wall: this.#wall, times: this.#services.timesOf(run) }, clock.now);
    const feed = (event: SessionEvent): void => {
      for (const effect of session.step(event, clock.now)) carryOut(effect);
    };
    const soon = (event: () => SessionEvent): void => clock.after(5, () => feed(event()));
    const id = { protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch } as const;
    const vitals = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
    const call = <Answer>(send: (of: RuleRun) => Answer): Answer => {
      const answer = send(this.#world.run(run));
      this.#world.offer(run);
      return answer;
    };
    const carryOut = (effect: Effect): void => {
      const { givesBack } = session;
      const sentAt = clock.now;
      if (effect.type === "claim")
        soon(() => ({ type: "claimed", seq: effect.seq, sentAt, answer: call((of) => of.call("claim", { ...id, ...givesBack, ...effect })) }));
      if (effect.type === "beat")
        soon(() => ({
          type: "beaten",
          sentAt,
          answer: call((of) => of.call("beat", { ...id, ...givesBack, started: effect.started, vitals })),
        }));
      if (effect.type === "store") soon(() => ({ type: "stored", n: effect.n }));
      if (effect.type === "commit") {
        const units = effect.units.map((unit) => ({ unit, offset: 0, length: 10, rollouts: [summary()] }));
        const segment = `${grant.ticket}-${grant.epoch}-${effect.n}`;
        soon(() => ({ type: "committed", n: effect.n, sentAt, answer: call((of) => of.call("commit", { ...id, ...givesBack, segment, units })) }));
      }
      if (effect.type === "start") {
        this.#world.count(1);
        running++;
        clock.after(random.int(...unit), () => {
          this.#world.count(-1);
          running--;
          tellNarrowed();
          feed({ type: "unit-finished", unit: effect.work.unit, full: false });
        });
      }
      if (effect.type === "narrow") {
        narrowing = effect.holding.requests;
        clock.after(0, tellNarrowed);
      }
      if (effect.type === "leave") call((of) => of.call("leave", id));
      if (effect.type === "over") {
        const again = service.enlarging && !this.#isOver ? this.#services.asks(service as never, REQUESTS) : 0;
        this.#services.delete(run);
        if (again > 0) this.#join(run, again);
        else this.#freed();
      }
    };
    /** What no more than is to be in flight; null = as was granted, or reached. */
    let narrowing: number | null = null;
    /** Somebody waits for that, and looks for runs at once. */
    let makesRoom = false;
    const tellNarrowed = (): void => {
      if (session.isOver || narrowing === null) return;
      if (running <= narrowing) narrowing = null;
      feed({ type: "narrowed", requests: running });
      if (!makesRoom || session.holdings.isFalling) return;
      makesRoom = false;
      this.#freed();
    };
    const ticket = {
      holdings: session.holdings,
      stop: (how: "drain" | "abort") => feed({ type: "stop", how }),
      narrow: async (requests: number) => {
        makesRoom = true;
        feed({ type: "narrow", requests });
      },
      keep: () => {
        makesRoom = false;
        feed({ type: "keep" });
      },
    };
    const service = { requests: grant.requests, asked, streams: 1, yielding: false, enlarging: false, ticket };
    this.#services.put(run, service as never);
    const ticking = (): void => {
      if (session.isOver) return;
      feed({ type: "tick" });
      clock.after(Math.max(20, session.nextTick(clock.now) - clock.now), ticking);
    };
    ticking();
  }
}

/** Fleets that are full, by what is special of each. */
export const FLEETS = {
  /** Twenty runs that want everything, and forty requests. */
  saturated: {
    runs: [{ count: 20, units: 5_000, unit: [5_000, 40_000] }],
    executors: 8,
    length: 20 * 60_000,
    warmUp: 5 * 60_000,
    least: 0.95,
    patience: 300_000,
  },
  /** Many that are soon over: lanes become free all the time. */
  short: { runs: [{ count: 400, units: 10, unit: [1_000, 5_000] }], executors: 4, length: 8 * 60_000, warmUp: 60_000, least: 0.95, patience: 600_000 },
  /** A run of a slow model has everything before the others begin. */
  slow: {
    runs: [
      { count: 1, units: 5_000, unit: [240_000, 480_000] },
      { count: 3, units: 5_000, unit: [5_000, 40_000], from: 20 * 60_000 },
    ],
    executors: 8,
    length: 40 * 60_000,
    warmUp: 25 * 60_000,
    // Of 98 seeds one had 82 %, the others 90 and more.
    least: 0.8,
    patience: 120_000,
  },
  /** A run that comes to a small fleet in which one has everything, of units that fill a slice: two minutes before the first of them is done. */
  late: {
    runs: [
      { count: 1, units: 5_000, unit: [540_000, 720_000] },
      { count: 1, units: 10_000, unit: [5_000, 40_000], from: 30 * 60_000 },
    ],
    executors: 2,
    length: 45 * 60_000,
    warmUp: 15 * 60_000,
    least: 0.85,
    // The longest of 98 seeds was 241 s.
    patience: 300_000,
  },
} as const satisfies Readonly<Record<string, FullFleet>>;

export interface FleetOutcome {
  /** Share of the requests of the fleet that were in flight. */
  readonly used: number;
  /** The longest that a run waited with nothing. Milliseconds. */
  readonly waited: number;
}

/** Plays one; returns what came of it, or what went wrong. */
export function playFleet(seed: number, plan: FullFleet): FleetOutcome | string {
  const world = new FleetWorld(seed, plan);
  try {
    while (world.clock.now < plan.length && world.clock.step());
    const { utilisation: used } = world;
    world.noteEnd();
    const { waited } = world;
    if (waited > plan.patience) broken(`a run had nothing for ${waited} ms`);
    if (used < plan.least) broken(`${(100 * used).toFixed(1)} % of a full fleet is used`);
    return { used, waited };
  } catch (thrown) {
    return `seed ${seed} at ${world.clock.now} ms: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
