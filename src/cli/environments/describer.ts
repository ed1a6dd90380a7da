/**
 * The process that asks an environment of this machine what it is. Its code is foreign, and nobody has said yet that it is to be run: it gets
 * no variable, no file but the library's, no other process, no thread, no addon, and nothing that leads to Node's modules.
 */
import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { type EnvironmentModule, LIBRARY } from "./bundle.ts";

/** Module code is definitions; what takes longer does something else. */
const PATIENCE_MS = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Without these a Node of some systems does not start; none of them says anything of the user. */
const VARIABLES = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot"];

export interface Ended {
  readonly error: (Error & { readonly killed?: boolean }) | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `program`, a module text, with Node, and lets it read the library's folder and nothing else. */
export function runConfined(program: string): Promise<Ended> {
  const env = Object.fromEntries(VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...confinement(process.allowedNodeEnvironmentFlags), "--input-type=module", "-"],
      { cwd: LIBRARY, env, timeout: PATIENCE_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES },
      (error, stdout, stderr) => resolve({ error, stdout, stderr }),
    );
    // Who ends before it has read everything has said why.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(program);
  });
}

/** Flags of a Node that knows `flags`: its permission model, and without what goes past that (the files of node:sqlite do). */
function confinement(flags: ReadonlySet<string>): readonly string[] {
  const model = flags.has("--permission") ? "--permission" : "--experimental-permission";
  return [model, `--allow-fs-read=${LIBRARY}`, "--no-warnings", ...(flags.has("--experimental-sqlite") ? ["--no-experimental-sqlite"] : [])];
}

/**
 * A Node program, as a module text, that prints `describeEnvironment` of the environment as JSON, or what its code threw. The permission model
 * says nothing of signals, nor of the network before Node 25: the globals that lead to them, and to all of Node's modules, are taken away before the code
 * is loaded; `bundleEnvironment` has left it no `import()`. `script`: the name of the code in stacks.
 */
export function describer({ code }: EnvironmentModule, script: string): string {
  const library = pathToFileURL(LIBRARY).href;
  const url = `data:text/javascript;base64,${Buffer.from(`${code(library)}\n//# sourceURL=${script}`).toString("base64")}`;
  return `import { describeEnvironment, environmentOf } from "${library}index.js";
const { stringify } = JSON;
const text = String;
const print = process.stdout.write.bind(process.stdout);
const silent = () => undefined;
void globalThis.Response;
globalThis[Symbol.for("undici.globalDispatcher.1")] = undefined;
globalThis.fetch = async () => { throw new Error("nothing is fetched while an environment is described"); };
for (const name of ["WebSocket", "EventSource"]) globalThis[name] = class { constructor() { throw new Error("nothing is opened while an environment is described"); } };
globalThis.console = Object.fromEntries(Object.keys(console).map((name) => [name, silent]));
globalThis.process = {
  ...{ arch: "", argv: [], env: {}, execArgv: [], pid: 0, platform: "", release: {}, stderr: {}, stdout: {}, version: "", versions: {} },
  ...{ cwd: () => "/", emit: silent, emitWarning: silent, off: silent, on: silent, once: silent, nextTick: (work, ...args) => queueMicrotask(() => work(...args)) },
};
let answer;
try {
  answer = { facts: describeEnvironment(environmentOf(await import("${url}"), "")) };
} catch (thrown) {
  answer = { text: text(thrown), stack: text(thrown?.stack) };
}
print(stringify(answer));`;
}
