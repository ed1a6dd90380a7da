/**
 * `npm test`: runs the three suites one after another, lets vitest print its own summaries, and ends with what failed and one line
 * `N passed, N failed, N skipped` over all of them. Names of suites as arguments choose: `npm test -- rules workers`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBrowser } from "../test/support/browser/browser.ts";
import { type Counts, countsOf, failureLines, summaryLine, type VitestReport } from "./test-summary.ts";

const SUITES = ["rules", "workers", "e2e"] as const;
const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !SUITES.some((suite) => suite === name));
if (unknown.length > 0) {
  console.error(`unknown suite ${unknown.join(", ")}; there are: ${SUITES.join(", ")}`);
  process.exit(2);
}

if (asked.length === 0 || asked.includes("e2e")) bringBrowser();
const scratch = mkdtempSync(join(tmpdir(), "edgewise-test-"));
const counts: Counts[] = [];
const failures: string[] = [];
for (const suite of SUITES.filter((name) => asked.length === 0 || asked.includes(name))) {
  const report = join(scratch, `${suite}.json`);
  const code = await run(["run", "--config", `vitest.${suite}.config.ts`, "--reporter=default", "--reporter=json", `--outputFile=${report}`]);
  const read = readReport(report);
  counts.push(countsOf(read, code));
  failures.push(...failureLines(suite, read, code));
}
rmSync(scratch, { recursive: true, force: true });
for (const line of failures) console.log(line);
console.log(summaryLine(counts));
process.exitCode = counts.some((count) => count.failed > 0) ? 1 : 0;

/** Some tests open pages: they are skipped where a browser is neither there nor to be had. */
function bringBrowser(): void {
  if (findBrowser() !== null || process.platform !== "linux" || process.arch !== "x64") return;
  // Without a network the registry is asked once, not for minutes.
  const env = { ...process.env, npm_config_fetch_retries: "0", npm_config_fetch_timeout: "120000" };
  const { status } = spawnSync(process.execPath, [join(root, "tools/fetch-browser.ts")], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "ignore"],
    timeout: 300_000,
  });
  if (status !== 0) console.log("No browser could be brought: tests that need one are skipped. `npm run browser` says why.");
}

function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    // A suite that was killed counts as failed.
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Null when vitest did not get as far as writing one; `countsOf` makes that a failure. */
function readReport(path: string): VitestReport | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as VitestReport;
  } catch {
    return null;
  }
}
