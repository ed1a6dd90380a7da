import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { launchBrowser } from "../../test/support/browser/dashboard-browser.ts";
import { openMeasured } from "../dashboard-page.ts";
import type { Workplace } from "../edgewise-process.ts";
import { startViewer } from "../folder-viewer.ts";
import { writeFolders, writeLongRows } from "../load/written-folders.ts";
import { type Measure, median } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const FOLDERS = 1_400;
const ROWS = 4;
/** Rows of a page of the list. */
const PAGE = 100;
const TRIES = 3;
const LONG = { messages: 1_000, bytes: 100_000_000 };
const MANY = { messages: 100_000, bytes: 20_000_000 };
/** A message that is there whole; before that its beginning stands there. */
const MESSAGE = ".message .markdown, .message .raw-text";
const FRAMES = 100;
const PATIENCE_MS = 30_000;

const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "folders", name, value, unit });

/** Results folders in a real browser through `eval view --web`, each time by a command that has not read them yet and from an empty cache. */
export const folders: Scenario = async (places) => {
  const path = findBrowser();
  if (path === null) {
    console.error(`folders: no page is opened, since there is no browser ${NEEDS_BROWSER}`);
    return [];
  }
  const place = places("folders");
  const [many, long, rows] = ["many", "long/0f0f0f0f", "rows/1f1f1f1f"].map((name) => join(place.folder, name)) as [string, string, string];
  writeFolders(many, FOLDERS, ROWS);
  writeLongRows(long, [LONG]);
  writeLongRows(rows, [MANY]);
  const browser = await launchBrowser(path);
  try {
    return [
      ...(await listed(place, browser, many)),
      ...(await opened(place, browser, long, { what: `a rollout of ${LONG.bytes / 1e6} MB`, id: "0f0f0f0f" })),
      ...(await opened(place, browser, rows, { what: `a rollout of ${MANY.messages} messages`, id: "1f1f1f1f" })),
    ];
  } finally {
    await browser.close();
  }
};

async function listed(place: Workplace, browser: Browser, folder: string): Promise<readonly Measure[]> {
  const seen = await tried(place, folder, (url) => openMeasured(browser, `${url}/dashboard/`, "tbody tr", PAGE));
  return [
    { ...measure(`${PAGE} of ${FOLDERS} folders drawn`, Math.max(...seen.map(({ drawn }) => drawn)), "ms"), target: { at_most: 1_000 } },
    measure("the same, median", median(seen.map(({ drawn }) => drawn)), "ms"),
    measure("longest task of the page", Math.max(...seen.map(({ longestTask }) => longestTask)), "ms"),
  ];
}

async function opened(place: Workplace, browser: Browser, folder: string, { what, id }: { readonly what: string; readonly id: string }) {
  const page = (url: string): string => `${url}/dashboard/evaluations/${id}/samples/0/0`;
  let peak = 0;
  const seen = await tried(place, folder, async (url, memory) => {
    const first = await openMeasured(browser, page(url), MESSAGE, 1);
    peak = Math.max(peak, memory());
    return { ...first, ...(await scrolled(browser, page(url))) };
  });
  const most = (of: (one: (typeof seen)[number]) => number): number => Math.max(...seen.map(of));
  return [
    {
      ...measure(
        `${what}: first messages drawn`,
        most(({ drawn }) => drawn),
        "ms",
      ),
      target: { at_most: 2_000 },
    },
    measure("the same, median", median(seen.map(({ drawn }) => drawn)), "ms"),
    measure(
      `${what}: longest task while it opens`,
      most(({ longestTask }) => longestTask),
      "ms",
    ),
    measure(
      `${what}: longest task, scrolled by 300 px a frame`,
      most(({ wheel }) => wheel),
      "ms",
    ),
    measure(
      `${what}: longest task, dragged through all of it`,
      most(({ bar }) => bar),
      "ms",
    ),
    measure(
      `${what}: rows in the page at most`,
      most(({ rows }) => rows),
      "elements",
    ),
    measure(`${what}: the command at its highest`, peak / 2 ** 20, "MiB"),
  ];
}

/** Of several commands, one after the other, which begin with nothing. */
async function tried<Seen>(place: Workplace, folder: string, open: (url: string, memory: () => number) => Promise<Seen>): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  // The browser itself is slow the first time.
  for (let time = 0; time <= TRIES; time++) {
    const viewer = await startViewer(place, folder);
    try {
      const one = await open(viewer.url, () => viewer.peakMemory());
      if (time > 0) seen.push(one);
    } finally {
      await viewer.close();
    }
  }
  return seen;
}

interface Scrolled {
  /** Longest tasks, in milliseconds; 0 = none was longer than 50 ms. */
  readonly wheel: number;
  readonly bar: number;
  readonly rows: number;
}

async function scrolled(browser: Browser, address: string): Promise<Scrolled> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, locale: "en-US" });
  try {
    const page = await context.newPage();
    await page.addInitScript(
      "window.tasks = []; new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true })",
    );
    await page.goto(address);
    await page.locator(MESSAGE).first().waitFor({ timeout: PATIENCE_MS });
    const longest = (): Promise<number> =>
      page.evaluate<number>("new Promise((resolve) => setTimeout(() => resolve(Math.max(0, ...window.tasks.splice(0))), 300))");
    await longest();
    const byWheel = await page.evaluate<number>(scrolling(`scrollBy(0, 300)`));
    const wheel = await longest();
    const byBar = await page.evaluate<number>(scrolling(`scrollTo(0, document.documentElement.scrollHeight * frame / ${FRAMES})`));
    return { wheel, bar: await longest(), rows: Math.max(byWheel, byBar) };
  } finally {
    await context.close();
  }
}

/** Source of what scrolls the page, and counts the rows that are in it at most. */
const scrolling = (step: string): string => `(async () => {
  let rows = 0;
  for (let frame = 0; frame < ${FRAMES}; frame++) {
    ${step};
    // A browser without a window sometimes draws no frame any more.
    await new Promise((resolve) => { requestAnimationFrame(resolve); setTimeout(resolve, 250); });
    rows = Math.max(rows, document.querySelectorAll(".transcript-row").length);
  }
  return rows;
})()`;
