import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Service, startService, type Workplace } from "../edgewise-process.ts";
import { create, settled } from "../http-run.ts";
import { loadIsolates } from "../load/isolates.ts";
import { type Measure, median } from "../measure.ts";
import { type ModelProcess, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROLLOUTS = 6_000;
const CONCURRENCY = 256;
/** Of each of the two, in turn: a machine that does other things does them to both. */
const ROUNDS = 3;
const STARTS = 9;
const COUNTS = [1, 10, 50];
const POLL_MS = 10;
const MIB = 1024 * 1024;

const BUNDLED = "reverse-text";
const WALLED = "reverse-text-walled";

/** The same environment bundled and in an isolate of its own, on a server that answers at once; how soon a second run begins; and what isolates cost. */
export const walls: Scenario = async (places) => {
  const place = places("walls");
  writeWalled(place);
  const model = await startModelProcess();
  const service = await startService(place);
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "walls", name, value, unit });
  try {
    const run = { service, model };
    for (const environment of [BUNDLED, WALLED]) await play(run, environment, 200);
    const rates = await inTurn(ROUNDS, (environment) => rateOf(run, environment));
    const starts = await inTurn(STARTS, (environment) => startOf(run, environment));
    const middle = (values: readonly { readonly [name: string]: number }[], name: string): number => median(values.map((each) => each[name] ?? Number.NaN));
    const ratio = middle(rates.walled, "rate") / middle(rates.bundled, "rate");
    const later = middle(starts.walled, "ms") - middle(starts.bundled, "ms");
    const isolates = await loadIsolates(COUNTS);
    return [
      measure("bundled, first call to last commit", middle(rates.bundled, "rate"), "rollouts/s"),
      measure("walled", middle(rates.walled, "rate"), "rollouts/s"),
      { ...measure("walled beside bundled", ratio, "ratio"), target: { at_least: 0.75 } },
      measure("rollout, bundled", middle(rates.bundled, "processor_us"), "µs of the runtime"),
      measure("rollout, walled", middle(rates.walled, "processor_us"), "µs of the runtime"),
      measure("creation to first model call, bundled", middle(starts.bundled, "ms"), "ms"),
      measure("the same, walled, second run", middle(starts.walled, "ms"), "ms"),
      { ...measure("how much later", later, "ms"), target: { at_most: 200 } },
      ...isolates.flatMap(({ count, load_ms, bytes }) => [
        measure(`time to load one, up to ${count}`, load_ms, "ms"),
        measure(`memory of ${count} isolates`, bytes / MIB, "MiB"),
      ]),
    ];
  } finally {
    await service.close();
    await model.close();
  }
};

interface Run {
  readonly service: Service;
  readonly model: ModelProcess;
}

async function inTurn<T>(rounds: number, of: (environment: string) => Promise<T>): Promise<{ readonly bundled: readonly T[]; readonly walled: readonly T[] }> {
  const bundled: T[] = [];
  const walled: T[] = [];
  for (let round = 0; round < rounds; round++) {
    bundled.push(await of(BUNDLED));
    walled.push(await of(WALLED));
  }
  return { bundled, walled };
}

/** Gives when the last rollout was committed. */
async function play({ service, model }: Run, environment: string, examples: number): Promise<number> {
  await model.clear();
  const id = await create({ url: service.url, modelUrl: model.url, environment, examples, concurrency: CONCURRENCY });
  const { status, finalized_at } = await settled(service.url, id, examples > 1 ? 100 : POLL_MS);
  if (status !== "COMPLETED") throw new Error(`${environment} ended ${status}`);
  return Date.parse(finalized_at);
}

async function rateOf(run: Run, environment: string) {
  const before = run.service.processorTime();
  const last = await play(run, environment, ROLLOUTS);
  const first = (await run.model.stats()).first_start_ms ?? Number.NaN;
  return { rate: (ROLLOUTS * 1000) / (last - first), processor_us: ((run.service.processorTime() - before) * 1e6) / ROLLOUTS };
}

async function startOf(run: Run, environment: string) {
  const begin = performance.timeOrigin + performance.now();
  await play(run, environment, 1);
  return { ms: ((await run.model.stats()).first_start_ms ?? Number.NaN) - begin };
}

const SOURCES = ["reverse-text/reverse-text.ts", "reverse-text/word-list.ts", "similarity.ts", "../../mix.ts"];

/** The bundled environment as one of a user's own: its files side by side, with what they have of the library from the package. */
function writeWalled({ folder }: Workplace): void {
  const bundled = fileURLToPath(new URL("../../src/environments/bundled/", import.meta.url));
  const own = join(folder, "environments", WALLED);
  mkdirSync(own, { recursive: true });
  const names = SOURCES.map((path) => basename(path));
  for (const path of SOURCES) {
    const text = readFileSync(join(bundled, path), "utf8").replace(/ from "([^"]+)"/g, (_, target: string) => {
      const name = basename(target);
      return ` from "${names.includes(name) ? `./${name}` : "edgewise"}"`;
    });
    const name = basename(path) === "reverse-text.ts" ? "index.ts" : basename(path);
    writeFileSync(join(own, name), text.replace(`id: "${BUNDLED}"`, `id: "${WALLED}"`));
  }
}
