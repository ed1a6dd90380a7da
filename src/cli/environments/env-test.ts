/** `edgewise env test`: runs the tests beside environments. Each is bundled first, so that TypeScript and decorators work on any Node. */
import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { shortPath } from "../command-line/typed-commands.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { buildError, LIBRARY, packageImports } from "./bundle.ts";
import { type EnvironmentFile, environmentFile, environmentsIn } from "./find-environment.ts";

const IS_TEST = /\.test\.(ts|mts|js|mjs)$/;
/** What is no source of an environment. */
const SKIPPED = new Set(["node_modules", "outputs"]);

export interface EnvTestOptions {
  /** Names or paths; every environment in `envDir` when empty. */
  readonly names: readonly string[];
  readonly envDir: string;
}

export async function envTest({ cwd }: CommandContext, { names, envDir }: EnvTestOptions): Promise<ExitCode> {
  const environments = names.length === 0 ? environmentsIn(cwd, envDir) : names.map((name) => named(name, cwd, envDir));
  const tests = environments.flatMap(testsOf);
  if (tests.length === 0) {
    const places = environments.map(({ folder, entry }) => shortPath(folder ?? dirname(entry), cwd));
    throw usageError(
      `there is no test in ${places.length === 0 ? envDir : places.join(", ")}`,
      "A test is a file NAME.test.ts beside the environment; `npx edgewise env init NAME` writes one.",
    );
  }
  const interrupts = new Interrupts();
  const bundles: string[] = [];
  try {
    for (const test of tests) bundles.push(await bundleTest(test));
    return await runTests(bundles, cwd, interrupts.signal);
  } finally {
    for (const bundle of bundles) rmSync(bundle, { force: true });
    interrupts.dispose();
  }
}

function named(name: string, cwd: string, envDir: string): EnvironmentFile {
  const file = environmentFile(name, cwd, envDir);
  if (file !== null) return file;
  const known = environmentsIn(cwd, envDir).map(({ entry }) => basename(dirname(entry)));
  throw usageError(
    `there is no environment ${name} in ${envDir}`,
    known.length === 0 ? "`npx edgewise env init NAME` writes one." : `It has ${known.join(", ")}.`,
  );
}

/** Of a folder all tests in it; of a single file the one of its name. */
function testsOf({ entry, folder }: EnvironmentFile): readonly string[] {
  if (folder !== null) return testsIn(folder);
  const stem = basename(entry, extname(entry));
  return testsIn(dirname(entry)).filter((path) => dirname(path) === dirname(entry) && basename(path).replace(IS_TEST, "") === stem);
}

function testsIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith(".") ? [] : testsIn(join(folder, entry.name));
    return IS_TEST.test(entry.name) && !entry.name.startsWith(".") ? [join(folder, entry.name)] : [];
  });
}

/** Beside the test, so that what it reads by its own place and what it imports from packages is found. */
async function bundleTest(test: string): Promise<string> {
  const outfile = join(dirname(test), `.${basename(test).replace(IS_TEST, "")}.${process.pid}.test.mjs`);
  const { build } = await import("esbuild");
  try {
    await build({
      entryPoints: [test],
      outfile,
      plugins: [packageImports(pathToFileURL(LIBRARY).href)],
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      keepNames: true,
      target: "es2022",
      sourcemap: "inline",
      logLevel: "silent",
    });
    return outfile;
  } catch (error) {
    throw buildError(error, `the test ${test} cannot be built`);
  }
}

/** Node's own words on the terminal; a failed test is exit code 1. */
function runTests(bundles: readonly string[], cwd: string, signal: AbortSignal): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...bundles], { cwd, stdio: "inherit" });
    const stop = (): void => void child.kill();
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", reject);
    child.once("exit", (code) => {
      signal.removeEventListener("abort", stop);
      resolve(signal.aborted ? EXIT.interrupted : code === 0 ? EXIT.completed : EXIT.failed);
    });
  });
}
