import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { launchBrowser } from "../../test/support/browser/dashboard-browser.ts";
import { openMeasured } from "../dashboard-page.ts";
import { startService } from "../edgewise-process.ts";
import { pushRows } from "../load/pushed-rows.ts";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const ROWS = 100_000;
const ROLLOUTS = 8;
/** Rows that fill a screen of the browser's size. */
const SCREEN = 20;
const PATIENCE_MS = 60_000;

/** The page of samples of a hundred thousand rollouts in a real browser: how soon it shows some, and what it takes to scroll, filter and sort them. */
export const samplesPage: Scenario = async (places) => {
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "samples-page", name, value, unit });
  const path = findBrowser();
  if (path === null) {
    console.error(`samples-page: no page is opened, since there is no browser ${NEEDS_BROWSER}`);
    return [];
  }
  const service = await startService(places("samples-page"));
  const browser = await launchBrowser(path);
  try {
    const id = await pushRows({ url: service.url, examples: ROWS / ROLLOUTS, rollouts: ROLLOUTS });
    const address = `${service.url}/dashboard/evaluations/${id}/samples`;
    const opened = await openMeasured(browser, address, ".grid-rows [role=row]", SCREEN);
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, locale: "en-US" });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.addInitScript(
      "window.tasks = []; new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true })",
    );
    await page.goto(address);
    await page.getByText("100,000 rollouts", { exact: true }).waitFor();
    const longest = (): Promise<number> =>
      page.evaluate<number>("new Promise((resolve) => setTimeout(() => resolve(Math.max(0, ...window.tasks.splice(0))), 300))");
    const loading = await longest();
    const wheel = await page.evaluate<Scrolled>(scrolling(300, 100));
    const wheelTask = await longest();
    const bar = await page.evaluate<Scrolled>(scrolling(200, 7_000));
    const barTask = await longest();
    await page.getByRole("button", { name: "length_penalty" }).click();
    await page.locator("[role=columnheader][aria-sort=descending]").waitFor();
    const sortTask = await longest();
    await page.getByRole("combobox", { name: "Filter" }).fill("reward = 1 and length_penalty > 0.5 not error = any");
    await page.getByText(/found of 100,000 rollouts/).waitFor();
    const filterTask = await longest();
    return [
      { ...measure(`${SCREEN} of ${ROWS} rows drawn, empty cache`, opened.drawn, "ms"), target: { at_most: 1_000 } },
      { ...measure("row elements at most", Math.max(wheel.rows, bar.rows), "elements"), target: { at_most: 100 } },
      measure("longest task while all numbers load", loading, "ms"),
      { ...measure("longest task, scrolled by 100 px a frame", wheelTask, "ms"), target: { at_most: 100 } },
      measure("a frame of it", wheel.frame, "ms"),
      { ...measure("longest task, dragged by 7,000 px a frame", barTask, "ms"), target: { at_most: 100 } },
      measure("a frame of it", bar.frame, "ms"),
      { ...measure("longest task of a sort", sortTask, "ms"), target: { at_most: 100 } },
      { ...measure("longest task of a filter", filterTask, "ms"), target: { at_most: 100 } },
    ];
  } finally {
    await browser.close();
    await service.close();
  }
};

interface Scrolled {
  /** Milliseconds in the mean. */
  readonly frame: number;
  /** Elements of rows at most. */
  readonly rows: number;
}

/** Source of what scrolls the grid in the page. */
const scrolling = (frames: number, pixels: number): string => `(async () => {
  const grid = document.querySelector("[role=grid]");
  const began = performance.now();
  let rows = 0;
  for (let frame = 0; frame < ${frames}; frame++) {
    grid.scrollTop += ${pixels};
    await new Promise((resolve) => requestAnimationFrame(resolve));
    rows = Math.max(rows, grid.querySelectorAll(".grid-rows [role=row]").length);
  }
  return { frame: (performance.now() - began) / ${frames}, rows };
})()`;
