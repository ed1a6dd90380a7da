/**
 * `npm run keep:state`: stores a finished run, an interrupted one and one whose service is killed with this build (`npm run build` first),
 * and keeps the state for the test that opens it with every later one (test/e2e/faults/stored-state.test.ts). Schedules have a file of their own
 * (stored-schedules.ts), and so have alerts, monitors and evaluators (stored-serving.ts), and limits (stored-limits.ts); what is not there comes first.
 */
import { existsSync } from "node:fs";
import { Workplace } from "../test/support/cli/cli-process.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { Served } from "../test/support/cli/served.ts";
import { CURRENT_LIMITS } from "../test/support/results/stored-limits.ts";
import { CURRENT_SCHEDULES } from "../test/support/results/stored-schedules.ts";
import { CURRENT_SERVING } from "../test/support/results/stored-serving.ts";
import { CURRENT_STATE, packState, type StoredRun } from "../test/support/results/stored-state.ts";
import { keepLimits } from "./stored-limits.ts";
import { keepSchedules } from "./stored-schedules.ts";
import { keepServing } from "./stored-serving.ts";

const isThere = (name: string): boolean => existsSync(new URL(`../test/fixtures/stored-state/${name}`, import.meta.url));
const others: readonly (readonly [string, () => Promise<number>])[] = [
  [`schedules/${CURRENT_SCHEDULES}`, keepSchedules],
  [`serving/${CURRENT_SERVING}`, keepServing],
  [`limits/${CURRENT_LIMITS}`, keepLimits],
];
const lacking = others.filter(([name]) => !isThere(name));
for (const [name, keep] of lacking) console.log(`${name}: ${await keep()} bytes`);
if (lacking.length > 0) process.exit();
if (isThere(CURRENT_STATE)) {
  const names = [CURRENT_STATE, ...others.map(([name]) => name)].join(", ");
  throw new Error(`${names} are there already: they show what was stored then, so they are not made again`);
}
const place = new Workplace();
const model = await startModelServer({ latency_ms: 60 });
try {
  const service = new Served(place);
  await service.start();
  const create = (examples: number): Promise<string> => service.create(model.url, { num_examples: examples, rollouts_per_example: 2, max_concurrent: 4 });
  const kept = async (id: string, examples: number, stood: StoredRun["stood"]): Promise<StoredRun> => ({
    id,
    examples,
    rollouts: 2,
    stood,
    done_rollouts: (await service.run(id)).edgewise.done_rollouts,
    results: stood === "settled" ? await service.file(id, "results.jsonl") : null,
  });
  const settled = await create(6);
  await service.when(settled, ({ edgewise }) => edgewise.settled, "the end of a run");
  const suspended = await create(20);
  await service.when(suspended, ({ edgewise }) => edgewise.done_rollouts >= 6, "the first rows");
  await service.ask(`/evaluations/${suspended}/interrupt`, {});
  const working = await create(20);
  await service.when(working, ({ edgewise }) => edgewise.done_rollouts >= 6, "the first rows");
  const runs = [await kept(settled, 6, "settled"), await kept(suspended, 20, "suspended"), await kept(working, 20, "working")];
  await service.end("SIGKILL");
  console.log(`${CURRENT_STATE}: ${packState(place.state, runs)} bytes`);
} finally {
  place.remove();
  await model.close();
}
