import type { EntryType } from "node:perf_hooks";
import type { Browser } from "playwright-core";

/** What a browser saw of one opening of a page, in milliseconds from the beginning of the navigation. */
export interface Opened {
  /** Something stood on the screen. */
  readonly painted: number;
  /** As many elements as were waited for stood in the document. */
  readonly drawn: number;
  /** The longest task of the page until then; 0 = none was longer than 50 ms. */
  readonly longestTask: number;
}

/** How long a page may take before the bench gives up. */
const PATIENCE_MS = 30_000;

/** Opens an address in a profile without a cache, until `count` elements are what `selector` says. */
export async function openMeasured(browser: Browser, url: string, selector: string, count: number): Promise<Opened> {
  // The browser's own is `en-US@posix` where the machine has none, which `Intl` refuses.
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, locale: "en-US" });
  try {
    const page = await context.newPage();
    await page.addInitScript(observe, { selector, count });
    await page.goto(url);
    const wanted = page.locator(selector).nth(count - 1);
    await wanted.waitFor({ timeout: PATIENCE_MS });
    // The frame after the one in which the last of them came has told of its paint and its tasks.
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    return await page.evaluate<Opened>(
      "({ ...window.benchSeen, painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? window.benchSeen.drawn })",
    );
  } finally {
    await context.close();
  }
}

/** In the page, before anything of its own. */
function observe({ selector, count }: { readonly selector: string; readonly count: number }): void {
  const page = globalThis as unknown as {
    benchSeen: { drawn: number; longestTask: number };
    document: { querySelectorAll(selector: string): ArrayLike<unknown> };
  };
  page.benchSeen = { drawn: 0, longestTask: 0 };
  const { MutationObserver: Mutations } = globalThis as unknown as {
    MutationObserver: new (seen: () => void) => { observe(target: unknown, what: object): void; disconnect(): void };
  };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) page.benchSeen.longestTask = Math.max(page.benchSeen.longestTask, duration);
  }).observe({ type: "longtask" as string as EntryType, buffered: true });
  const watching = new Mutations(() => {
    if (page.document.querySelectorAll(selector).length < count) return;
    page.benchSeen.drawn = performance.now();
    watching.disconnect();
  });
  watching.observe(page.document, { childList: true, subtree: true });
}
