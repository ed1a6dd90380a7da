import type { Browser, Page } from "playwright-core";

/** A number that stood on the screen, and since when, in Unix milliseconds. */
export interface Drawn {
  /** Rollouts that are finished, as the page says it. */
  readonly finished: number;
  readonly at: number;
}

export interface DrawingPage {
  /** What was drawn until now, oldest first. */
  drawn(): Promise<readonly Drawn[]>;
  close(): Promise<void>;
}

/** Opens the page of a run that goes on; resolves when its progress stands there. */
export async function openDrawing(browser: Browser, url: string, runId: string): Promise<DrawingPage> {
  // The browser's own is `en-US@posix` where the machine has none, which `Intl` refuses.
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, locale: "en-US" });
  const page: Page = await context.newPage();
  await page.addInitScript(noteProgress);
  await page.goto(`${url}/dashboard/evaluations/${runId}`);
  await page.locator(".run-bar p").first().waitFor();
  return { drawn: () => page.evaluate<readonly Drawn[]>("window.benchDrawn"), close: () => context.close() };
}

/** In the page: the numbers of its progress, each when the frame that has it is out. */
function noteProgress(): void {
  const page = globalThis as unknown as {
    benchDrawn: { finished: number; at: number }[];
    document: { querySelector(selector: string): { readonly textContent: string | null } | null };
    requestAnimationFrame(call: () => void): void;
    MutationObserver: new (seen: () => void) => { observe(target: unknown, what: object): void };
  };
  page.benchDrawn = [];
  let shown = -1;
  new page.MutationObserver(() => {
    const [, digits] = /^([\d,]+) of /.exec(page.document.querySelector(".run-bar p")?.textContent ?? "") ?? [];
    const finished = Number((digits ?? "-1").replaceAll(",", ""));
    if (finished < 0 || finished === shown) return;
    shown = finished;
    // A task that is made within a frame comes after what that frame draws.
    page.requestAnimationFrame(() => {
      setTimeout(() => page.benchDrawn.push({ finished, at: performance.timeOrigin + performance.now() }), 0);
    });
  }).observe(page.document, { childList: true, subtree: true, characterData: true });
}
