import type { Operations } from "../../src/operations.ts";
import { startWithDeployedNumbers } from "../deployed-numbers.ts";
import { create, getJson, settled } from "../http-run.ts";
import type { Measure } from "../measure.ts";
import { spanOf, startModelProcess } from "../model-process.ts";
import { difference, dollarsPerMillion, durationDollarsPerMillion, OPERATIONS, perThousand } from "../prices.ts";
import type { Scenario } from "../scenario.ts";

const LATENCY_MS = 1_000;
const EXECUTORS = 8;
const REQUESTS_PER_EXECUTOR = 5;
const CONCURRENCY = EXECUTORS * REQUESTS_PER_EXECUTOR;
const ROLLOUTS = 1_000;
/** Run, Dispatcher and Registry. */
const OBJECTS_AWAKE = 3;
/** Lanes of a run at the platform's own maximum of executors, at which the objects' time is shared by most rollouts. */
const CONCURRENCY_AT_SCALE = 250 * REQUESTS_PER_EXECUTOR;

/** What a million rollouts cost on the platform, counted with a deployment's numbers and a model that takes a second. */
export const operations: Scenario = async (places) => {
  const model = await startModelProcess(LATENCY_MS);
  const service = await startWithDeployedNumbers(places("operations").state, EXECUTORS);
  try {
    const before = (await getJson(`${service.url}/internal/operations`)) as Operations;
    const id = await create({ url: service.url, modelUrl: model.url, examples: ROLLOUTS, concurrency: CONCURRENCY });
    // One look in two seconds is what a viewer costs, too.
    const { status } = await settled(service.url, id, 2_000);
    if (status !== "COMPLETED") throw new Error(`the run ended ${status}`);
    const counted = difference((await getJson(`${service.url}/internal/operations`)) as Operations, before);
    const rate = (ROLLOUTS * 1000) / spanOf(await model.stats());
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "operations", name, value, unit });
    const thousand = perThousand(counted, ROLLOUTS);
    return [
      ...OPERATIONS.map((name) => measure(name, thousand[name], "per 1,000 rollouts")),
      { ...measure("all operations", dollarsPerMillion(counted, ROLLOUTS), "$ per million rollouts"), target: { at_most: 3 } },
      measure(`objects in memory at -c ${CONCURRENCY} and ${LATENCY_MS} ms a call`, durationDollarsPerMillion(OBJECTS_AWAKE, rate), "$ per million rollouts"),
      measure(
        `objects in memory at -c ${CONCURRENCY_AT_SCALE}`,
        durationDollarsPerMillion(OBJECTS_AWAKE, (rate * CONCURRENCY_AT_SCALE) / CONCURRENCY),
        "$ per million rollouts",
      ),
    ];
  } finally {
    await service.close();
    await model.close();
  }
};
