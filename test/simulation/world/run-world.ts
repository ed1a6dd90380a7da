import { isSuspended } from "../../../durable-objects/run/grants/offers.ts";
import { NO_STOP_RULE } from "../../../src/config/options/stop-rule.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { CleaningPlan } from "./cleaning.ts";
import { broken } from "../invariants.ts";
import type { Made } from "./loose.ts";
import type { Plan } from "./plan.ts";
import { RunNode } from "../nodes/run-node.ts";
import type { Scene, SharedWorld } from "./scene.ts";

/** One run of a schedule, and the world as it and its executors see it. */
export class RunWorld implements Scene {
  readonly #world: SharedWorld;
  readonly plan: Plan;
  /** Executor by epoch, over the whole life of the run. */
  readonly epochs = new Map<number, string>();
  readonly granted = new Map<string, number>();
  counted = 0;
  generating = 0;
  pausedAfter: number | null = null;
  /** Last known end of each lease, by epoch. */
  readonly leases = new Map<number, number>();
  /** Blocks handed out, by epoch and claim number. */
  readonly blocks = new Map<string, string>();
  readonly dispatcher: Scene["dispatcher"];
  readonly run: RunNode;
  readonly silences: { readonly unit: number; readonly alone: boolean }[] = [];
  readonly segments = new Map<string, readonly RolloutSummary[]>();
  readonly answers = new Map<string, RolloutSummary>();
  readonly standings: Scene["standings"] = new Map();
  readonly turnsKept = new Map<string, number>();
  readonly objects: Scene["objects"] = new Map();
  readonly kept: Scene["kept"] = new Map();
  readonly scored = new Map<number, string>();
  repairs: Scene["repairs"] = { generation: 1, owed: new Map() };
  readonly #inFlight = new Set<string>();

  constructor(world: SharedWorld, plan: Plan, cleaning: CleaningPlan) {
    this.#world = world;
    this.plan = plan;
    const { run_id: run } = plan.config;
    this.dispatcher = { offer: (message) => world.dispatcher.offer(run, message), next: (request) => world.dispatcher.next(request) };
    this.run = new RunNode(this, cleaning, (examples) => this.resume(examples));
    const { removedAt } = cleaning;
    this.#isRemoved = removedAt !== null;
    if (removedAt !== null) this.clock.at(removedAt, () => this.#remove());
    for (const { at, request } of plan.steering) this.clock.at(at, () => this.#quietly(() => this.run.call("steer", request)));
    for (const { at, what } of plan.interventions) this.clock.at(at, () => this.#intervene(what));
    this.clock.at(plan.calmAt, () => this.#calmDown());
  }

  get random() {
    return this.#world.random;
  }
  get clock() {
    return this.#world.clock;
  }
  get calm(): boolean {
    return this.#world.calm;
  }
  get outage(): boolean {
    return this.#world.outage;
  }
  get boot(): string {
    return this.#world.boot;
  }
  get runtime(): string {
    return this.#world.runtime;
  }
  get codes(): readonly string[] {
    return this.#world.codes;
  }
  get executors(): Scene["executors"] {
    return this.#world.executors;
  }
  of(run: string): Scene {
    return this.#world.of(run);
  }
  strikes(probability: number): boolean {
    return this.#world.strikes(probability);
  }
  message(deliver: () => void, lost?: () => void): void {
    this.#world.message(deliver, lost);
  }
  generated(): number {
    return this.#world.generated();
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  requestEnded(rollout: string): void {
    this.#inFlight.delete(rollout);
  }

  requestStarted(rollout: string, turn: number): void {
    if (this.kept.has(rollout)) broken(`rollout ${rollout} is kept, and the model is asked for it`);
    if (turn <= (this.turnsKept.get(rollout) ?? 0)) broken(`turn ${turn} of rollout ${rollout} is kept, and the model is asked for it`);
    if (this.run.ledger.head()?.last_scores !== undefined) broken(`the model is asked for rollout ${rollout} of a run that has ended`);
    if (this.#inFlight.has(rollout)) broken(`the model is asked for rollout ${rollout} by two at once`);
    this.#inFlight.add(rollout);
    const limit = Math.max(this.run.ledger.config().max_concurrent, this.counted);
    if (this.run.ledger.config().max_concurrent > 0 && this.inFlight > limit) broken(`${this.inFlight} requests in flight, the limit is ${limit}`);
  }

  scoredAlone(rollout: string, { metrics }: Made): void {
    const { version } = this.kept.get(rollout)?.metrics ?? {};
    if (version === metrics.version) broken(`rollout ${rollout} is kept with its scores, and scored again by the same code`);
  }

  #quietly(change: () => void): void {
    try {
      change();
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.startsWith("invariant")) throw thrown;
    }
  }

  #intervene(what: Plan["interventions"][number]["what"]): void {
    const call = (change: () => void): void => this.#quietly(change);
    if (what === "cancel" || what === "interrupt") call(() => this.run.call(what, null));
    if (what === "mend" || what === "deploy") this.#world.deploy();
    if (what === "resume" || what === "grow" || what === "mend") call(() => this.resume(what === "grow" ? this.random.int(0, 10) : 0));
    if (what === "forget-offers") this.#world.dispatcher.forget();
    if (what === "watchdog") this.run.poke();
    if (what === "restart") this.#world.restart("whole");
    if (what === "runtime-death") this.#world.restart("runtime");
  }

  resume(growth: number, accepted = this.random.chance(0.5)): void {
    const n = this.run.ledger.head()?.n ?? null;
    const { drops = 0 } = this.plan.rule ?? {};
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
      ...(drops > 0 && this.random.chance(drops) ? { stop_when: NO_STOP_RULE } : {}),
    });
  }

  /** Whether its user deletes it, once that may be. */
  readonly #isRemoved: boolean;
  #remove(): void {
    if (!this.run.remove()) this.clock.after(1_000, () => this.#remove());
  }

  /** Everything is done that is to be done. */
  get isOver(): boolean {
    return this.run.isAtRest && (!this.#isRemoved || this.run.isDeleted);
  }

  /** Faults are over: partitions heal, and an attended or interrupted run is resumed by its user. */
  #calmDown(): void {
    const poll = (): void => {
      if (this.run.isDeleted) return;
      const { head, suspended } = this.outcome();
      if (suspended) this.#quietly(() => this.resume(0, true));
      else if (head.paused !== undefined) this.#quietly(() => this.run.call("steer", { kind: "continue" }));
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
