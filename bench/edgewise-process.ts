import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, createReadStream, mkdirSync, openSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Operations } from "../src/operations.ts";
import { peakOf } from "./peak-memory.ts";
import { processorSeconds } from "./processor-time.ts";

const COMMAND = fileURLToPath(new URL("../bin/edgewise.js", import.meta.url));
const ENVIRONMENT = "reverse-text";
/** How often a run is asked how far it is. */
const POLL_MS = 50;
const LINE_FEED = 0x0a;
/** Of a command whose run has rollouts that a resume makes again. */
const ERRORED_EXIT = 3;

/** Milliseconds since 1970, with a fraction: comparable with the clock of the model server. */
export const now = (): number => performance.timeOrigin + performance.now();

/** A folder in which runs are started: state and outputs below it, nothing else. */
export interface Workplace {
  readonly folder: string;
  readonly state: string;
}

export function workplace(folder: string): Workplace {
  mkdirSync(folder, { recursive: true });
  return { folder, state: join(folder, "state") };
}

export interface RunOptions {
  /** Default: the small bundled one. */
  readonly environment?: string;
  readonly url: string;
  readonly model: string;
  readonly examples: number;
  readonly concurrency: number;
  /** Further flags; with `--no-save` there is no folder. */
  readonly flags?: readonly string[];
  /** Some rollouts are to end in an infrastructure error, of which the command warns by its exit code. */
  readonly faulty?: true;
}

export interface RunTimes {
  readonly runId: string;
  /** Where its results are, or would be. */
  readonly folder: string;
  /** When the command was started, when the last rollout was committed, and when the command had ended. */
  readonly enter_ms: number;
  readonly last_commit_ms: number;
  readonly exit_ms: number;
}

/** How far a run is, as the command that follows it is looked at. */
export interface Progress {
  readonly done: number;
  /** Where its results are, or would be. */
  readonly folder: string;
  /** Resident memory of the command, without the runtime, in bytes. */
  memory(): number;
}

/** `edgewise eval run`, one rollout per example, from start to end. Throws when it fails or leaves other than all rows. */
export async function evalRun(
  place: Workplace,
  { environment = ENVIRONMENT, url, model, examples, concurrency, flags: further = [], faulty }: RunOptions,
  onProgress: (progress: Progress) => Promise<void> | void = () => undefined,
): Promise<RunTimes> {
  const outputs = join(place.folder, `outputs-${model}`);
  const flags = ["-m", model, "-b", url, "-n", examples, "-r", 1, "-c", concurrency, "-o", outputs, ...further].map(String);
  const log = join(place.folder, `${model}.log`);
  const enter = now();
  const child = startCommand(place, ["eval", "run", environment, ...flags, "-d"], log);
  const exited = once(child, "exit") as Promise<[number | null]>;
  let exit: number | null = null;
  const ended = exited.then(([code]) => {
    exit = now();
    return code;
  });
  const folder = join(outputs, "evals", `${basename(environment)}--${model}`);
  let committed: number | null = null;
  while (exit === null) {
    await Promise.race([sleep(POLL_MS), ended]);
    const known = runIdIn(log);
    const evaluation = known === null ? null : await lookAtRun(place, known);
    if (known === null || evaluation === null) continue;
    const { done_rollouts: done } = evaluation.edgewise;
    if (done === examples) committed = evaluation.finalized_at === null ? now() : Date.parse(evaluation.finalized_at);
    await onProgress({ done, folder: join(folder, known), memory: () => residentBytes(child.pid ?? 0) });
    if (committed !== null) break;
  }
  const code = await ended;
  const exitMs = exit ?? now();
  if (code !== (faulty === true ? ERRORED_EXIT : 0)) throw new Error(`edgewise ended with ${code}:\n${readFileSync(log, "utf8").slice(-2000)}`);
  const runId = runIdIn(log);
  if (runId === null) throw new Error(`no run is named in ${log}`);
  const rows = further.includes("--no-save") ? examples : await linesOf(join(folder, runId, "results.jsonl"));
  if (rows !== examples) throw new Error(`${rows} rows instead of ${examples} in ${folder}/${runId}`);
  // A run that is over between two polls was committed before its command ended.
  return { runId, folder: join(folder, runId), enter_ms: enter, last_commit_ms: committed ?? exitMs, exit_ms: exitMs };
}

