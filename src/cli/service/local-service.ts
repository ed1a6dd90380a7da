/**
 * The Worker in a runtime of this machine: the same `dist/worker.js` that is deployed, with the bindings of `wrangler.toml` and smaller
 * numbers. Queue messages are lost when it stops and its clock has no cron, so its parent calls the watchdog.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Log, Miniflare, V4MiniflareOptions } from "miniflare";
import { SandboxAnswers } from "../sandboxes/answered.ts";
import { sandboxesOfThisMachine } from "../sandboxes/of-this-machine.ts";
import { CliError, reasonOf } from "../terminal/cli-error.ts";
import { watchClock } from "./runtime/clock-watch.ts";
import { EnvironmentsAtWork, holderOf } from "./runtime/at-work.ts";
import { heldBy } from "./door-rules.ts";
import { openFrontDoor, type RuntimeAddress } from "./front-door.ts";
import { embeddedWorker, serviceWorker, type WorkerSettings } from "./local-workers.ts";
import { guardedServers, ownRuntimeProcess } from "./runtime/process.ts";
import type { ServiceLog } from "./service-log.ts";
import { type SilenceWatch, watchSilence } from "./runtime/silence-watch.ts";

export interface LocalServiceOptions extends Omit<WorkerSettings, "atWork" | "sandboxes"> {
  /** Where Durable Objects and R2 are stored. */
  readonly persistTo: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly log: ServiceLog;
  /** The runtime's process, at the start and after each restart. */
  readonly onRuntime: (pid: number) => void;
  /** The runtime ended by itself and is being started again. */
  readonly onCrash: (environments: readonly string[]) => void;
  /** It answers nobody any more, and is ended and started again; `environments`: those that were at work. */
  readonly onHang: (environments: readonly string[]) => void;
  /** How long it answers nobody before that, in milliseconds. */
  readonly hangMs: number;
}

