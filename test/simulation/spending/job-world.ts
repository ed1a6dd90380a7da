import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { JobPurse } from "../../../src/executor/spending/job-purse.ts";
import { clientPortsOfExecutor } from "../../support/run/executor-ports.ts";
import { broken } from "../invariants.ts";
import { Random } from "../world/random.ts";
import type { SpendingWorld } from "./spending-world.ts";

const TOKEN = 1_000;

/** One request: the most that its answer may have, and what it has, in tokens. `end`: what becomes of it; one that is silent does not say what it took. */
export interface Asked {
  readonly bound: number;
  readonly tokens: number;
  readonly end: "answered" | "silent" | "lost";
}

export interface JobPlan {
  readonly requests: number;
  readonly asked: (at: number, random: Random) => Asked;
  /** Requests of one job at most. */
  readonly most: number;
  /** How long a batch takes, milliseconds. */
  readonly takes: (random: Random) => number;
}

interface Job {
  state: "written" | "sent" | "collected" | "dropped";
  readonly requests: readonly number[];
  readonly bound: number;
}

/** A batch at the provider. */
interface Batch {
  readonly requests: readonly number[];
  ended: boolean;
}

/** What a Run knows: it takes a word from the newest grant alone, and is never lost. Its provider bills each batch when it ends, whatever becomes of its answers. */
export class JobWorld {
  readonly world: SpendingWorld;
  readonly plan: JobPlan;
  readonly random: Random;
  readonly jobs = new Map<number, Job>();
  readonly batches = new Map<number, Batch>();
  readonly #unasked: number[];
  epoch = 0;
  /** The most requests of one job, after one was too dear. */
  #most: number;
  answered = 0;
  /** Nothing is left for what is not asked, and what is at the provider is waited for. */
  isOver = false;
  /** Of the least request that is not asked, when it was over; tokens. */
  leastOpen = 0;
  carrier: JobCarrier | null = null;

  constructor(world: SpendingWorld, plan: JobPlan) {
    this.world = world;
    this.plan = plan;
    this.random = world.random;
    this.#unasked = Array.from({ length: plan.requests }, (_, at) => at);
    this.#most = plan.most;
  }

  get isDone(): boolean {
    const isOpen = [...this.jobs.values()].some(({ state }) => state === "written" || state === "sent");
    return !isOpen && (this.isOver || this.#unasked.length === 0);
  }

  /** Another executor has the grant; whoever had it before may be there still. */
  start(): void {
    if (!this.isDone) this.carrier = new JobCarrier(this, ++this.epoch);
  }

  kill(): void {
    if (this.carrier !== null) this.carrier.alive = false;
  }

  askedOf(at: number): Asked {
    return this.plan.asked(at, new Random(at + 1));
  }

  next(): readonly number[] {
    return this.isOver ? [] : this.#unasked.slice(0, this.#most);
  }

  wrote(epoch: number, job: number, requests: readonly number[], bound: number): void {
    if (epoch !== this.epoch || this.jobs.has(job)) return;
    this.#unasked.splice(0, requests.length);
    this.jobs.set(job, { state: "written", requests, bound });
  }

  drop(epoch: number, number: number): void {
    const job = this.jobs.get(number);
    if (epoch !== this.epoch || job?.state !== "written") return;
    job.state = "dropped";
    this.#unasked.unshift(...job.requests);
    this.#most = Math.max(1, Math.floor(job.requests.length / 2));
  }

  sent(epoch: number, number: number): void {
    const job = this.jobs.get(number);
    if (epoch === this.epoch && job?.state === "written") job.state = "sent";
  }

  collected(epoch: number, number: number, lost: readonly number[]): void {
    const job = this.jobs.get(number);
    if (epoch !== this.epoch || job?.state !== "sent") return;
    job.state = "collected";
    this.answered += job.requests.length - lost.length;
    this.#most = this.plan.most;
  }

  over(epoch: number): void {
    if (epoch !== this.epoch) return;
    this.isOver = true;
    this.leastOpen = Math.min(...this.#unasked.slice(0, 1).map((at) => this.askedOf(at).bound));
  }

  /** The provider takes it, once: who comes again finds it. */
  create(number: number, requests: readonly number[]): void {
    if (this.batches.has(number)) return;
    const batch: Batch = { requests, ended: false };
    this.batches.set(number, batch);
    this.world.time.clock.after(this.plan.takes(this.random), () => {
      batch.ended = true;
      for (const at of requests) {
        const { tokens, end, bound } = this.askedOf(at);
        if (end !== "lost") this.world.bill({ bound, tokens, takes: 0 });
      }
    });
  }
}

/** An executor with a grant to carry batches: does the next step, and tells; may die at any wait. */
class JobCarrier {
  readonly #jobs: JobWorld;
  readonly #epoch: number;
  readonly #purse: JobPurse;
  alive = true;

  constructor(jobs: JobWorld, epoch: number) {
    const { world } = jobs;
    this.#jobs = jobs;
    this.#epoch = epoch;
    const config = {
      run_id: "00000001",
      model: "m",
      budgets: Object.keys(world.plan.budgets),
      sampling_args: {},
      batch: true,
      created_at: 1,
    } as Partial<RunConfig> as RunConfig;
    this.#purse = new JobPurse({
      ports: clientPortsOfExecutor({ sleep: (ms) => this.#sleep(ms), random: world.random.next, budget: (name) => world.line(name) }),
      slice: { spend: () => undefined },
      config,
      epoch,
      place: { base_url: "https://x.example/v1", api_key_var: "K" },
    });
    void this.#work();
  }

  async #sleep(ms: number): Promise<void> {
    await this.#jobs.world.time.sleep(ms);
    // Who is dead wakes no more.
    if (!this.alive) await new Promise(() => undefined);
  }

  async #work(): Promise<void> {
    // The Run gives who was followed by another one nothing more to do.
    while (!this.#jobs.isDone && this.#epoch === this.#jobs.epoch) {
      try {
        await this.#sleep((await this.#step()) ? 50 : 600_000);
      } catch (thrown) {
        if (!(thrown instanceof Error) || !/does not answer/.test(thrown.message)) throw thrown;
        await this.#sleep(1_000);
      }
    }
  }

