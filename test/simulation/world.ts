import { type NextRequest, OfferBook, type OfferMessage } from "../../durable-objects/dispatcher/offers.ts";
import { envDigestOf } from "../../src/config/env-digest.ts";
import { isSuspended } from "../../durable-objects/run/grants/offers.ts";
import { Clockwork } from "./clockwork.ts";
import { ExecutorNode } from "./executor-node.ts";
import { broken } from "./invariants.ts";
import { drawPlan, type Plan } from "./plan.ts";
import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";
import { Random } from "./random.ts";
import { RunNode } from "./run-node.ts";
import type { Scene } from "./scene.ts";

const RUN = "00000001";
const WATCHDOG_MS = 60_000;
/** Digest of a version of the environment. */
const codeOf = (version: number): string => envDigestOf(version.toString(16).padStart(64, "0"));

/** The Dispatcher as the simulator plays it: soft state that may be lost, nudges through a queue that loses and doubles. */
class DispatcherNode {
  #book = new OfferBook();
  readonly #world: World;
  #wake = 0;
  constructor(world: World) {
    this.#world = world;
  }
  offer(message: Omit<OfferMessage, "run" | "weight">): void {
    this.#book.offer({ run: RUN, weight: 1, ...message }, this.#world.clock.now);
    this.#after();
  }
  /** An instance that starts with nothing. */
  forget(): void {
    this.#book = new OfferBook();
  }
  next(request: NextRequest) {
    const answer = this.#book.next(request, this.#world.clock.now);
    this.#after();
    return answer;
  }
  #after(): void {
    for (const { count } of this.#book.nudge(this.#world.plan.capacity, this.#world.clock.now)) {
      for (let i = 0; i < Math.min(count, 4); i++) this.#world.nudged();
    }
    const wake = this.#book.nextWake;
    const id = ++this.#wake;
    if (wake !== null) {
      this.#world.clock.at(Math.max(wake, this.#world.clock.now + 1), () => {
        if (id === this.#wake) this.#after();
      });
    }
  }
}

