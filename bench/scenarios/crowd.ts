import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startWithDeployedNumbers, TOKEN } from "../deployed-numbers.ts";
import { create, getJson } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const RUNS = 1_000;
const UNITS = 10;
/** Each carries five requests, as a deployed one does. */
const EXECUTORS = 40;
const CREATED_AT_ONCE = 20;
const LATENCY_MS = 200;
const LOOK_MS = 1_000;
const MOST_MS = 20 * 60_000;

interface Calls {
  readonly count: number;
  readonly ms: number;
  readonly slowest: number;
}
interface Listed {
  readonly evaluation_id: string;
  readonly status: string;
}
interface Times {
  readonly created_at: string;
  readonly started_at: string | null;
}

/**
 * A thousand small runs at once through one Dispatcher and one Registry: real ones, created over HTTP twenty at a time, with real executors of
 * a deployment's numbers. Whether all end, how long the last one waited, what the two objects computed, and how long a look took meanwhile.
 */
export const crowd: Scenario = async (places) => {
  const script = readFileSync(fileURLToPath(new URL("../load/crowd-worker.js", import.meta.url)), "utf8");
  const model = await startModelProcess(LATENCY_MS);
  const service = await startWithDeployedNumbers(places("crowd").state, EXECUTORS, { script, model: new URL(model.url).host });
  const watch = new Watch(service.url);
  try {
    const from = Date.now();
    const created = await createAll(service.url);
    const watchdog = await timeOf(() => fetch(`${service.url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent("* * * * *")}`));
    const runs = await watch.allEnd();
    const seconds = (Date.now() - from) / 1_000;
    const calls = Object.entries((await getJson(`${service.url}/crowd/calls`)) as Readonly<Record<string, Calls>>);
    const failed = runs.filter(({ status }) => status !== "COMPLETED");
    if (failed.length > 0) throw new Error(`${failed.length} of ${RUNS} runs did not complete: ${JSON.stringify(failed.slice(0, 3))}`);
    const waits: number[] = [];
    for (const { evaluation_id: id } of runs) {
      const { created_at: at, started_at: began } = (await getJson(`${service.url}/api/v1/evaluations/${id}`, TOKEN)) as Times;
      waits.push(Date.parse(began ?? "") - Date.parse(at));
    }
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "crowd", name, value, unit });
    return [
      measure(`creations of ${RUNS} runs, ${CREATED_AT_ONCE} at a time`, created.rate, "runs/s"),
      measure("slowest creation", created.slowest, "ms"),
      measure(`${RUNS} runs of ${UNITS} rollouts, created and ended`, seconds, "s"),
      measure("calls of objects", calls.reduce((sum, [, { count }]) => sum + count, 0) / seconds, "calls/s"),
      measure("from creation to the first units, middle", median(waits) / 1_000, "s"),
      measure("from creation to the first units, longest", Math.max(...waits) / 1_000, "s"),
      measure(`a round of the watchdog over ${RUNS} runs`, watchdog, "ms"),
      measure("a list of 100 meanwhile, middle", median(watch.lists), "ms"),
      measure("a list of 100 meanwhile, slowest", Math.max(...watch.lists), "ms"),
      ...calls.flatMap(([name, { count, ms, slowest }]) => [
        measure(`${name}, ${count} calls`, ms / count, "ms each"),
        ...(name.startsWith("Run.") ? [] : [measure(`${name}, slowest`, slowest, "ms")]),
      ]),
    ];
  } finally {
    watch.close();
    await service.close();
    await model.close();
  }
};

async function createAll(url: string): Promise<{ readonly rate: number; readonly slowest: number }> {
  const from = Date.now();
  let left = RUNS;
  let slowest = 0;
  const createNext = async (): Promise<void> => {
    while (left-- > 0) slowest = Math.max(slowest, await timeOf(() => create({ url, token: TOKEN, examples: UNITS, concurrency: 5 })));
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, createNext));
  return { rate: (RUNS * 1_000) / (Date.now() - from), slowest };
}

/** Looks at the list all the while, as a person's page would. */
class Watch {
  readonly lists: number[] = [];
  readonly #url: string;
  #open = true;

  constructor(url: string) {
    this.#url = url;
    void this.#look().catch((thrown: unknown) => console.error(`the list: ${String(thrown)}`));
  }

  close(): void {
    this.#open = false;
  }

  /** Every run, once each of them has ended. */
  async allEnd(): Promise<readonly Listed[]> {
    const deadline = Date.now() + MOST_MS;
    for (;;) {
      const runs: Listed[] = [];
      for (let skip = 0; skip < RUNS; skip += 100) runs.push(...(await this.#page(skip)));
      const open = runs.filter(({ status }) => status === "PENDING" || status === "RUNNING");
      if (runs.length === RUNS && open.length === 0) return runs;
      if (Date.now() > deadline) throw new Error(`${open.length} of ${runs.length} runs have not ended: ${JSON.stringify(open.slice(0, 3))}`);
      await sleep(LOOK_MS);
    }
  }

  async #look(): Promise<void> {
    while (this.#open) {
      this.lists.push(await timeOf(() => this.#page(0)));
      await sleep(LOOK_MS);
    }
  }

  async #page(skip: number): Promise<readonly Listed[]> {
    const { evaluations } = (await getJson(`${this.#url}/api/v1/evaluations/?skip=${skip}&limit=100`, TOKEN)) as { evaluations: readonly Listed[] };
    return evaluations;
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
