import type { Client } from "../../../../src/rollouts/types.ts";
import { Endpoints } from "../../../../src/executor/endpoints/endpoints.ts";
import type { ExecutorBudget, ExecutorPorts } from "../../../../src/executor/ports.ts";
import { Slice } from "../../../../src/executor/slice.ts";
import { FIRST_ANSWER_MS, OUTAGE_MS, STORM_MS } from "../../../../src/limits.ts";
import { ask } from "../../../support/clients/scripted-endpoint.ts";
import { clientPortsOfExecutor, grantFor } from "../../../support/run/executor-ports.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import type { RunLoad } from "./run-load.ts";
import type { VirtualTime } from "./virtual-time.ts";

const UNBOUNDED = Number.POSITIVE_INFINITY;
const BUDGET: ExecutorBudget = {
  requests: 1_024,
  connections: null,
  margin: 0,
  poll: 0,
  slice: UNBOUNDED,
  wanted: UNBOUNDED,
  wall: UNBOUNDED,
  rollouts: UNBOUNDED,
  held: 0,
  subrequests: UNBOUNDED,
  outage: OUTAGE_MS,
  firstAnswer: FIRST_ANSWER_MS,
  storm: STORM_MS,
  keepTurns: 10_000,
  unitDeadline: null,
};

/** A run, and how many requests an executor may have of it at once. */
export interface Served {
  readonly run: RunLoad;
  readonly requests: number;
}

/** What an executor of the world stands on. */
export type NodePorts = Pick<ExecutorPorts, "id" | "boot" | "runtime" | "now" | "sleep" | "random" | "fetch" | "limiter">;

/** The executor's side as it is shipped, from the lanes of its runs to `fetch`; it lives until it is killed. */
export class ExecutorNode {
  readonly id: string;
  readonly #ports: NodePorts;
  readonly #endpoints: Endpoints;
  readonly #served = new Map<RunLoad, { readonly requests: number; readonly held: Set<number> }>();
  readonly #requests = new Set<AbortController>();
  /** Milliseconds since the beginning. */
  readonly #at: () => number;
  readonly #hold: VirtualTime["hold"];
  alive = true;

  /** `hold`: no time passes until that is settled. */
  constructor(ports: NodePorts, time: Pick<VirtualTime, "hold" | "clock">) {
    this.id = ports.id;
    this.#ports = ports;
    this.#at = () => time.clock.now;
    this.#hold = (work) => time.hold(work);
    const own = clientPortsOfExecutor({ ...ports, sleep: this.#sleep, fetch: this.#fetch });
    this.#endpoints = new Endpoints(own, new Slice(BUDGET, ports.now), BUDGET);
  }

  /** Works on a run with so many requests at once until it has no more examples. */
  async serve(run: RunLoad, config: Partial<RunConfig>, requests: number): Promise<void> {
    const held = new Set<number>();
    this.#served.set(run, { requests, held });
    const open = await this.#hold(() => this.#endpoints.open(grantFor(config, requests), NOTES));
    const lane = async (): Promise<void> => {
      for (let example = run.take(); example !== null && this.alive; example = run.take()) {
        held.add(example);
        const failure = await this.#answer(open.clientOf(example), example, run);
        if (!this.alive) return;
        held.delete(example);
        if (failure === null) run.answered(this.#at());
        else run.failed(failure);
      }
    };
    await Promise.all(Array.from({ length: requests }, lane));
    open.close();
  }

  /** Nothing of it happens any more; what it had goes back to its runs. Tells what it served. */
  kill(): readonly Served[] {
    this.alive = false;
    for (const request of this.#requests) request.abort(new Error("its executor is gone"));
    for (const [run, { held }] of this.#served) for (const example of held) run.giveBack(example);
    return [...this.#served].map(([run, { requests }]) => ({ run, requests }));
  }

  /** Null, or why there is no answer. */
  async #answer(client: Client, example: number, run: RunLoad): Promise<string | null> {
    const content = "x".repeat(run.characters(example));
    const sampling = { n: 1, extra_body: {}, max_tokens: run.plan.max_tokens ?? null };
    try {
      await client.getResponse(ask({ prompt: [{ role: "user", content }], sampling_args: sampling, state: { example_id: example } }));
      return null;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  /** Who is dead wakes no more. */
  readonly #sleep: ExecutorPorts["sleep"] = async (ms, signal) => {
    await this.#ports.sleep(ms, signal);
    if (!this.alive) await new Promise(() => undefined);
  };

  /** What a dead one had sent is aborted. */
  readonly #fetch: ExecutorPorts["fetch"] = async (url, init) => {
    if (!this.alive) await new Promise(() => undefined);
    const request = new AbortController();
    const giveUp = (): void => request.abort(init?.signal?.reason);
    init?.signal?.addEventListener("abort", giveUp, { once: true });
    this.#requests.add(request);
    try {
      return await this.#ports.fetch(url, { ...init, signal: request.signal });
    } finally {
      this.#requests.delete(request);
      init?.signal?.removeEventListener("abort", giveUp);
      if (!this.alive) await new Promise(() => undefined);
    }
  };
}

const NOTES = { answered: 0, retry: () => undefined, info: () => undefined, warning: () => undefined };
