import type { ProviderPlanInput } from "../../../support/model-server/limited/provider-plan.ts";
import { providerPlan } from "../../../support/model-server/limited/provider-plan.ts";
import type { LimitedProvider } from "../../../support/model-server/limited/limited-provider.ts";
import { Random } from "../../world/random.ts";
import { ExecutorNode } from "./executor-node.ts";
import { ExchangeLine, type LineFaults, NO_FAULTS } from "../../world/exchange-line.ts";
import { LimiterNode } from "./limiter-node.ts";
import { ProviderPort, type Traffic } from "./provider-port.ts";
import { RunLoad, type RunPlan } from "./run-load.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface LimitedPlan {
  readonly seed: number;
  readonly provider: ProviderPlanInput;
  readonly traffic: Traffic;
  readonly executors: number;
  readonly runs: readonly RunPlan[];
  /** Where the provider is: a public address, or one of this machine, of which nobody expects limits. */
  readonly base_url?: string;
}

/** A run that has no executor looks for one so much later. */
const LOOKED_AGAIN_MS = 200;
const PUBLIC = "https://api.hidden.example/v1";

/** Runs with one key, the executors that serve them, their Limiter, and a provider with hidden limits: all as shipped but for time, chance and the network. */
export class LimitedWorld {
  readonly plan: LimitedPlan;
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly port: ProviderPort;
  readonly limiter: LimiterNode;
  readonly runs: readonly RunLoad[];
  readonly executors: ExecutorNode[] = [];
  /** What happens to messages on their way to the Limiter; null = nothing. */
  lineFaults: LineFaults | null = null;
  #executors = 0;

  constructor(plan: LimitedPlan) {
    this.plan = plan;
    this.random = new Random(plan.seed);
    this.port = new ProviderPort(providerPlan(plan.provider), this.time, this.random, plan.traffic);
    this.limiter = new LimiterNode(this.time);
    this.runs = plan.runs.map((run) => new RunLoad(run));
    for (let i = 0; i < plan.executors; i++) this.start();
    for (const run of this.runs) this.time.clock.at(run.plan.from_ms ?? 0, () => this.#begin(run));
  }

  get provider(): LimitedProvider {
    return this.port.provider;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.time.clock.now;
  }

  start(): ExecutorNode {
    const id = `executor-${++this.#executors}`;
    const { now, sleep } = this.time;
    const ports = { id, boot: "boot", runtime: `runtime-${id}`, now, sleep, random: this.random.next, fetch: this.port.fetch };
    const line = new ExchangeLine(this.limiter, this.time, this.random, () => this.lineFaults ?? NO_FAULTS);
    const node = new ExecutorNode({ ...ports, limiter: () => line }, this.time);
    this.executors.push(node);
    return node;
  }

  /** Until that time, or until all runs are over. Milliseconds since the beginning. */
  async pass(until: number): Promise<void> {
    await this.time.pass(until, () => this.runs.every((run) => run.isOver));
  }

  /** Its requests are shared out evenly, as a Run does it. */
  #begin(run: RunLoad): void {
    const living = this.executors.filter(({ alive }) => alive);
    if (living.length === 0) return this.time.clock.after(LOOKED_AGAIN_MS, () => this.#begin(run));
    const { concurrency } = run.plan;
    for (const [at, node] of living.entries()) {
      const requests = Math.floor(concurrency / living.length) + (at < concurrency % living.length ? 1 : 0);
      if (requests > 0) this.serve(node, run, requests);
    }
  }

  serve(node: ExecutorNode, run: RunLoad, requests: number): void {
    const { id, priority } = run.plan;
    const config = { run_id: id, base_url: this.plan.base_url ?? PUBLIC, ...(priority === undefined ? {} : { priority }) };
    node.serve(run, config, requests).catch((thrown: unknown) => run.failed(String(thrown)));
  }
}
