import type { BudgetAnswer, BudgetControl, BudgetLimits, BudgetRequest, JobAnswer, JobRequest } from "../../../durable-objects/budget/budget-control.ts";
import type { AttemptCost, AttemptSpent } from "../../../src/clients/client.ts";
import { Gate } from "../../../src/clients/gate.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { HeldPermits } from "../../../src/executor/limiting/limiter-links.ts";
import { Purses } from "../../../src/executor/spending/purses.ts";
import { clientPortsOfExecutor } from "../../support/run/executor-ports.ts";
import { broken } from "../invariants.ts";
import { VirtualTime } from "../limiting/world/virtual-time.ts";
import { ExchangeLine, type LineFaults, NO_FAULTS } from "../world/exchange-line.ts";
import { Random } from "../world/random.ts";
import { BudgetNode } from "./budget-node.ts";

/** A dollar for a million tokens: a token is a thousand nano-dollars. */
const PRICES: RunConfig["prices"] = { version: 1, table: "", given: [{ model: "*", input_usd_per_mtok: 1, output_usd_per_mtok: 1 }] };
const TOKEN = 1_000;
const MODEL = "m";

/** What a call is: the most that its answer may have, what it has, and how long it takes. Tokens, milliseconds. */
export interface Call {
  readonly bound: number;
  readonly tokens: number;
  readonly takes: number;
  /** The answer is lost on its way: the provider is paid all the same. */
  readonly isLost?: boolean;
}

export interface SpendingPlan {
  readonly seed: number;
  /** By the names of the Budgets (`team/…`), in tokens. All hold for every call. */
  readonly budgets: Readonly<Record<string, BudgetLimits>>;
  readonly calls: number;
  readonly call: (at: number, random: Random) => Call;
  readonly executors: number;
  /** Of each executor, at once. */
  readonly requests: number;
  /** When the others come; the first is there from the beginning. */
  readonly comesAfter?: (executor: number, random: Random) => number;
  readonly line?: LineFaults;
}

/** Executors with their purses as shipped, Budgets with their ledgers as shipped, and a provider that bills. */
export class SpendingWorld {
  readonly plan: SpendingPlan;
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly budgets: ReadonlyMap<string, BudgetNode>;
  readonly executors: SpendingExecutor[] = [];
  /** Nano-dollars, by the day in which a call began, and in which it ended; "" = in all. */
  readonly billed = new Map<string, number>();
  faults: LineFaults;
  #next = 0;
  #coming = 0;
  /** Calls that nobody had an answer of when their executor died, again. */
  readonly #again: number[] = [];
  answered = 0;
  /** Calls that too little was left for. */
  over = 0;

  constructor(plan: SpendingPlan) {
    this.plan = plan;
    this.random = new Random(plan.seed);
    this.faults = plan.line ?? NO_FAULTS;
    this.budgets = new Map(Object.entries(plan.budgets).map(([name, limits]) => [name, new BudgetNode(this.time, inNano(limits))]));
    for (let at = 0; at < plan.executors; at++) {
      const after = at === 0 ? 0 : (plan.comesAfter?.(at, this.random) ?? 0);
      this.startAfter(after);
    }
  }

  get isOver(): boolean {
    const isDone = this.answered >= this.plan.calls || this.over > 0;
    return isDone && this.#coming === 0 && this.executors.every(({ isAtWork }) => !isAtWork);
  }

  /** What a Budget has broken: whoever spoke to it takes that for a Budget that does not answer. Null = nothing. */
  get problem(): string | null {
    for (const { problem } of this.budgets.values()) if (problem !== null) return problem;
    return null;
  }

  startAfter(ms: number): void {
    this.#coming++;
    this.time.clock.after(ms, () => {
      this.#coming--;
      this.executors.push(new SpendingExecutor(`executor-${this.executors.length}`, this));
    });
  }

  line(name: string): Pick<BudgetControl, "exchange" | "job"> | null {
    const node = this.budgets.get(name);
    if (node === undefined) return null;
    const faults = (): LineFaults => this.faults;
    const spending = new ExchangeLine<BudgetRequest, BudgetAnswer>(node, this.time, this.random, faults);
    const jobs = new ExchangeLine<JobRequest, JobAnswer>({ exchange: (request) => node.job(request) }, this.time, this.random, faults);
    return { exchange: (request) => spending.exchange(request), job: (request) => jobs.exchange(request) };
  }

  take(): number | null {
    const again = this.#again.pop();
    if (again !== undefined) return again;
    return this.#next < this.plan.calls ? this.#next++ : null;
  }

  giveBack(at: number): void {
    this.#again.push(at);
  }