  /** Whether there was something to do. */
  async #step(): Promise<boolean> {
    const jobs = this.#jobs;
    for (const [number, { state, requests, bound }] of jobs.jobs) {
      if (state === "sent" && jobs.batches.get(number)?.ended === true) return await this.#collect(number, requests);
      if (state === "written") return await this.#create(number, requests, bound);
    }
    return await this.#write();
  }

  async #write(): Promise<boolean> {
    const jobs = this.#jobs;
    const next = jobs.next();
    const [first] = next;
    if (first === undefined) return false;
    const number = jobs.jobs.size + 1;
    const room = await this.#purse.room(number);
    await this.#sleep(20);
    let bound = 0;
    const taken: number[] = [];
    for (const at of next) {
      const more = jobs.askedOf(at).bound * TOKEN;
      if (bound + more > room) break;
      bound += more;
      taken.push(at);
    }
    const least = jobs.askedOf(first).bound * TOKEN;
    const held = await this.#purse.reserve(number, { amount: Math.max(bound, least), requests: Math.max(1, taken.length), least });
    await this.#sleep(20);
    if (held.kind === "over") jobs.over(this.#epoch);
    else if (held.kind === "held" && taken.length > 0) jobs.wrote(this.#epoch, number, taken, bound);
    return held.kind === "held";
  }

  async #create(number: number, requests: readonly number[], amount: number): Promise<boolean> {
    const jobs = this.#jobs;
    if (!jobs.batches.has(number)) {
      const held = await this.#purse.send(number, { amount, requests: requests.length });
      await this.#sleep(20);
      if (held.kind !== "held") {
        // What it was written for is gone to others: its requests are asked in parts.
        if (held.kind === "over") jobs.drop(this.#epoch, number);
        return false;
      }
      // The Run lets the newest grant alone create it.
      if (this.#epoch !== jobs.epoch) return false;
      jobs.create(number, requests);
      await this.#sleep(20);
    }
    jobs.sent(this.#epoch, number);
    return true;
  }

  async #collect(number: number, requests: readonly number[]): Promise<boolean> {
    const jobs = this.#jobs;
    let [settled, calls, amount] = [0, 0, 0];
    const lost: number[] = [];
    for (const at of requests) {
      const { end, tokens, bound } = jobs.askedOf(at);
      if (end === "answered") settled += tokens * TOKEN;
      else if (end === "lost") lost.push(at);
      else {
        calls++;
        amount += bound * TOKEN;
      }
    }
    await this.#sleep(20);
    await this.#purse.settle(number, { settled, unseen: { calls, amount } });
    await this.#sleep(20);
    jobs.collected(this.#epoch, number, lost);
    return true;
  }
}

/** What Budgets know at the end, held against what the provider is owed. `exact`: nothing but the silent is unseen. */
export function checkJobs(jobs: JobWorld, exact: boolean): void {
  const { world } = jobs;
  const billed = world.billed.get("") ?? 0;
  if (!jobs.isDone) broken("jobs are not over");
  for (const [name, node] of world.budgets) {
    const { spent, batches, allotted } = node.view;
    const { settled, unseen } = spent.total;
    if ((batches?.amount ?? 0) !== 0 || allotted !== 0) broken(`${name} holds ${batches?.amount} for jobs and ${allotted} for executors that are gone`);
    if (settled + unseen.amount < billed) broken(`${name} knows of ${settled + unseen.amount}, and ${billed} were billed`);
    if (exact && (unseen.amount !== 0 || settled !== billed)) broken(`${name} has ${settled} settled and ${unseen.amount} unseen, and ${billed} were billed`);
  }
  if (!jobs.isOver && jobs.answered === 0) broken("nothing was answered");
}
