import type { Browser } from "playwright-core";
import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { launchBrowser } from "../../test/support/browser/dashboard-browser.ts";
import { openMeasured } from "../dashboard-page.ts";
import { type DrawingPage, openDrawing } from "../drawn-states.ts";
import { type Service, startService } from "../edgewise-process.ts";
import { type Measure, median } from "../measure.ts";
import { type ModelProcess, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";
import { ROLLOUTS, type Watched, watchedRun } from "../watched-run.ts";

const RUNS = 1_400;
/** Rows of a page of the list. */
const PAGE = 100;
const TRIES = 5;
const PAGES = 200;
const PAIRS = 5;
/** Numbers of a run of ten seconds, two a second. */
const FEWEST_DRAWN = 8;
/** Runs that are pushed at once while the list is made. */
const PUSHES = 8;

const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "dashboard", name, value, unit });

/** What people who have pages of the dashboard open wait for, and what they take from the run that they look at. */
export const dashboard: Scenario = async (places) => {
  const path = findBrowser();
  if (path === null) console.error(`dashboard: no page is opened, since there is no browser ${NEEDS_BROWSER}`);
  const model = await startModelProcess();
  const service = await startService(places("dashboard"));
  try {
    const watching = await watched(service, model);
    const browser = path === null ? null : await launchBrowser(path);
    try {
      const drawing = browser === null ? [] : await drawn(service, model, browser);
      for (let pushed = 0; pushed < RUNS; pushed += PUSHES)
        await Promise.all(Array.from({ length: Math.min(PUSHES, RUNS - pushed) }, (_, index) => push(service.url, `run ${pushed + index}`)));
      const listing = browser === null ? [] : await listed(service.url, browser);
      return [...listing, ...watching, ...drawing];
    } finally {
      await browser?.close();
    }
  } finally {
    await service.close();
    await model.close();
  }
};

/** Navigation to the page of runs with an empty cache, in a real browser. */
async function listed(url: string, browser: Browser): Promise<readonly Measure[]> {
  const address = `${url}/dashboard/`;
  await openMeasured(browser, address, "tbody tr", PAGE);
  const opened = [];
  for (let time = 0; time < TRIES; time++) opened.push(await openMeasured(browser, address, "tbody tr", PAGE));
  return [
    { ...measure("first paint of the first page, empty cache", Math.max(...opened.map(({ painted }) => painted)), "ms"), target: { at_most: 1_000 } },
    { ...measure(`${PAGE} of ${RUNS} runs drawn`, Math.max(...opened.map(({ drawn: at }) => at)), "ms"), target: { at_most: 1_000 } },
    measure("the same, median", median(opened.map(({ drawn: at }) => at)), "ms"),
    measure("longest task of the page", Math.max(...opened.map(({ longestTask }) => longestTask)), "ms"),
  ];
}

/** Runs with a server that answers at once, with two hundred pages of them open and without, in pairs: what else the machine does weighs on both of a pair. */
async function watched(service: Service, model: ModelProcess): Promise<readonly Measure[]> {
  // The first run of a service also pays for what it compiles.
  await watchedRun(service, model, 0);
  const pairs: { readonly alone: Watched; readonly open: Watched }[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = await watchedRun(service, model, pair % 2 === 0 ? 0 : PAGES);
    const second = await watchedRun(service, model, pair % 2 === 0 ? PAGES : 0);
    pairs.push(pair % 2 === 0 ? { alone: first, open: second } : { alone: second, open: first });
  }
  const middle = (value: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(value));
  const seen = pairs.flatMap(({ open }) => (open.seen === null ? [] : [open.seen]));
  const late = seen.flatMap((each) => each.late).sort((a, b) => a - b);
  return [
    measure(
      "no page is open",
      middle(({ alone }) => alone.rate),
      "rollouts/s",
    ),
    measure(
      `${PAGES} pages of the run are open`,
      middle(({ open }) => open.rate),
      "rollouts/s",
    ),
    {
      ...measure(
        "open beside none",
        middle(({ alone, open }) => open.rate / alone.rate),
        "ratio",
      ),
      target: { at_least: 0.9 },
    },
    measure(
      "processor time of the service, none open",
      middle(({ alone }) => alone.processor),
      "µs/rollout",
    ),
    measure(
      "processor time of the service, open",
      middle(({ open }) => open.processor),
      "µs/rollout",
    ),
    measure(
      "processor time, open beside none",
      middle(({ alone, open }) => open.processor / alone.processor),
      "ratio",
    ),
    measure("processor time of the pages", median(seen.map(({ processor }) => (processor * 1e6) / ROLLOUTS)), "µs/rollout"),
    measure("states per page and run", median(seen.map(({ states }) => states / PAGES)), "states"),
    measure("one state", median(seen.map(({ characters }) => characters)), "characters"),
    measure("commit to state, median", share(late, 0.5), "ms"),
    { ...measure("commit to state, p95", share(late, 0.95), "ms"), target: { at_most: 1_000 } },
  ];
}

/** A run that two hundred pages follow, of which a real browser draws one. */
async function drawn(service: Service, model: ModelProcess, browser: Browser): Promise<readonly Measure[]> {
  let page: DrawingPage | undefined;
  const { seen } = await watchedRun(service, model, PAGES - 1, async (id) => {
    page = await openDrawing(browser, service.url, id);
  });
  const drawings = (await page?.drawn()) ?? [];
  await page?.close();
  const late = drawings.flatMap(({ finished, at }) => {
    const changed = seen?.changed[finished];
    return changed === undefined ? [] : [at - changed];
  });
  if (late.length < FEWEST_DRAWN) throw new Error(`${late.length} of ${drawings.length} numbers that were drawn are those of a change`);
  late.sort((a, b) => a - b);
  return [
    measure("numbers drawn by a browser among them", late.length, "states"),
    measure("commit to screen, median", share(late, 0.5), "ms"),
    { ...measure("commit to screen, p95", share(late, 0.95), "ms"), target: { at_most: 1_000 } },
  ];
}

/** Of ascending numbers. */
const share = (sorted: readonly number[], part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;

/** An evaluation of two samples that was made elsewhere: the quickest way to a settled run. */
async function push(url: string, name: string): Promise<void> {
  const base = `${url}/api/v1/evaluations/`;
  const body = { name, environments: [{ id: "reverse-text" }], model_name: "scripted", framework: "verifiers" };
  const { evaluation_id: id } = (await post(base, body)) as { evaluation_id: string };
  const sample = (example_id: number) => ({
    ...{ example_id, reward: 1, metrics: {} },
    ...{ prompt: [{ role: "user", content: "abc" }], completion: [{ role: "assistant", content: "cba" }] },
  });
  await post(`${base}${id}/samples`, { samples: [sample(0), sample(1)] });
  await post(`${base}${id}/finalize`, {});
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
