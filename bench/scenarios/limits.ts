import { setTimeout as sleep } from "node:timers/promises";
import { jain, quantile } from "../../test/simulation/limiting/figures.ts";
import type { ScriptInput } from "../../test/support/model-server/model-script.ts";
import { type Service, startService } from "../edgewise-process.ts";
import { cancel, create, getJson, settled } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { type ModelProcess, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

/** What nobody is told: as many requests in any minute, by a provider that says nothing but 429. */
const REQUESTS_A_MINUTE = 1_200;
const LATENCY_MS: readonly [number, number] = [300, 900];
const HIDDEN: ScriptInput = {
  latency_ms: [...LATENCY_MS],
  limited: { limits: [{ kind: "requests", limit: REQUESTS_A_MINUTE, meter: "sliding_minute" }] },
};
/** Until a limit is found, and so long it is looked at then: where a first minute was sent in seconds the window is shut until that is over, and for the first of these. */
const FINDING_MS = 60_000;
const LOOKED_AT_MS = 120_000;
const CROWDS = [1, 4, 16];
const CONCURRENCY = 64;
/** More than any of them comes to. */
const MANY = 10_000;
const FEW = 5;
const SMALL_RUNS = 12;
const LOOK_MS = 25;

/** A provider with a hidden limit on loopback: what 1, 4 and 16 runs at once make of it, and a run of five examples beside one of ten thousand. */
export const limits: Scenario = async (places) => {
  const measures: Measure[] = [];
  for (const runs of CROWDS) measures.push(...(await withProvider(places(`limits-${runs}`), (service, model) => crowd(service, model, runs))));
  measures.push(...(await withProvider(places("limits-small"), beside)));
  return measures;
};

const measure = (name: string, value: number, unit: string, target?: Measure["target"]): Measure => ({
  scenario: "limits",
  name,
  value,
  unit,
  ...(target === undefined ? {} : { target }),
});

async function withProvider(
  place: Parameters<typeof startService>[0],
  work: (service: Service, model: ModelProcess) => Promise<Measure[]>,
): Promise<Measure[]> {
  const model = await startModelProcess();
  const service = await startService(place);
  try {
    return await work(service, model);
  } finally {
    await service.close();
    await model.close();
  }
}

const run = ({ url }: Service, model: ModelProcess, examples: number, user: string): Promise<string> =>
  create({ url, modelUrl: model.url, examples, concurrency: CONCURRENCY, sampling: { extra_body: { user } } });

async function crowd(service: Service, model: ModelProcess, runs: number): Promise<Measure[]> {
  await model.play(HIDDEN);
  const names = Array.from({ length: runs }, (_, at) => `run-${at}`);
  const ids = await Promise.all(names.map((name) => run(service, model, MANY, name)));
  await sleep(FINDING_MS + LOOKED_AT_MS);
  const { taken, refused, use, by, because } = await model.limited(FINDING_MS, FINDING_MS + LOOKED_AT_MS);
  await Promise.all(ids.map((id) => stop(service, id)));
  const title = `${runs} ${runs === 1 ? "run" : "runs"}`;
  return [
    measure(`${title}: of the hidden limit used in the second and third minute`, use, "share", { at_least: 0.9 }),
    measure(`${title}: of requests refused in it`, refused / Math.max(1, taken + refused), "share", { at_most: 0.01 }),
    ...(runs === 1 ? [] : [measure(`${title}: Jain's index`, jain(names.map((name) => by[name] ?? 0)), "", { at_least: 0.95 })]),
    measure(
      `${title}: requests refused in all`,
      Object.values(because).reduce((sum, count) => sum + count, 0),
      "requests",
    ),
  ];
}

/** One after the other, alone and beside a run that has found the limit. */
async function beside(service: Service, model: ModelProcess): Promise<Measure[]> {
  const round = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let at = 0; at < SMALL_RUNS; at++) times.push(await firstResult(service, model));
    return times;
  };
  await model.play(HIDDEN);
  // The first run of a service also pays for what it compiles.
  await firstResult(service, model);
  const alone = await round();
  const large = await run(service, model, MANY, "large");
  await sleep(FINDING_MS);
  const beside = await round();
  await stop(service, large);
  const [before, after] = [quantile(alone, 0.95), quantile(beside, 0.95)];
  return [
    measure(`first result of ${FEW} examples alone, middle`, median(alone), "ms"),
    measure(`the same beside ${MANY.toLocaleString("en-US")}, middle`, median(beside), "ms"),
    measure("first result alone, p95", before, "ms"),
    measure("the same beside, p95", after, "ms"),
    measure("p95 beside, by p95 alone", after / before, "ratio", { at_most: 2 }),
  ];
}

/** Milliseconds from the request that creates a small run until its first rollout is done. */
async function firstResult(service: Service, model: ModelProcess): Promise<number> {
  const from = performance.now();
  const id = await run(service, model, FEW, "small");
  for (;;) {
    const { edgewise } = (await getJson(`${service.url}/api/v1/evaluations/${id}`)) as { edgewise: { done_rollouts: number } };
    if (edgewise.done_rollouts > 0) break;
    await sleep(LOOK_MS);
  }
  const took = performance.now() - from;
  const { status } = await settled(service.url, id, LOOK_MS);
  if (status !== "COMPLETED") throw new Error(`a run of ${FEW} examples ended ${status}`);
  return took;
}

async function stop(service: Service, id: string): Promise<void> {
  await cancel(service.url, id);
  const { status } = await settled(service.url, id, 500);
  if (status !== "CANCELLED") throw new Error(`a run that was cancelled ended ${status}`);
}