/** `edgewise serve`, for what is measured over several commands. */
export interface Service {
  readonly place: Workplace;
  readonly url: string;
  /** Resident memory of the runtime in bytes. */
  memory(): number;
  /** Its highest so far. */
  peakMemory(): number;
  /** Processor time of the runtime since it started, in seconds. */
  processorTime(): number;
  /** Counted since the service started. */
  operations(): Promise<Operations>;
  /** Waits until the run has written its final files. */
  settled(runId: string): Promise<void>;
  close(): Promise<void>;
}

export async function startService(place: Workplace): Promise<Service> {
  const child = startCommand(place, ["serve", "--port", "0"], join(place.folder, "serve.log"));
  const deadline = now() + 30_000;
  let owner = ownerOf(place);
  while (owner === null || (await get(owner, "/api/v1/evaluations/?limit=1")) === null) {
    if (child.exitCode !== null || now() > deadline)
      throw new Error(`edgewise serve did not start:\n${readFileSync(join(place.folder, "serve.log"), "utf8").slice(-2000)}`);
    await sleep(POLL_MS);
    owner = ownerOf(place);
  }
  const { port, workerd_pid: pid } = owner;
  return {
    place,
    url: `http://127.0.0.1:${port}`,
    memory: () => residentBytes(pid),
    peakMemory: () => peakOf(pid),
    processorTime: () => processorSeconds(pid),
    operations: async () => must(await get({ port }, "/internal/operations"), "the counts of operations") as Operations,
    settled: async (runId) => {
      for (;;) {
        const evaluation = must(await get({ port }, `/api/v1/evaluations/${runId}`), `run ${runId}`) as Evaluation;
        if (evaluation.edgewise.settled) return;
        await sleep(POLL_MS);
      }
    },
    close: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

interface Evaluation {
  /** When the last rollout was committed; null before. */
  readonly finalized_at: string | null;
  readonly edgewise: { readonly done_rollouts: number; readonly settled: boolean };
}

/** The built command in a workplace, with what it says in a file. */
export function startCommand(place: Workplace, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a");
  try {
    return spawn(process.execPath, [COMMAND, ...args], {
      cwd: place.folder,
      env: { ...process.env, EDGEWISE_STATE_DIR: place.state },
      stdio: ["ignore", output, output],
    });
  } finally {
    closeSync(output);
  }
}

/** Processor time of the runtime that serves this workplace, in seconds; null while none does. */
export function runtimeSeconds(place: Workplace): number | null {
  const owner = ownerOf(place);
  try {
    return owner === null ? null : processorSeconds(owner.workerd_pid);
  } catch {
    // It ended a moment ago.
    return null;
  }
}

async function lookAtRun(place: Workplace, runId: string): Promise<Evaluation | null> {
  const owner = ownerOf(place);
  return owner === null ? null : ((await get(owner, `/api/v1/evaluations/${runId}`)) as Evaluation | null);
}

/** Who serves this workplace, by its lock file; null while nobody does. */
function ownerOf({ state }: Workplace): { readonly port: number; readonly workerd_pid: number } | null {
  try {
    const { port, workerd_pid } = JSON.parse(readFileSync(join(state, "lock"), "utf8")) as { port: number | null; workerd_pid: number | null };
    return port === null || workerd_pid === null ? null : { port, workerd_pid };
  } catch {
    // Not there yet, or being written.
    return null;
  }
}

/** Null when nobody answers: the command has ended, or is about to start. */
async function get({ port }: { readonly port: number }, path: string): Promise<unknown> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function must(answer: unknown, what: string): unknown {
  if (answer === null) throw new Error(`the service does not answer with ${what}`);
  return answer;
}

/** Of a file that may be larger than a string. */
async function linesOf(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines++;
  }
  return lines;
}

/** What the command said last of its run; null before. */
const runIdIn = (log: string): string | null => [...readFileSync(log, "utf8").matchAll(/^Run ([0-9a-f]{8})\b/gm)].at(-1)?.[1] ?? null;

/** Linux only: no other system tells without a tool that may be missing. */
export function residentBytes(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kib === undefined) throw new Error(`no memory figure of process ${pid}`);
  return Number(kib) * 1024;
}
