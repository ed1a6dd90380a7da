import { startService } from "../edgewise-process.ts";
import { create, settled } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROWS = 50_000;
const PAGE = 100;
const CONCURRENCY = 256;
const RUNS = 1_000;
const LIST = 50;
const TIMES = 15;

/** The first and the last page of many rows, and of many runs. */
export const paging: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("paging"));
  try {
    const base = `${service.url}/api/v1/evaluations/`;
    const run = { url: service.url, modelUrl: model.url, concurrency: CONCURRENCY };
    const id = await create({ ...run, examples: ROWS });
    await settled(service.url, id, 500);
    for (let index = 1; index < RUNS; index++) await create({ ...run, examples: 1 });
    const samples = await firstAndLast((page) => `${base}${id}/samples?page=${page}&limit=${PAGE}`, ROWS / PAGE, "samples");
    const list = await firstAndLast((page) => `${base}?skip=${(page - 1) * LIST}&limit=${LIST}`, RUNS / LIST, "evaluations");
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "paging", name, value, unit });
    return [
      measure(`first ${PAGE} of ${ROWS} rows`, samples.first, "ms"),
      measure(`last ${PAGE} rows`, samples.last, "ms"),
      { ...measure("last page of rows beside the first", samples.last / samples.first, "ratio"), target: { at_most: 2 } },
      measure(`first ${LIST} of ${RUNS} runs`, list.first, "ms"),
      measure(`last ${LIST} runs`, list.last, "ms"),
      { ...measure("last page of runs beside the first", list.last / list.first, "ratio"), target: { at_most: 2 } },
    ];
  } finally {
    await service.close();
    await model.close();
  }
};

/** Medians in milliseconds, both pages in turns. */
async function firstAndLast(urlOf: (page: number) => string, pages: number, rows: string): Promise<{ readonly first: number; readonly last: number }> {
  const time = async (page: number): Promise<number> => {
    const start = performance.now();
    const answer = (await (await fetch(urlOf(page))).json()) as Record<string, unknown[] | undefined>;
    if ((answer[rows]?.length ?? 0) === 0) throw new Error(`page ${page} is empty`);
    return performance.now() - start;
  };
  const [first, last]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TIMES; turn++) {
    first.push(await time(1));
    last.push(await time(pages));
  }
  return { first: median(first), last: median(last) };
}
