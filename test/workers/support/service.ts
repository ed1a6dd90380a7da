import { env } from "cloudflare:workers";
import { type Env, QUEUE_BINDING } from "../../../src/env.ts";
import { dispatcherStub, registryStub, runStub } from "../../../durable-objects/stubs.ts";

/** The bindings of wrangler.toml; its objects and handlers run in the isolate of the tests and see what is set here. */
export const service = env as unknown as Env;

type Vars = Partial<
  Record<
    | "LEASE_MS"
    | "BEAT_MS"
    | "HEARTBEAT_MS"
    | "REFUSALS_MS"
    | "LEASE_MARGIN_MS"
    | "GRACE_MS"
    | "CODE_WAIT_MS"
    | "BATCH_LOOK_MS"
    | "BATCH_SETTLE_MS"
    | "OUTAGE_MS"
    | "STORM_MS"
    | "EXECUTOR_REQUESTS"
    | "NEXT_POLL_MS"
    | "SPAN_ROLLOUTS",
    string
  >
>;

/** Lapses within a second; long enough that a busy machine does not make up its own. */
export const QUICK: Vars = { LEASE_MS: "800", BEAT_MS: "200", LEASE_MARGIN_MS: "250", GRACE_MS: "200", NEXT_POLL_MS: "50", EXECUTOR_REQUESTS: "4" };
/** Nothing lapses unless a test moves the clock. */
export const STEADY: Vars = { LEASE_MS: "60000", BEAT_MS: "1000", LEASE_MARGIN_MS: "10000", GRACE_MS: "5000", NEXT_POLL_MS: "50", EXECUTOR_REQUESTS: "4" };
/** A lease of `STEADY` and its grace. */
export const STEADY_LAPSE_MS = 65_000;

/** Changes numbers of `[vars]` for every object of this file's service. */
export function setVars(vars: Vars): void {
  Object.assign(env, vars);
}

/** Replaces the queues that the Dispatcher writes to, all of them by one. */
export function setQueue(queue: Pick<Queue, "sendBatch">): void {
  for (const name of Object.keys(env)) if (QUEUE_BINDING.test(name)) Object.assign(env, { [name]: queue });
}

/** What is sent goes nowhere: where nobody is to be woken. */
export const silenceQueue = (): void => setQueue({ sendBatch: async () => ({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }) });

export const run = (runId: string) => runStub(service, runId);
export const rawRun = (runId: string) => service.RUN.getByName(runId);
export const registry = () => registryStub(service);
export const dispatcher = () => dispatcherStub(service);

const realNow = Date.now;
let ahead = 0;
/** Moves every clock of the service, which is this isolate's, forward. Alarms stay with real time: `poke` what is to look. */
export function skip(ms: number): void {
  ahead += ms;
  Date.now = () => realNow() + ahead;
}
/** The machine's clock is set: `from` is what it would have said. */
export function setClock(from: (real: number) => number): void {
  Date.now = () => from(realNow());
}
export function restoreClock(): void {
  ahead = 0;
  Date.now = realNow;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks until `look` gives something; fails after `ms`, saying what was waited for: three times what the slowest takes beside others on two cores. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>, ms = 60_000): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${what}`);
    await pause(10);
  }
}
