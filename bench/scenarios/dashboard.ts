import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { launchBrowser } from "../../test/support/browser/dashboard-browser.ts";
import { openMeasured } from "../dashboard-page.ts";
import { startService } from "../edgewise-process.ts";
import { create, settled } from "../http-run.ts";
import { type Measure, median } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";
import { type StatesSeen, startStateFollowers } from "../state-follow-process.ts";

const RUNS = 1_400;
/** Rows of a page of the list. */
const PAGE = 100;
const TRIES = 5;
const PAGES = 200;
const ROLLOUTS = 10_000;
const CONCURRENCY = 64;
const PAIRS = 3;
const LOOK_MS = 500;
/** Runs that are pushed at once while the list is made. */
const PUSHES = 8;

const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "dashboard", name, value, unit });

/** What people who have pages of the dashboard open wait for, and what they take from the run that they look at. */
export const dashboard: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("dashboard"));
  try {
    const watching = await watched(service.url, model);
    for (let pushed = 0; pushed < RUNS; pushed += PUSHES)
      await Promise.all(Array.from({ length: Math.min(PUSHES, RUNS - pushed) }, (_, index) => push(service.url, `run ${pushed + index}`)));
    return [...(await listed(service.url)), ...watching];
  } finally {
    await service.close();
    await model.close();
  }
};

/** Navigation to the page of runs with an empty cache, in a real browser. */
async function listed(url: string): Promise<readonly Measure[]> {
  const path = findBrowser();
  if (path === null) {
    console.error(`dashboard: no page is opened, since there is no browser ${NEEDS_BROWSER}`);
    return [];
  }
  const browser = await launchBrowser(path);
  try {
    const address = `${url}/dashboard/`;
    await openMeasured(browser, address, "tbody tr", PAGE);
    const opened = [];
    for (let time = 0; time < TRIES; time++) opened.push(await openMeasured(browser, address, "tbody tr", PAGE));
    return [
      { ...measure("first paint of the first page, empty cache", Math.max(...opened.map(({ painted }) => painted)), "ms"), target: { at_most: 1_000 } },
      { ...measure(`${PAGE} of ${RUNS} runs drawn`, Math.max(...opened.map(({ drawn }) => drawn)), "ms"), target: { at_most: 1_000 } },
      measure("the same, median", median(opened.map(({ drawn }) => drawn)), "ms"),
      measure("longest task of the page", Math.max(...opened.map(({ longestTask }) => longestTask)), "ms"),
    ];
  } finally {
    await browser.close();
  }
}

interface Once {
  /** Rollouts per second. */
  readonly rate: number;
  readonly seen: StatesSeen | null;
}

/** Run after run with a server that answers at once, with two hundred pages of it open and without. */
async function watched(url: string, model: Awaited<ReturnType<typeof startModelProcess>>): Promise<readonly Measure[]> {
  const once = async (pages: number): Promise<Once> => {
    await model.clear();
    const id = await create({ url, modelUrl: model.url, examples: ROLLOUTS, concurrency: CONCURRENCY });
    const following = pages === 0 ? null : await startStateFollowers(url, id, pages);
    const { status, finalized_at } = await settled(url, id, LOOK_MS);
    if (status !== "COMPLETED") throw new Error(`the run ended ${status}`);
    const seen = (await following?.seen()) ?? null;
    if (seen !== null && seen.complete !== pages) throw new Error(`${seen.complete} of ${pages} pages were told of the end`);
    const seconds = (Date.parse(finalized_at) - ((await model.stats()).first_start_ms ?? Number.NaN)) / 1_000;
    return { rate: ROLLOUTS / seconds, seen };
  };
  // The first run of a service also pays for what it compiles.
  await once(0);
  const [alone, open]: [Once[], Once[]] = [[], []];
  for (let pair = 0; pair < PAIRS; pair++) {
    alone.push(await once(0));
    open.push(await once(PAGES));
  }
  const [without, withPages] = [alone, open].map((runs) => median(runs.map(({ rate }) => rate))) as [number, number];
  const seen = open.flatMap((each) => (each.seen === null ? [] : [each.seen]));
  const late = seen.flatMap((each) => each.late).sort((a, b) => a - b);
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(share * late.length))] ?? Number.NaN;
  return [
    measure("no page is open", without, "rollouts/s"),
    measure(`${PAGES} pages of the run are open`, withPages, "rollouts/s"),
    { ...measure("open beside none", withPages / without, "ratio"), target: { at_least: 0.9 } },
    measure("states per page and run", median(seen.map(({ states }) => states / PAGES)), "states"),
    measure("one state", median(seen.map(({ characters }) => characters)), "characters"),
    measure("commit to state, median", at(0.5), "ms"),
    { ...measure("commit to state, p95", at(0.95), "ms"), target: { at_most: 1_000 } },
  ];
}

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
