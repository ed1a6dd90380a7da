import { type NextRequest, OfferBook, type OfferMessage } from "../../../durable-objects/dispatcher/offers.ts";
import { envDigestOf } from "../../../src/config/env-digest.ts";
import { drawCleaning } from "./cleaning.ts";
import { Clockwork } from "./clockwork.ts";
import { ExecutorNode } from "../nodes/executor-node.ts";
import { IsolateNode } from "../nodes/isolate-node.ts";
import { drawPlan, drawRunPlan, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { RunWorld } from "./run-world.ts";
import { isRuled, withRule } from "../stopping.ts";
import type { Scene } from "./scene.ts";

const WATCHDOG_MS = 60_000;
/** How long a unit that is to be alone waits for others: invocations are a tenth as long as the platform's. */
const PATIENCE_MS = 6_000;
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
  offer(run: string, message: Omit<OfferMessage, "run" | "weight">): void {
    this.#book.offer({ run, weight: 1, ...message }, this.#world.clock.now);
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

/** One schedule: runs, their executors and everything that can go wrong between them, all drawn from one seed. */
export class World {
  readonly random: Random;
  readonly plan: Plan;
  readonly clock = new Clockwork();
  readonly dispatcher: DispatcherNode;
  readonly runs: readonly RunWorld[];
  readonly executors = new Set<ExecutorNode>();
  readonly isolates: readonly IsolateNode[];
  boot = "boot-1";
  runtime = "runtime-1";
  #boots = 1;
  #runtimes = 1;
  readonly codes = [codeOf(0)];
  #generations = 0;
  #nextExecutor = 1;

  constructor(seed: number) {
    this.random = new Random(seed);
    const added = new Random(seed ^ 0xadded);
    this.plan = drawPlan(this.random, added);
    this.dispatcher = new DispatcherNode(this);
    this.isolates = Array.from({ length: this.plan.isolates }, () => new IsolateNode(() => this.clock.now, PATIENCE_MS));
    // Drawn beside the schedule, which stays what it was.
    const beside = new Random(seed ^ 0x5eed);
    const plans = Array.from({ length: this.plan.runs - 1 }, (_, index) => drawRunPlan(this.random, added, this.plan, index + 2));
    const rules = isRuled(seed) ? new Random(seed ^ 0x5704) : null;
    const played = [this.plan, ...plans].map((plan) => (rules === null ? plan : withRule(plan, rules)));
    this.runs = played.map((plan) => new RunWorld(this, plan, drawCleaning(beside, this.plan.calmAt)));
    this.clock.after(WATCHDOG_MS, () => this.#watchdog());
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

  of(run: string): Scene {
    const found = this.runs.find(({ plan }) => plan.config.run_id === run);
    if (found === undefined) throw new Error(`no run ${run}`);
    return found;
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
      const code = { version: Math.max(0, this.codes.length - late), checks: !this.strikes(this.plan.unchecked) };
      const executor = new ExecutorNode(this.random.pick(this.runs), `e${this.#nextExecutor++}`, code, this.random.pick(this.isolates));
      this.executors.add(executor);
      executor.start();
    });
  }

  generated(): number {
    return ++this.#generations;
  }

  #watchdog(): void {
    for (const run of this.runs) run.run.poke();
    this.clock.after(WATCHDOG_MS, () => this.#watchdog());
  }

  deploy(): void {
    this.codes.push(codeOf(this.codes.length));
  }

  /** SIGKILL of the whole local stack, or of its runtime alone (the same boot): executors and queue messages are gone, the Runs' storage stays. */
  restart(how: "whole" | "runtime"): void {
    if (how === "whole") this.boot = `boot-${++this.#boots}`;
    this.runtime = `runtime-${++this.#runtimes}`;
    for (const executor of this.executors) executor.crash();
    for (const run of this.runs) this.clock.after(this.random.int(10, 3_000), () => run.run.poke());
  }
}
