import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { BROWSER_LIBRARIES, FETCHED_BROWSER } from "../../../tools/browser-place.ts";
import { DevTools, type DevToolsEvent } from "./dev-tools.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** From a start, or a call, to an answer, on a machine that has other things to do. */
const LIMIT_MS = 60_000;

/** What a test is called that needs one. */
export const NEEDS_BROWSER = "(`npm run browser` brings one; else set EDGEWISE_TEST_BROWSER, or have Chromium on the PATH)";

/** A Chromium of this machine: `EDGEWISE_TEST_BROWSER`, the one that `npm run browser` has brought, or one on the PATH; null when there is none. */
export function findBrowser({ EDGEWISE_TEST_BROWSER: named, PATH = "" }: NodeJS.ProcessEnv = process.env): string | null {
  if (named) return named;
  const paths = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [FETCHED_BROWSER, ...paths].find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface OpenedPage {
  /** The document after it was loaded and its scripts, if any, had run. */
  readonly dom: string;
  /** What stands in the browser's console: errors of scripts, and what the content security policy refused. */
  readonly console: readonly string[];
}

/** Opens a page without a window. */
export async function openPage(path: string, url: string): Promise<OpenedPage> {
  const browser = await Browser.start(path);
  try {
    const page = await browser.open(url);
    return { dom: await page.evaluate<string>("document.documentElement.outerHTML"), console: page.console };
  } finally {
    await browser.close();
  }
}

/** A browser without a window and with a profile of its own. `hosts`: names that it takes for this machine, whatever a name server says. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #tools: DevTools;

  private constructor(child: ChildProcess, profile: string, tools: DevTools) {
    this.#child = child;
    this.#profile = profile;
    this.#tools = tools;
  }

  static async start(path: string, hosts: readonly string[] = []): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), "edgewise-browser-"));
    // The sandbox needs rights that a container's root lacks; what is opened is our own.
    const flags = ["--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0"];
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(",");
    const libraries = existsSync(BROWSER_LIBRARIES) ? [process.env.LD_LIBRARY_PATH, BROWSER_LIBRARIES].filter(Boolean).join(":") : undefined;
    const child = spawn(path, [...flags, `--user-data-dir=${profile}`, ...(rules === "" ? [] : [`--host-resolver-rules=${rules}`]), "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) },
    });
    try {
      return new Browser(child, profile, await DevTools.connect(await addressOf(child, path), LIMIT_MS));
    } catch (error) {
      await ended(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      throw error;
    }
  }

  /** Resolves when the page is loaded; rejects where the browser shows an error in its place. */
  async open(url: string): Promise<Page> {
    const { targetId } = await this.#tools.ask<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.#tools.ask<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this.#tools, sessionId);
    await page.load(url);
    return page;
  }

  async close(): Promise<void> {
    this.#tools.close();
    await ended(this.#child);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One page of a browser. */
export class Page {
  readonly console: string[] = [];
  readonly #tools: DevTools;
  readonly #session: string;

  constructor(tools: DevTools, session: string) {
    this.#tools = tools;
    this.#session = session;
    tools.listen(session, (event) => this.#noted(event));
  }

  async load(url: string): Promise<void> {
    for (const domain of ["Page", "Runtime", "Log"]) await this.#tools.ask(`${domain}.enable`, {}, this.#session);
    const loaded = this.#tools.once(this.#session, "Page.loadEventFired", LIMIT_MS);
    loaded.catch(() => undefined);
    const { errorText } = await this.#tools.ask<{ errorText?: string }>("Page.navigate", { url }, this.#session);
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** The value of an expression in the page, or what its promise becomes. */
  async evaluate<T>(expression: string): Promise<T> {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#tools.ask<{ result: { value: T }; exceptionDetails?: object }>("Runtime.evaluate", asked, this.#session);
    if (exceptionDetails !== undefined) throw new Error(`${expression.slice(0, 200)}: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  }

  #noted({ method, params }: DevToolsEvent): void {
    const { entry } = params as { entry?: { url?: string; text?: string } };
    // The browser asks for it by itself.
    if (method === "Log.entryAdded" && entry?.url?.endsWith("/favicon.ico") !== true) this.console.push(String(entry?.text));
    if (method === "Runtime.consoleAPICalled" || method === "Runtime.exceptionThrown") this.console.push(JSON.stringify(params));
  }
}

/** Where it listens for its developer, as it says at its start. */
function addressOf(child: ChildProcess, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = "";
    const timer = setTimeout(() => reject(new Error(`${path} did not start:\n${log.slice(-2_000)}`)), LIMIT_MS);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-100_000);
      const found = /DevTools listening on (ws:\S+)/.exec(log)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.once("error", reject).once("close", (code) => reject(new Error(`${path} ended with ${code}:\n${log.slice(-2_000)}`)));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await closed;
}
