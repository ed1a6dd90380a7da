import { gzipSync } from "node:zlib";
import { pushRows } from "../load/pushed-rows.ts";
import { startService } from "../edgewise-process.ts";
import { create, settled } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROWS = 100_000;
const ROLLOUTS = 8;
const CONCURRENCY = 256;
const SCREEN = 40;
const TIMES = 9;
const LOOK_MS = 500;
const NAMES = "reward,error,input_tokens,output_tokens,cost,m:exact,m:length_penalty,m:judged";

/** What a grid of a hundred thousand rows asks for: their numbers, a screen of texts, a search. Of an evaluation that was pushed, and of a run whose examples were permuted. */
export const grid: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("grid"));
  try {
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "grid", name, value, unit });
    const sent = performance.now();
    const pushed = await pushRows({ url: service.url, examples: ROWS / ROLLOUTS, rollouts: ROLLOUTS });
    const seconds = (performance.now() - sent) / 1000;
    const made = await create({ url: service.url, modelUrl: model.url, examples: ROWS, concurrency: CONCURRENCY });
    await settled(service.url, made, LOOK_MS);
    const idle = service.memory();
    const measures = [measure(`${ROWS} rows pushed until they have settled`, seconds, "s")];
    for (const [what, id, examples, rollouts] of [
      [`${ROWS / ROLLOUTS} x ${ROLLOUTS} pushed`, pushed, ROWS / ROLLOUTS, ROLLOUTS],
      [`${ROWS} x 1 permuted`, made, ROWS, 1],
    ] as const) {
      const base = `${service.url}/api/v1/evaluations/${id}`;
      const columns = await timed(async () => textOf(await fetch(`${base}/columns?names=${encodeURIComponent(NAMES)}`)), 3);
      if (!columns.value.endsWith('"next":null}\n')) throw new Error("the columns are not whole");
      measures.push(
        measure(`${what}: 8 columns`, columns.ms, "ms"),
        measure(`${what}: 8 columns`, columns.value.length / 1024, "KiB"),
        measure(`${what}: 8 columns, gzipped`, gzipSync(columns.value).length / 1024, "KiB"),
      );
      const screens = { "side by side": (at: number) => at, "all over the run": (at: number) => Math.imul(at + 1, 2_654_435_761) >>> 0 };
      for (const [order, place] of Object.entries(screens)) {
        let turn = 0;
        const texts = await timed(async () => {
          const first = Math.floor((turn++ * examples * rollouts) / TIMES);
          const asked = Array.from({ length: SCREEN }, (_, at) => place(first + at) % (examples * rollouts));
          const answer = (await previews(
            base,
            asked.map((row) => [Math.floor(row / rollouts), row % rollouts]),
          )) as { readonly previews: readonly unknown[] };
          if (answer.previews.some((each) => each === null)) throw new Error("a preview is missing");
        }, TIMES);
        measures.push(
          measure(`${what}: ${SCREEN} previews ${order}, the first`, texts.first, "ms"),
          measure(`${what}: ${SCREEN} previews ${order}, of ${TIMES}`, texts.ms, "ms"),
        );
      }
      const rollout = await timed(async () => textOf(await fetch(`${base}/rollouts/${examples >> 1}/0/outline`)), TIMES);
      measures.push(measure(`${what}: one outline`, rollout.ms, "ms"));
      const search = await timed(async () => textOf(await fetch(`${base}/search?text=${encodeURIComponent("nobody wrote this")}`)), 1);
      if (!search.value.includes(`"scanned":${ROWS},"next":null`)) throw new Error(`the search is not whole: ${search.value.slice(-200)}`);
      measures.push(measure(`${what}: a search that finds nothing`, search.ms, "ms"));
    }
    measures.push(measure("runtime at its highest", service.peakMemory() / 2 ** 20, "MiB"), measure("runtime before", idle / 2 ** 20, "MiB"));
    return measures;
  } finally {
    await service.close();
    await model.close();
  }
};

interface Timed<T> {
  readonly value: T;
  /** The median, and the first time. */
  readonly ms: number;
  readonly first: number;
}

async function timed<T>(work: () => Promise<T>, times: number): Promise<Timed<T>> {
  const took: number[] = [];
  for (;;) {
    const start = performance.now();
    const value = await work();
    took.push(performance.now() - start);
    if (took.length === times) return { value, ms: median(took), first: took[0] ?? Number.NaN };
  }
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

async function previews(base: string, places: readonly (readonly number[])[]): Promise<unknown> {
  const body = JSON.stringify({ places, fields: ["prompt", "completion", "answer", "turns", "seconds", "info.level"] });
  return JSON.parse(await textOf(await fetch(`${base}/previews`, { method: "POST", headers: { "content-type": "application/json" }, body })));
}
