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

/** What `import … from "edgewise"` exposes, with what it stands on: the same in workerd and in Node. */
const LIBRARY = ["environments", "rubrics", "parsers", "clients", "datasets", "metrics", "config", "errors"].map((name) => `src/${name}/`).concat("r2-layout/");

/** Everything that runs in the Worker; tests beside environments do not. */
const inWorker = (path: string): boolean => /^(src|durable-objects|r2-layout)\//.test(path) && !path.startsWith("src/cli/") && !path.endsWith(".test.ts");
const inLibrary = (path: string): boolean => path === "src/limits.ts" || LIBRARY.some((folder) => path.startsWith(folder));
/** The Worker, and the one beside it that the local service starts for the embedded model. */
const isEntry = (path: string): boolean => path === "src/worker.ts" || path === "src/embedded-worker.ts";

/** A file that defines a Durable Object class or the handlers knows the platform; any other file is a rule file. */
const isPlatform = ({ path, text }: SourceFile): boolean =>
  isEntry(path) || path.startsWith("test/workers/") || (path.startsWith("durable-objects/") && /\bextends DurableObject\b/.test(text));

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
  for (const { target, value } of file.imports) {
    const reason = refusal(file, target, value);
    if (reason !== null) reasons.push(`imports ${target}: ${reason}`);
  }
  return reasons;
}

/** Why `file` may not import `target`; null when it may. */
function refusal(file: SourceFile, target: string, value: boolean): string | null {
  const { path } = file;
  if (target.startsWith("cloudflare:") && value && !isPlatform(file)) return "only the Workers' entries and Durable Object classes know the platform";
  if (!inWorker(path)) return null;
  if (target.startsWith("node:") && value) return "code of the Worker runs without Node's modules";
  if (target.startsWith("src/cli/")) return "the command line is Node only";
  if (/^(test|tools|bench)\//.test(target)) return "shipped code does not depend on tests or tools";
  if (!inLibrary(path)) return null;
  if (target.startsWith("durable-objects/") && (value || !target.endsWith("/protocol.ts"))) return "the library takes only types, and only from protocol.ts";
  if (/^src\/(api|executor)\//.test(target) || isEntry(target)) return "the library does not know the engine";
  return null;
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
