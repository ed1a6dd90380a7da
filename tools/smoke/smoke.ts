/** The smoke test itself: its runs, one beside the other, and what the probe counted of them. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceClient } from "../../src/cli/connection/http-client.ts";
import { brokenRules, type Finding, findingsOf, together } from "./findings.ts";
import { patienceOf, type Plan, scaleOf } from "./plan.ts";
import { deployProbe, type Probe, probeAt, removeProbe } from "./probe.ts";
import { watchRun, type WatchedRun } from "./watched-run.ts";

/** What a smoke test showed: numbers, and the hard rules that were broken, each with its run. */
export interface Shown {
  readonly findings: readonly Finding[];
  readonly broken: readonly string[];
}

/** The second run begins when the last count of the first's executors is made. */
const SECOND_AFTER_MS = 60_000;

/** Throws where the deployment refuses or answers no more. */
export async function smoke(plan: Plan): Promise<Shown> {
  if (plan.service === null) return dryRun(plan);
  const client = new ServiceClient(plan.service.url, { token: plan.service.token });
  if (plan.model !== null) {
    const run = await watchRun(client, { ...askedOf(plan, "model", plan.examples), model: plan.model.name, baseUrl: plan.model.url });
    const broken = brokenRules(run, null);
    await cleanUp(plan, client, run, broken);
    return { findings: findingsOf(plan, run, null, false), broken };
  }
  if (plan.probe !== null) return withProbe(plan, client, probeAt(plan.probe, plan.delayMs));
  const url = await deployProbe();
  try {
    return await withProbe(plan, client, probeAt(url, plan.delayMs));
  } finally {
    if (!plan.keep) removeProbe();
  }
}

async function dryRun(plan: Plan): Promise<Shown> {
  // Brings a runtime and a bundler with it, which nothing else here needs.
  const { startDryRun } = await import("./dry-run.ts");
  const { service, probe, close } = await startDryRun();
  try {
    return await withProbe(plan, new ServiceClient(service.url, { token: service.token }), probeAt(probe.url, plan.delayMs, probe.called));
  } finally {
    await close();
  }
}

async function withProbe(plan: Plan, client: ServiceClient, probe: Probe): Promise<Shown> {
  const mark = randomUUID().slice(0, 8);
  const begin = (name: string, examples: number): Promise<WatchedRun> =>
    watchRun(client, { ...askedOf(plan, name, examples), model: `smoke-${name}-${mark}`, baseUrl: probe.baseUrl });
  // Both are waited for, whatever becomes of the other: nothing goes on when this ends.
  const ends = await Promise.allSettled([
    begin("first", plan.examples),
    sleep(SECOND_AFTER_MS * scaleOf(plan)).then(() => begin("second", Math.ceil(plan.examples / 5))),
  ]);
  const runs = ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
  const shown: Finding[] = [];
  const broken: string[] = [];
  const counts = await Promise.all(runs.map(({ asked }) => probe.statsOf(asked.model)));
  for (const [k, run] of runs.entries()) {
    const probed = counts[k] ?? null;
    shown.push(...findingsOf(plan, run, probed, k === 0));
    const rules = brokenRules(run, probed);
    broken.push(...rules);
    await cleanUp(plan, client, run, rules);
    await probe.forget(run.asked.model);
  }
  const [first, second] = counts;
  return { findings: first === undefined || second === undefined ? shown : [...shown, together(first, second)], broken };
}

const askedOf = (plan: Plan, name: string, examples: number) => {
  const { keyVar, rollouts, concurrency } = plan;
  return { name, keyVar, examples, rollouts, concurrency, withinMs: patienceOf(plan, examples) };
};

/** A run that broke a rule is kept, to be looked at. */
async function cleanUp({ keep }: Plan, client: ServiceClient, { id, asked: { name } }: WatchedRun, broken: readonly string[]): Promise<void> {
  if (keep || broken.length > 0) console.error(`${name}: kept: ${client.url}/api/v1/evaluations/${id}`);
  else await client.deleteRun(id);
}