/** One schedule: a run, its executors and everything that can go wrong between them, all drawn from one seed. */
export class World implements Scene {
  readonly random: Random;
  readonly plan: Plan;
  readonly clock = new Clockwork();
  /** Executor by epoch, over the whole life of the run. */
  readonly epochs = new Map<number, string>();
  readonly granted = new Map<number, number>();
  /** Last known end of each lease, by epoch. */
  readonly leases = new Map<number, number>();
  /** Blocks handed out, by epoch and claim number. */
  readonly blocks = new Map<string, string>();
  readonly dispatcher: DispatcherNode;
  readonly run: RunNode;
  readonly executors = new Set<ExecutorNode>();
  /** Every time an executor fell silent with a unit begun and not committed, and whether that unit was alone in it. */
  readonly silences: { readonly unit: number; readonly alone: boolean }[] = [];
  readonly segments = new Map<string, readonly RolloutSummary[]>();
  readonly objects: Scene["objects"] = new Map();
  readonly answers = new Map<string, RolloutSummary>();
  readonly kept = new Map<string, number>();
  repairs: Scene["repairs"] = { generation: 1, owed: new Map() };
  boot = "boot-1";
  runtime = "runtime-1";
  inFlight = 0;
  #boots = 1;
  #runtimes = 1;
  readonly codes = [codeOf(0)];
  #generations = 0;
  #nextExecutor = 1;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.plan = drawPlan(this.random);
    this.dispatcher = new DispatcherNode(this);
    this.run = new RunNode(this);
    for (const { at, what } of this.plan.interventions) this.clock.at(at, () => this.#intervene(what));
    this.clock.after(WATCHDOG_MS, () => this.#watchdog());
    this.clock.at(this.plan.calmAt, () => this.#calmDown());
  }

  get calm(): boolean {
    return this.clock.now >= this.plan.calmAt;
  }
  get outage(): boolean {
    const { outage } = this.plan;
    return !this.calm && outage !== null && this.clock.now >= outage.from && this.clock.now < outage.to;
  }
  strikes(probability: number): boolean {
    return !this.calm && probability > 0 && this.random.chance(probability);
  }

  /** A message under way: late, doubled, or lost (then `lost` runs after a time-out). */
  message(deliver: () => void, lost: () => void = () => undefined): void {
    const { fault } = this.plan;
    if (this.strikes(fault.lost)) {
      this.clock.after(this.random.int(100, 2_000), lost);
      return;
    }
    // A straggler arrives long after its sender has given it up.
    const late = this.strikes(fault.late) ? this.random.int(1_000, 15_000) : 0;
    const delay = this.calm ? 1 : late + this.random.pick([0, 1, 5, 50, 600]);
    this.clock.after(delay, deliver);
    if (this.strikes(fault.doubled)) this.clock.after(delay + this.random.int(0, 500), deliver);
  }

  /** A queue message: a hint, delivered late, twice or never. */
  nudged(): void {
    this.message(() => {
      if (this.executors.size >= this.plan.executors) return;
      const late = this.strikes(this.plan.late) ? 2 : 1;
      const version = Math.max(0, this.codes.length - late);
      const executor = new ExecutorNode(this, `e${this.#nextExecutor++}`, { version, checks: !this.strikes(this.plan.unchecked) });
      this.executors.add(executor);
      executor.start();
    });
  }

  generated(): number {
    return ++this.#generations;
  }

  requestStarted(): void {
    this.inFlight++;
    const limit = this.plan.config.max_concurrent;
    if (limit > 0 && this.inFlight > limit) broken(`${this.inFlight} requests in flight, the limit is ${limit}`);
  }

  #watchdog(): void {
    this.run.poke();
    this.clock.after(WATCHDOG_MS, () => this.#watchdog());
  }

  #intervene(what: Plan["interventions"][number]["what"]): void {
    const call = (change: () => void): void => {
      try {
        change();
      } catch (thrown) {
        if (thrown instanceof Error && thrown.message.startsWith("invariant")) throw thrown;
      }
    };
    if (what === "cancel" || what === "interrupt") call(() => this.run.call(what, null));
    if (what === "mend" || what === "deploy") this.codes.push(codeOf(this.codes.length));
    if (what === "resume" || what === "grow" || what === "mend") call(() => this.resume(what === "grow" ? this.random.int(0, 10) : 0));
    if (what === "forget-offers") this.dispatcher.forget();
    if (what === "watchdog") this.run.poke();
    if (what === "restart") this.#restart(`boot-${++this.#boots}`);
    if (what === "runtime-death") this.#restart(this.boot);
  }

  resume(growth: number, accepted = this.random.chance(0.5)): void {
    const n = this.run.ledger.head()?.n ?? null;
    this.run.call("resume", {
      boot: this.boot,
      attended: this.plan.config.attended,
      num_examples: n === null || growth === 0 ? null : n + growth,
      keep_errors: false,
      expect: {},
      base_url: null,
      api_key_var: null,
      max_concurrent: null,
      max_retries: null,
      timeout_minutes: null,
      env_digest: this.codes.at(-1) ?? null,
      accept_code_change: accepted,
    });
  }

  /** SIGKILL of the whole local stack, or of its runtime alone (the same boot): executors and queue messages are gone, the Run's storage stays. */
  #restart(boot: string): void {
    this.boot = boot;
    this.runtime = `runtime-${++this.#runtimes}`;
    for (const executor of this.executors) executor.crash();
    this.clock.after(this.random.int(10, 3_000), () => this.run.poke());
  }

  /** Faults are over: partitions heal, and an attended or interrupted run is resumed by its user. */
  #calmDown(): void {
    const poll = (): void => {
      const { head, suspended } = this.outcome();
      if (suspended) {
        try {
          this.resume(0, true);
        } catch (thrown) {
          if (thrown instanceof Error && thrown.message.startsWith("invariant")) throw thrown;
        }
      }
      if (head.phase !== "settled") this.clock.after(5_000, poll);
    };
    poll();
  }

  outcome() {
    const head = this.run.ledger.head();
    if (head === null) broken("the run is gone");
    return { head, suspended: isSuspended(this.run.ledger.config(), head, this.run.context()) };
  }
}
