import { Fleet } from "../../durable-objects/dispatcher/fleet.ts";
import { OfferBook } from "../../durable-objects/dispatcher/offers.ts";
import { type Grant, PROTOCOL } from "../../durable-objects/run/protocol.ts";
import { Services, shareAt } from "../../src/executor/hosting/services.ts";
import { Session } from "../../src/executor/session/session.ts";
import type { Effect, SessionEvent } from "../../src/executor/session/session-events.ts";
import { CONSUMER_WALL_MS, SLICE_MS } from "../../src/limits.ts";
import { RuleRun, summary } from "../support/rule-run.ts";
import { Clockwork } from "./clockwork.ts";
import { Random } from "./random.ts";

/** As a deployment has it. */
const REQUESTS = 5;
const POLL_MS = 10_000;
const WALL_MS = CONSUMER_WALL_MS - 30_000;
const START = 1_000_000;

export interface FullFleet {
  readonly runs: number;
  readonly executors: number;
  /** How long a unit takes, from and to. Milliseconds. */
  readonly unit: readonly [number, number];
  /** Length of the schedule, and its beginning that is not counted: the fleet is new. Milliseconds. */
  readonly length: number;
  readonly warmUp: number;
}

/** Runs that want everything and a fleet that is full, without faults: the real rules of Run, Dispatcher and executor, to see how much of it is used. */
class FleetWorld {
  readonly plan: FullFleet;
  readonly random: Random;
  readonly clock = new Clockwork();
  readonly book = new OfferBook();
  readonly fleet = new Fleet();
  readonly runs = new Map<string, RuleRun>();
  #nextExecutor = 1;
  #inFlight = 0;
  #since = 0;
  #used = 0;

  constructor(seed: number, plan: FullFleet) {
    this.random = new Random(seed);
    this.plan = plan;
    for (let index = 0; index < plan.runs; index++) {
      const run = `run${String(index).padStart(2, "0")}`;
      this.runs.set(run, RuleRun.open(5_000, { max_concurrent: 1_000 }));
      this.offer(run);
    }
    for (let index = 0; index < plan.executors; index++) this.clock.at(this.random.int(0, 20_000), () => this.start());
  }

  get now(): number {
    return START + this.clock.now;
  }
  run(id: string): RuleRun {
    const run = this.runs.get(id);
    if (run === undefined) throw new Error(`no run ${id}`);
    run.now = this.now;
    return run;
  }
  offer(run: string): void {
    const { want, seq, idle } = this.run(run).head.offer;
    this.book.offer({ run, weight: 1, want, seq, ...(idle === undefined ? {} : { idle }) }, this.now);
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

  constructor(world: FleetWorld, id: string) {
    this.#world = world;
    this.#id = id;
    this.#born = world.clock.now;
  }

  get #isOver(): boolean {
    const age = this.#world.clock.now - this.#born;
    return age >= SLICE_MS || (this.#wanted && age >= this.#slice);
  }

  ask(): void {
    if (this.#isOver) return this.#finish();
    this.#look();
    this.#world.clock.after(POLL_MS, () => this.ask());
  }

  #look(): void {
    const { book, fleet, now, clock } = this.#world;
    const free = Math.max(0, REQUESTS - this.#services.taken);
    const request = { executor: this.#id, free, serving: this.#services.serving, refused: [] };
    const answer = book.next(this.#services.isMakingRoom ? { ...request, yielding: true } : request, now);
    this.#slice = fleet.heard(this.#id, clock.now - this.#born, answer.wanted, now);
    this.#wanted = answer.wanted > 0;
    for (const [at, { run }] of answer.runs.entries()) this.#join(run, shareAt(at, free, answer.runs.length));
    if (answer.yield !== null) void this.#services.makeRoom(answer.yield);
  }

  #finish(): void {
    this.#services.stop("drain");
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
    if (grant.kind === "grant") this.#work(run, grant);
  }

  #work(run: string, grant: Grant): void {
    const { clock, plan, random } = this.#world;
    let running = 0;
    const session = new Session(
      grant,
      { margin: 1_500, idle: 250, wall: { endsAt: this.#born + WALL_MS, deadline: null }, times: this.#services.timesOf(run) },
      clock.now,
    );
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
        clock.after(random.int(...plan.unit), () => {
          this.#world.count(-1);
          running--;
          feed({ type: "unit-finished", unit: effect.work.unit, full: false });
        });
      }
      // No unit is in flight above it once `requests` of the newest narrowing is reached.
      if (effect.type === "narrow") {
        const reached = (): void => {
          if (session.isOver) return;
          if (running > effect.holding.requests) return clock.after(100, reached);
          feed({ type: "narrowed", requests: effect.holding.requests });
        };
        reached();
      }
      if (effect.type === "leave") call((of) => of.call("leave", id));
      if (effect.type === "over") {
        this.#services.delete(run);
        if (!this.#isOver) clock.after(1, () => this.#look());
      }
    };
    const ticket = {
      holdings: session.holdings,
      stop: (how: "drain" | "abort") => feed({ type: "stop", how }),
      narrow: async (requests: number) => feed({ type: "narrow", requests }),
    };
    const service = { requests: grant.requests, streams: 1, yielding: false, ticket };
    this.#services.put(run, service as never);
    const ticking = (): void => {
      if (session.isOver) return;
      feed({ type: "tick" });
      clock.after(Math.max(20, session.nextTick(clock.now) - clock.now), ticking);
    };
    ticking();
  }
}

/** Twenty runs that want everything, and forty requests. */
export const SATURATED: FullFleet = { runs: 20, executors: 8, unit: [5_000, 40_000], length: 20 * 60_000, warmUp: 5 * 60_000 };
/** What of a full fleet is to be used. */
export const LEAST_USED = 0.95;

/** Share of the requests of a full fleet that are in flight. */
export function utilisationOf(seed: number, plan: FullFleet): number {
  const world = new FleetWorld(seed, plan);
  while (world.clock.now < plan.length && world.clock.step());
  return world.utilisation;
}