export interface LocalService {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const START_MS = 30_000;
const WATCHDOG_MS = 60_000;
/** The runtime's own path, which the front door passes to nobody. */
const SCHEDULED = `/cdn-cgi/local/scheduled?cron=${encodeURIComponent("* * * * *")}`;

/** Longest path of a Unix socket, in bytes, on every system that has them. */
const MOST_SOCKET_PATH = 100;

/** Where the runtime listens: in the state folder, which is closed to others, or in such a folder of its own where that path is too long. Null on Windows. */
function socketFor(persistTo: string): { readonly path: string; readonly remove: () => void } | null {
  if (process.platform === "win32") return null;
  const beside = join(dirname(persistTo), "runtime.sock");
  if (Buffer.byteLength(beside) <= MOST_SOCKET_PATH) return { path: beside, remove: () => rmSync(beside, { force: true }) };
  const folder = mkdtempSync(join(tmpdir(), "edgewise-"));
  return { path: join(folder, "runtime.sock"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** `dist/worker.js` beside the built command, also when the command runs from its sources. */
export const builtWorker = (): string => fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../dist/worker.js" : "./worker.js", import.meta.url));

const MOST_EXECUTORS = 8;

/** How many executors work side by side: `EDGEWISE_EXECUTORS`, else as many as are `wanted`, at most 8. */
export function executorCount(env: NodeJS.ProcessEnv, wanted = 1): number {
  const text = env.EDGEWISE_EXECUTORS ?? String(Math.min(MOST_EXECUTORS, wanted));
  if (!/^[1-8]$/.test(text)) throw new CliError(`EDGEWISE_EXECUTORS must be a whole number from 1 to 8, not ${JSON.stringify(text)}`, { exitCode: 2 });
  return Number(text);
}

/**
 * Settings that a person may set in the environment: a mirror of the Hugging Face Hub, under the name that its own tools read,
 * which keys requests over HTTP may name, which hosts environments may call, how long an endpoint or the code of a run may be away, how soon a batch is looked at, how much the library's own log says.
 */
const VARS = [
  "HF_ENDPOINT",
  "HF_DATASETS_SERVER",
  "KEY_VARS",
  "OUTAGE_MS",
  "STORM_MS",
  "CODE_WAIT_MS",
  "BATCH_LOOK_MS",
  "BATCH_SETTLE_MS",
  "KEEP_TURNS_MS",
  "WALLED_SILENCE_MS",
  "ENVIRONMENT_HOSTS",
  "SANDBOX",
  "PRIME_API_BASE_URL",
  "E2B_DOMAIN",
  "E2B_API_URL",
  "E2B_SANDBOX_URL",
  "EDGEWISE_LOG_LEVEL",
  "VF_LOG_LEVEL",
];

export const workerVars = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(VARS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { log, onRuntime, onCrash, onHang, hangMs, persistTo, port } = options;
  let closing = false;
  let expected: ChildProcess | null = null;
  let running: ChildProcess | null = null;
  const socket = socketFor(persistTo);
  // Replaced when the runtime has a port, where there are no such sockets.
  let address: RuntimeAddress = { socketPath: socket?.path ?? "" };
  let silence: SilenceWatch | null = null;
  const atWork = new EnvironmentsAtWork();
  const sandboxes = sandboxesOfThisMachine(process.env, (line) => log.write("info", line));
  const answers = new SandboxAnswers(sandboxes);
  // Who asks while the runtime is held is told so, rather than kept waiting.
  const isHeld = (): boolean => silence !== null && silence.silence >= hangMs / 2;
  const door = await openFrontDoor(port, () => (isHeld() ? heldBy(holderOf(atWork.names)) : address)).catch((error: unknown) => {
    throw startFailure(error, options);
  });
  const restoreSpawn = ownRuntimeProcess(socket?.path ?? null, (child) => {
    if (child.pid !== undefined) onRuntime(child.pid);
    running = child;
    atWork.forget();
    silence?.reset();
    child.once("exit", () => {
      if (!closing && child !== expected) onCrash(atWork.names);
    });
  });
  const unwatch = watchClock((ms) => {
    log.write("warn", `the clock of this machine was set back by ${Math.round(ms / 1_000)} s: the runtime, whose timers it stops, begins anew`);
    expected = running;
    running?.kill("SIGKILL");
  });
  const endSilent = (): void => {
    const { names } = atWork;
    log.write(
      "warn",
      `the runtime has answered nobody for ${hangMs / 1_000} s and is ended; at work: ${names.length === 0 ? "no environment" : names.join(", ")}`,
    );
    expected = running;
    running?.kill("SIGKILL");
    onHang(names);
  };
  let runtime: Miniflare | null = null;
  const close = async (): Promise<void> => {
    closing = true;
    unwatch();
    silence?.end();
    try {
      await door.close();
      await runtime?.dispose();
    } finally {
      await sandboxes.close();
      restoreSpawn();
      socket?.remove();
    }
  };
  try {
    const { Miniflare, Log, LogLevel, convertV4MiniflareOptions } = await import("miniflare");
    class QuietLog extends Log {
      override logWithLevel(level: number, message: string): void {
        if (level <= LogLevel.INFO) log.write(LogLevel[level] ?? "info", message);
      }
    }
    const watch = (): void => void callWatchdog(address, log, () => closing);
    const unguard = guardedServers();
    try {
      const started = keepingSignals(
        () =>
          new Miniflare(
            convertV4MiniflareOptions(runtimeOptions({ ...options, atWork, sandboxes: (text) => answers.answer(text) }, new QuietLog(LogLevel.INFO), watch)),
          ),
      );
      runtime = started;
      const url = await within(START_MS, started.ready);
      if (socket === null) address = { host: url.hostname, port: Number(url.port) };
    } finally {
      unguard();
    }
    silence = watchSilence(hangMs, () => address, endSilent);
    const watchdog = setInterval(watch, WATCHDOG_MS);
    watchdog.unref();
    watch();
    void sandboxes.sweep().catch((error: unknown) => log.write("warn", `sandboxes that a killed service left: ${reasonOf(error)}`));
    return {
      url: `http://127.0.0.1:${door.port}`,
      port: door.port,
      close: () => {
        clearInterval(watchdog);
        return close();
      },
    };
  } catch (error) {
    await close().catch((later: unknown) => log.write("error", `while stopping: ${reasonOf(later)}`));
    throw startFailure(error, options);
  }
}

function runtimeOptions(options: LocalServiceOptions & WorkerSettings, quiet: Log, onRestart: () => void): V4MiniflareOptions {
  const { log, persistTo } = options;
  return {
    host: "127.0.0.1",
    // On a Unix socket (runtime/process.ts); where there are none, on a port that only the front door knows.
    port: 0,
    // The watchdog's way in.
    unsafeTriggerHandlers: true,
    // No look-ups on the network, no banner, no request log: everything the runtime says goes to service.log.
    cf: false,
    telemetry: { enabled: false },
    logRequests: false,
    log: quiet,
    handleStructuredLogs: ({ level, message }) => log.write(level, message),
    handleUncaughtError: (error) => log.write("error", error.stack ?? error.message),
    unsafeHandleRuntimeRestart: onRestart,
    resourcePersistencePath: persistTo,
    workers: [serviceWorker(options), embeddedWorker(options)],
  };
}

/** Miniflare ends the process on the first signal; a command has to end its run in order first. Its handler for `exit` stays. */
function keepingSignals<T>(start: () => T): T {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  const result = start();
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) if (!before.get(signal)?.includes(listener)) process.removeListener(signal, listener);
  }
  return result;
}

/** Runs go on by themselves after a start, and a lost alarm or message costs a minute, not the run. */
async function callWatchdog(address: RuntimeAddress, log: ServiceLog, closing: () => boolean): Promise<void> {
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const asked = request({ ...address, path: SCHEDULED, headers: { host: "localhost" }, agent: false, timeout: WATCHDOG_MS });
      asked.once("error", reject).once("timeout", () => asked.destroy(new Error("no answer")));
      asked.once("response", (answer) => resolve(answer.resume().statusCode ?? 0)).end();
    });
    if (status !== 200) throw new Error(`status ${status}`);
  } catch (error) {
    // A service that is being ended has nothing to watch.
    if (!closing()) log.write("warn", `watchdog: ${reasonOf(error)}`);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the runtime did not start within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function startFailure(error: unknown, { log, port, workerPath }: LocalServiceOptions): CliError {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "EADDRINUSE") {
    return new CliError(`port ${port} is in use`, {
      hints: [`Choose another one: npx edgewise serve --port ${port === 65_535 ? port - 1 : port + 1}`],
      cause: error,
    });
  }
  if (code === "ENOENT" || code === "ERR_MODULE_NOT_FOUND") {
    return new CliError(`a part of edgewise is missing: ${reasonOf(error)}`, {
      hints: [`In the clone, type: npm run build (makes ${workerPath}).`],
      cause: error,
    });
  }
  log.write("error", error instanceof Error ? (error.stack ?? error.message) : String(error));
  return new CliError(`the local service did not start: ${reasonOf(error)}`, { hints: [`Details are in ${log.path}.`], cause: error });
}
