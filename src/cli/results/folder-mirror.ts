/** Keeps a results folder up to date while a run goes on: rows a moment after their commit, metadata and log at most once a second. */
import { setTimeout as sleep } from "node:timers/promises";
import { systemCode } from "../terminal/cli-error.ts";
import { type ServiceClient, ServiceError, ServiceUnreachable } from "../connection/http-client.ts";
import type { ResultsFolder } from "./results-folder.ts";

const TICK_MS = 250;
const FILES_MS = 1000;
const AGAIN_MS = [1000, 10_000] as const;

export interface MirrorOptions {
  /** Hears why the folder cannot be written, once until it can be again (null); the run itself goes on. */
  readonly onFolder: (error: unknown) => void;
  /** Why it cannot be written as far as is known already; null or absent = it can. */
  readonly failure?: unknown;
  /** Time between two looks, where one is asked for. */
  readonly pollMs?: number | null;
  /** First and longest time until a folder that cannot be written is tried again; it doubles from one to the other. */
  readonly againMs?: readonly [number, number];
}

export class FolderMirror {
  readonly #folder: ResultsFolder;
  readonly #client: ServiceClient;
  readonly #onFolder: (error: unknown) => void;
  readonly #tickMs: number;
  readonly #filesMs: number;
  readonly #due = { rows: true, metadata: true, log: true };
  #filesAt = Number.NEGATIVE_INFINITY;
  /** Null: all that was to be written is. */
  #failure: unknown;
  #againAt = 0;
  readonly #againMs: readonly [number, number];
  #wait: number;
  /** Nothing is written: the run does not have all rows of the folder yet, and may never; or nothing in the folder is to change. */
  held = false;
  #stopping = new AbortController();
  #working: Promise<void> | null = null;

  constructor(folder: ResultsFolder, client: ServiceClient, { onFolder, failure = null, pollMs = null, againMs = AGAIN_MS }: MirrorOptions) {
    this.#folder = folder;
    this.#client = client;
    this.#onFolder = onFolder;
    this.#failure = failure;
    this.#tickMs = pollMs ?? TICK_MS;
    this.#filesMs = pollMs ?? FILES_MS;
    this.#againMs = againMs;
    this.#wait = againMs[0];
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#working = this.#work(this.#stopping.signal);
  }

  /** Rows were committed, or something was logged. */
  noteChange(what: "rows" | "log"): void {
    this.#due[what] = true;
    this.#due.metadata = true;
  }

  /** Ends the loop; what is under way is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
    this.#working = null;
  }

  /** Brings everything up to date that can be had now; for the end of an interrupted run. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    if (this.held) return;
    Object.assign(this.#due, { rows: true, metadata: true, log: true });
    this.#filesAt = Number.NEGATIVE_INFINITY;
    await this.#step(signal);
  }

  /** Puts the final files in place. Throws what the service is to blame for; may be repeated. */
  async finalise(signal?: AbortSignal): Promise<void> {
    if (this.held) return await this.#folder.close();
    try {
      await this.#folder.finalise(this.#client, signal);
      this.#say(null);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      this.#say(error);
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.held && performance.now() >= this.#againAt) await this.#step(signal);
      await sleep(this.#tickMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #step(signal: AbortSignal | undefined): Promise<void> {
    const { rows, metadata, log } = this.#due;
    const filesToo = (metadata || log) && performance.now() - this.#filesAt >= this.#filesMs;
    try {
      if (rows) await this.#bring("rows", () => this.#folder.pull(this.#client, signal));
      if (!filesToo) return;
      this.#filesAt = performance.now();
      if (metadata) await this.#bring("metadata", () => this.#folder.pullMetadata(this.#client, signal));
      if (log) await this.#bring("log", () => this.#folder.pullLog(this.#client, signal));
      this.#say(null);
    } catch (error) {
      // A service that does not answer is the business of whoever follows the run; here it is asked again at the next tick.
      if (signal?.aborted || error instanceof ServiceUnreachable || error instanceof ServiceError) return;
      // Only when all of it was written is it said that there is room again.
      Object.assign(this.#due, { metadata: true, log: true });
      this.#say(error);
    }
  }

  /** What fails is due again. */
  async #bring(what: "rows" | "metadata" | "log", work: () => Promise<void>): Promise<void> {
    this.#due[what] = false;
    try {
      await work();
    } catch (error) {
      this.#due[what] = true;
      throw error;
    }
  }

  #say(failure: unknown): void {
    const before = this.#failure;
    this.#failure = failure;
    if (failure === null) {
      [this.#againAt, this.#wait] = [0, this.#againMs[0]];
      if (before !== null) this.#onFolder(null);
      return;
    }
    this.#againAt = performance.now() + this.#wait;
    this.#wait = Math.min(2 * this.#wait, this.#againMs[1]);
    if (before === null) this.#onFolder(failure);
  }
}

/** The disk's fault rather than the service's. */
function isOwnFault(error: unknown): boolean {
  return !(error instanceof ServiceUnreachable) && !(error instanceof ServiceError) && systemCode(error) !== null;
}
