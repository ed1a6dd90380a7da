/**
 * The rules a file of this repository keeps that no linter knows: its size, and who may import whom. Pure: `check.ts` reads the
 * files and prints what is returned here.
 */
export interface ImportOf {
  /** As written: a package, `node:fs`, or for a file of the repository its path from the root. */
  readonly target: string;
  /** False for what type stripping removes. */
  readonly value: boolean;
}

export interface SourceFile {
  /** From the repository root, `/` between the parts. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly ImportOf[];
}

export interface Violation {
  readonly path: string;
  readonly reason: string;
}

export const MAX_LINES = 400;

/** Written by `wrangler types`. */
const GENERATED = ["worker-configuration.d.ts"];

const inCli = (...rooms: readonly string[]): readonly string[] => rooms.map((room) => `src/cli/${room}`);

/**
 * The rooms of what is shipped, the lowest floor first. A file imports from its own room and from lower floors, types included; rooms of
 * one floor do not know each other. What two of them need lies below both.
 */
const FLOORS: readonly (readonly string[])[] = [
  [
    "src/beginning-of.ts",
    // Names and shapes alone: settings of a run hold them.
    "src/endpoint-limits/limit-kinds.ts",
    "src/errors/",
    "src/limits.ts",
    "src/mix.ts",
    "src/operations.ts",
    // As of endpoint-limits.
    "src/prices/price.ts",
    "src/seeded-random.ts",
    "src/steady-clock.ts",
    "src/stream-of.ts",
    "src/version.ts",
    "src/zod.ts",
  ],
  ["src/pinned-order.ts", "src/prices/nano-cost.ts"],
  ["src/config/", "src/logging/", "src/embedded-model/"],
  ["src/alerts/", "src/metrics/", "src/monitors/", "src/secrets/", "src/teams/", "src/evaluators/due.ts"],
  ["src/drift/", "src/endpoint-limits/"],
  ["src/schedules/", "src/prices/"],
  ["src/budgets/"],
  ["src/rollouts/", "src/training/", "r2-layout/"],
  ["src/parsers/", "src/clients/", "src/report/", "src/forecast/"],
  ["src/benchmarks/", "src/cells/", "src/rubrics/", "src/datasets/", "src/exports/", "src/imports/", "src/pushed/", "src/env.ts"],
  // What is said between the service and an environment whose code is not in its isolate.
  ["src/environment-protocol/"],
  // From here down, but for R2 and the report: the library, the same in workerd and in Node.
  ["src/environments/", "src/hub/", "src/traces/"],
  // Who provides sandboxes.
  ["src/sandboxes/"],
  // The two sides of that: the engine's, and the one that code which is not ours shares its isolate with.
  ["src/walled/", "src/environment-session/"],
  // Drivers of sandboxes, and what a run has of one.
  ["src/published/", "src/links/", "src/sandboxes/"],
  // What brings messages to an isolate and back: in the Worker, and, below `inside/`, there. And to a process at the other end of a network.
  ["src/isolates/", "src/environment-http/"],
  ["durable-objects/", "src/worker-options.ts"],
  ["src/alerting/", "src/exporting/", "src/offering/"],
  ["src/pushing/"],
  ["src/api/", "src/executor/", "src/embedded-api/", "src/upkeep/"],
  // Runs in a browser. What it knows of the door are the types of its answers.
  ["src/create-worker.ts", "src/dashboard/"],
  ["src/worker.ts", "src/service.ts", "src/embedded-worker.ts", "src/index.ts", "src/testing/"],
  inCli("terminal/"),
  inCli("disk/", "command-line/"),
  inCli("connection/", "sandboxes/", "state/"),
  inCli("service/", "results/"),
  inCli("environments/", "display/", "view/", "runs/"),
  inCli("python/"),
  inCli("applying/"),
  inCli("exports/", "people/", "budgets/", "cache/", "endpoint-limits/", "endpoints/", "secrets/", "evaluators/", "monitors/", "alerts/"),
  inCli("schedules/", "links/"),
  inCli("push/", "comparison/", "published/"),
  inCli("datasets/", "folder-service/"),
  // Library code in Node, which reaches a service as commands do.
  ["src/evaluators/engine/"],
  ["src/evaluators/benchmark/", "src/evaluators/suite/"],
  ["src/evaluators/index.ts"],
  inCli("eval-run/", "imports/"),
  inCli("rescore/"),
  inCli("commands/"),
  inCli("program.ts"),
  inCli("main.ts"),
];

interface Room {
  readonly name: string;
  readonly floor: number;
}

const ROOMS: readonly Room[] = FLOORS.flatMap((names, floor) => names.map((name) => ({ name, floor })));
const roomOf = (path: string): Room | undefined => ROOMS.find(({ name }) => (name.endsWith("/") ? path.startsWith(name) : path === name));
/** Tests beside environments reach for what tests need. */
const isShipped = (path: string): boolean => /^(src|durable-objects|r2-layout)\//.test(path) && !/\.test\.ts$/.test(path);

/** What runs in Node alone: the command line, and what library code there reaches a service by. */
const NODE_ONLY = ["src/cli/", "src/evaluators/engine/", "src/evaluators/benchmark/", "src/evaluators/suite/", "src/evaluators/index.ts"];
/** What runs in a browser. */
const BROWSER_ROOM = "src/dashboard/";
const DOOR = /^(?:src\/(?:api|executor)|durable-objects)\//;

const isNodeOnly = (path: string): boolean => NODE_ONLY.some((room) => path.startsWith(room));

/** Everything that runs in the Worker; tests beside environments do not. */
const inWorker = (path: string): boolean => isShipped(path) && !isNodeOnly(path);
/** The Worker, and the one beside it that the local service starts for the embedded model. */
const isEntry = (path: string): boolean => path === "src/worker.ts" || path === "src/embedded-worker.ts";

/** What an isolate and its host call each other by, and what stands before the network of one. */
const isIsolateBorder = ({ path, text }: SourceFile): boolean =>
  path.startsWith("src/isolates/") && /\bextends (platform\.)?(RpcTarget|WorkerEntrypoint)\b/.test(text);

/** A file that defines a Durable Object class, an entrypoint or the handlers knows the platform; any other file is a rule file. */
const isPlatform = (file: SourceFile): boolean =>
  isEntry(file.path) ||
  file.path.startsWith("test/workers/") ||
  isIsolateBorder(file) ||
  (/^(durable-objects|tools\/smoke)\//.test(file.path) && /\bextends DurableObject\b/.test(file.text));

/**
 * Files that use modules of Node which the Workers' runtime has built in: which work a print comes from only the runtime can say, and it alone has
 * a Zstandard that bears hostile input.
 */
const BUILT_IN = ["src/logging/worker-console.ts", "src/datasets/zstd.ts"];

/** Every breach of every rule, in the order of the files. */
export function violationsOf(files: readonly SourceFile[]): readonly Violation[] {
  return [...files.flatMap((file) => reasonsOf(file).map((reason) => ({ path: file.path, reason }))), ...cyclesOf(files)];
}

function reasonsOf(file: SourceFile): readonly string[] {
  const reasons: string[] = [];
  const lines = file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);
  if (lines > MAX_LINES && !GENERATED.includes(file.path)) reasons.push(`${lines} lines; the limit is ${MAX_LINES}: split it by concept`);
  if (inWorker(file.path) && !isEntry(file.path) && /^export default\b/m.test(file.text)) {
    reasons.push("has a default export; handlers are named in src/worker.ts and src/embedded-worker.ts only, everything else exports by name");
  }
  if (isShipped(file.path) && roomOf(file.path) === undefined) reasons.push("is in no room of FLOORS (tools/source-rules.ts): say what it stands on");
  for (const { target, value } of file.imports) {
    const reason = refusal(file, target, value);
    if (reason !== null) reasons.push(`imports ${target}: ${reason}`);
  }
  return reasons;
}

/** Why `file` may not import `target`; null when it may. */
function refusal(file: SourceFile, target: string, value: boolean): string | null {
  const { path } = file;
  if (target.startsWith("cloudflare:") && value && !isPlatform(file))
    return "only the Workers' entries, Durable Object classes and the borders of isolates know the platform";
  if (isShipped(path) && /^(test|tools|bench)\//.test(target)) return "shipped code does not depend on tests or tools";
  if (!inWorker(path)) return upward(path, target);
  if (target.startsWith("node:") && value && !BUILT_IN.includes(path)) return "code of the Worker runs without Node's modules";
  if (path.startsWith(BROWSER_ROOM) && value && DOOR.test(target)) return "the dashboard asks the door over HTTP; of its files it may have types alone";
  if (isNodeOnly(target)) return "the command line and the evaluators' engine are Node only";
  return upward(path, target);
}

/** Why `target` is no floor below `path`; null when it is, or when one of them is not shipped. */
function upward(path: string, target: string): string | null {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (!isShipped(path) || from === undefined || to === undefined || from === to || to.floor < from.floor) return null;
  return `${to.name} is ${to.floor > from.floor ? "above" : "beside"} ${from.name} (FLOORS in tools/source-rules.ts): what both need belongs below them`;
}

/** One violation per circle of imports, at the file that closes it. Types count: files that need each other's are one thing in two files. */
function cyclesOf(files: readonly SourceFile[]): readonly Violation[] {
  const next = new Map(files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const found: Violation[] = [];
  const finished = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.push({ path: trail[trail.length - 1] ?? path, reason: `closes a circle of imports: ${[...trail.slice(start), path].join(" -> ")}` });
      return;
    }
    if (finished.has(path)) return;
    trail.push(path);
    for (const target of next.get(path) ?? []) visit(target);
    trail.pop();
    finished.add(path);
  };
  for (const path of next.keys()) visit(path);
  return found;
}
