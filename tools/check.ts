/**
 * `npm run check`: everything that must hold before a change goes in. Runs every step even when an earlier one failed, prints what
 * each has to say, and ends with the list of those that failed. `npm run check -- lint types` runs the steps named so.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readSources } from "./source-files.ts";
import { violationsOf } from "./source-rules.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "edgewise-check-"));

/** Null when the step passed, else what to print. */
type Step = () => string | null | Promise<string | null>;

const steps: readonly (readonly [name: string, step: Step])[] = [
  ["format", tool("biome", "format", ".")],
  ["lint", tool("biome", "lint", "--error-on-warnings", ".")],
  ["types-worker", tool("tsc", "-p", "tsconfig.worker.json")],
  ["types-node", tool("tsc", "-p", "tsconfig.node.json")],
  ["types-dashboard", tool("tsc", "-p", "tsconfig.dashboard.json")],
  ["source-rules", sourceRules],
  ["versions", pinnedVersions],
  ["lock-file", wholeLockFile],
  ["one-workerd", oneWorkerd],
  ["bindings", tool("wrangler", "types", "--include-runtime", "false", "--strict-vars", "false", "--check")],
  ["deploy-dry-run", tool("wrangler", "deploy", "dist/worker.js", "--dry-run", "--outdir", scratch)],
  ["probe-dry-run", tool("wrangler", "deploy", "-c", "tools/smoke/wrangler.toml", "--dry-run", "--outdir", join(scratch, "probe"))],
  ["tests", tests],
];

const asked = process.argv.slice(2);
const unknown = asked.filter((word) => !steps.some(([name]) => name.startsWith(word)));
if (unknown.length > 0) {
  console.error(`no step ${unknown.join(", ")}; there are: ${steps.map(([name]) => name).join(", ")}`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, step] of steps) {
  if (asked.length > 0 && !asked.some((word) => name.startsWith(word))) continue;
  const begun = performance.now();
  const problem = await outcome(step);
  console.log(`${problem === null ? "ok    " : "FAILED"} ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  if (problem === null) continue;
  failed.push(name);
  if (problem !== "") console.log(problem);
}
rmSync(scratch, { recursive: true, force: true });
console.log(failed.length === 0 ? "check: all well" : `check: failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** A step that throws has failed; the others still run. */
async function outcome(step: Step): Promise<string | null> {
  try {
    return await step();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A command of node_modules/.bin, quiet unless it fails. */
function tool(name: string, ...args: string[]): Step {
  return () => {
    const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH ?? ""}`, WRANGLER_SEND_METRICS: "false", CI: "1" };
    const result = spawnSync(join(root, "node_modules/.bin", name), args, { cwd: root, encoding: "utf8", env, maxBuffer: 64 * 1024 * 1024 });
    if (result.error !== undefined) return `cannot start ${name}: ${result.error.message}`;
    return result.status === 0 ? null : `${result.stdout}${result.stderr}`;
  };
}

/** Prints while it runs. */
function tests(): string | null {
  return spawnSync(process.execPath, ["tools/test.ts"], { cwd: root, stdio: "inherit" }).status === 0 ? null : "";
}

async function sourceRules(): Promise<string | null> {
  const violations = violationsOf(await readSources(root));
  return violations.length === 0 ? null : violations.map(({ path, reason }) => `${path}: ${reason}`).join("\n");
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}

/** Every dependency is pinned; wrangler and miniflare are those that the vitest plugin brings, or a second runtime is installed. */
function pinnedVersions(): string | null {
  const own = manifest(".");
  const plugin = manifest("node_modules/@cloudflare/vitest-plugin").dependencies ?? {};
  const wanted = { ...own.dependencies, ...own.devDependencies };
  const problems = Object.entries(wanted)
    .filter(([, version]) => !/^\d/.test(version))
    .map(([name, version]) => `package.json: ${name} is ${version}; write an exact version`);
  for (const name of ["wrangler", "miniflare"]) {
    if (wanted[name] !== plugin[name]) problems.push(`package.json: ${name} is ${wanted[name]}, but @cloudflare/vitest-plugin brings ${plugin[name]}`);
  }
  const defined = /^EDGEWISE_VERSION = '"(.*)"'$/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"))?.[1];
  if (defined !== own.version) problems.push(`wrangler.toml: EDGEWISE_VERSION is ${defined}, but package.json has version ${own.version}`);
  return problems.length === 0 ? null : problems.join("\n");
}

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A lock file written on one system may lack the packages of others; `npm ci` then refuses it everywhere. */
function wholeLockFile(): string | null {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Readonly<Record<string, Locked>> };
  const has = (path: string): boolean => Object.hasOwn(packages, path);
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !has(`${path}/node_modules/${name}`) && !has(`node_modules/${name}`)),
  );
  return missing.length === 0 ? null : `package-lock.json lacks ${missing.join(", ")}`;
}

/** Tests, `wrangler dev` and the shipped command must run on the same runtime. */
function oneWorkerd(): string | null {
  const found = installed(join(root, "node_modules"), "workerd");
  return found.length === 1 ? null : `${found.length} copies of workerd, there must be one:\n${found.join("\n")}`;
}

function installed(modules: string, wanted: string): readonly string[] {
  return packagesIn(modules).flatMap((folder) => [...(folder === join(modules, wanted) ? [folder] : []), ...installed(join(folder, "node_modules"), wanted)]);
}

function packagesIn(modules: string): readonly string[] {
  return foldersIn(modules).flatMap((folder) =>
    folder.startsWith("@") ? foldersIn(join(modules, folder)).map((name) => join(modules, folder, name)) : [join(modules, folder)],
  );
}

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith(".") ? [entry.name] : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
