import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const LIMIT_MS = 60_000;

/** A Chromium of this machine: `EDGEWISE_TEST_BROWSER`, or one on the PATH; null when there is none. */
export function findBrowser({ EDGEWISE_TEST_BROWSER: named, PATH = "" }: NodeJS.ProcessEnv = process.env): string | null {
  if (named) return named;
  const paths = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
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
export async function openPage(browser: string, url: string): Promise<OpenedPage> {
  const profile = mkdtempSync(join(tmpdir(), "edgewise-browser-"));
  // The sandbox needs rights that a container's root lacks; what is opened is our own.
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", `--user-data-dir=${profile}`];
  const child = spawn(browser, [...flags, "--enable-logging=stderr", "--dump-dom", url], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  let [dom, log] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    dom += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
    if (code !== 0) throw new Error(`${browser} ended with ${code}:\n${log.slice(-2000)}`);
    return { dom, console: log.split("\n").filter((line) => line.includes(":CONSOLE")) };
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