  /** What the provider is owed for a call, whatever becomes of its answer; nobody may owe it more than a budget has. */
  bill({ tokens, takes }: Call): void {
    const day = (ms: number): string => new Date(this.time.now() + ms).toISOString().slice(0, 10);
    for (const label of ["", `begun ${day(0)}`, `ended ${day(takes)}`]) {
      const sum = (this.billed.get(label) ?? 0) + tokens * TOKEN;
      this.billed.set(label, sum);
      for (const [name, { total, day: daily }] of Object.entries(this.plan.budgets)) {
        const limit = label === "" ? total : daily;
        if (limit !== undefined && sum > limit * TOKEN)
          broken(`${sum} were billed${label === "" ? "" : ` for calls ${label}`}, and ${name} has ${limit * TOKEN}`);
      }
    }
  }

  /** Until everybody is done. Throws where they are not within hours. */
  async play(until = this.time.clock.now + 6 * 3_600_000): Promise<void> {
    const isOver = await this.time.pass(until, () => this.isOver);
    if (!isOver) broken(`${this.answered} of ${this.plan.calls} calls are answered, ${this.over} were refused, and the others wait`);
  }
}

const inNano = (limits: BudgetLimits): BudgetLimits => Object.fromEntries(Object.entries(limits).map(([span, tokens]) => [span, tokens * TOKEN]));

class SpendingExecutor {
  readonly #world: SpendingWorld;
  readonly #held: HeldPermits;
  readonly #purses: Purses;
  readonly #underWay = new Set<number>();
  #lanes: number;
  #hasLeft = false;
  isOver = false;
  alive = true;

  constructor(id: string, world: SpendingWorld) {
    this.#world = world;
    const { time, random, plan } = world;
    const sleep = async (ms: number, signal?: AbortSignal | null): Promise<void> => {
      await time.sleep(ms, signal);
      // Who is dead wakes no more.
      if (!this.alive) await new Promise(() => undefined);
    };
    const ports = clientPortsOfExecutor({
      id,
      boot: "boot",
      runtime: "runtime",
      now: time.now,
      sleep,
      random: random.next,
      budget: (name) => world.line(name),
    });
    this.#purses = new Purses(ports, { spend: () => undefined });
    const gate = new Gate(plan.requests);
    const config = { run_id: "00000001", budgets: Object.keys(plan.budgets), prices: PRICES } as Partial<RunConfig> as RunConfig;
    const place = { base_url: "https://x.example/v1", api_key_var: "K" };
    const held: HeldPermits = {
      permits: gate,
      base_url: place.base_url,
      waiting: 0,
      pausedUntil: null,
      bound: null,
      weigh: () => undefined,
      close: () => undefined,
    };
    this.#held = this.#purses.pay(held, { config, ...place, gate, warning: () => undefined, onOver: () => undefined });
    // More lanes than permits: some always wait for one.
    this.#lanes = 2 * plan.requests;
    for (let lane = 0; lane < 2 * plan.requests; lane++) void this.#lane();
  }

  get isAtWork(): boolean {
    return this.alive && !this.#hasLeft;
  }

  kill(): void {
    this.alive = false;
    for (const at of this.#underWay) this.#world.giveBack(at);
  }

  async #lane(): Promise<void> {
    const { permits } = this.#held;
    for (let at = this.isOver ? null : this.#world.take(); at !== null; at = this.isOver ? null : this.#world.take()) {
      this.#underWay.add(at);
      const call = this.#world.plan.call(at, new Random(at + 1));
      const cost = new PlayedAttempt(call);
      try {
        await permits.enter(null, cost);
      } catch (thrown) {
        if (!(thrown instanceof EdgewiseError) || thrown.code !== "over_budget") throw thrown;
        this.#world.over++;
        this.isOver = true;
        break;
      }
      if (!this.alive) await new Promise(() => undefined);
      this.#world.bill(call);
      await this.#world.time.sleep(call.takes);
      if (!this.alive) await new Promise(() => undefined);
      cost.hasEnded = true;
      this.#underWay.delete(at);
      this.#world.answered++;
      permits.leave(undefined, cost);
    }
    if (--this.#lanes > 0 || !this.alive) return;
    await this.#purses.leave();
    this.#hasLeft = true;
  }
}

class PlayedAttempt implements AttemptCost {
  readonly #call: Call;
  hasEnded = false;
  readonly input_tokens = 0;
  readonly output_tokens = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  get bound() {
    return { model: MODEL, input_tokens: 0, input_rate: 1, output_tokens: this.#call.bound, open: null };
  }

  get spent(): AttemptSpent {
    if (!this.hasEnded) return { kind: "nothing" };
    return this.#call.isLost === true ? { kind: "unseen" } : { kind: "billed", usage: { input_tokens: 0, output_tokens: this.#call.tokens } };
  }
}
