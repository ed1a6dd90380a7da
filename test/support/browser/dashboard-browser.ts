import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { BROWSER_LIBRARIES } from "../../../tools/browser-place.ts";

/** Pages of the dashboard in a real browser, as somebody sees and uses them. */

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PATIENCE_MS = 30_000;

/** A browser without a window. `path`: of `findBrowser`. */
export function launchBrowser(path: string): Promise<Browser> {
  const libraries = existsSync(BROWSER_LIBRARIES) ? { LD_LIBRARY_PATH: [process.env.LD_LIBRARY_PATH, BROWSER_LIBRARIES].filter(Boolean).join(":") } : {};
  return chromium.launch({
    executablePath: path,
    // The sandbox needs rights that a container's root lacks; what is opened is our own.
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage"],
    env: { ...(process.env as Record<string, string>), ...libraries },
    timeout: 60_000,
  });
}

export interface OpenedDashboard {
  readonly page: Page;
  /** What should not be: errors of scripts, refusals of the content security policy, and requests to other hosts. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** Opens a page in a profile of its own. `expected`: messages of the console that the test brings about itself. */
export async function openDashboard(browser: Browser, url: string, options: BrowserContextOptions = {}, expected: RegExp = /(?!)/): Promise<OpenedDashboard> {
  // The browser's own is `en-US@posix` where the machine has none, which `Intl` refuses.
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, reducedMotion: "reduce", locale: "en-US", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expected.test(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

/** Until a page that was opened says what it is, and of nothing that it comes. */
export async function drawn(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page
    .getByText(/^(?:Loading|Comparing|Looking).*…$/)
    .first()
    .waitFor({ state: "detached" });
}

interface AxeResults {
  readonly passes: readonly object[];
  readonly violations: readonly { readonly id: string; readonly impact: string | null; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What stands in the way of people who cannot see or point, by axe-core's rules; what it calls minor is left out. Throws where axe looked at nothing. */
export async function barriersIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const { passes, violations } = await page.evaluate<AxeResults>("axe.run()");
  if (passes.length < 10) throw new Error(`axe looked at ${passes.length} rules only`);
  return violations.filter(({ impact }) => impact !== "minor").map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
