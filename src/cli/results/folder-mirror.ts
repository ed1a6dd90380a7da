/** Keeps a results folder up to date while a run goes on: rows a moment after their commit, metadata at most once a second. */
import { setTimeout as sleep } from "node:timers/promises";
import { systemCode } from "../terminal/cli-error.ts";
import { type ServiceClient, ServiceError, ServiceUnreachable } from "../connection/http-client.ts";
import type { ResultsFolder } from "./results-folder.ts";

const TICK_MS = 250;
const METADATA_MS = 1000;

export class FolderMirror {
  private readonly folder: ResultsFolder;
  private readonly onFailure: (error: unknown) => void;
  private readonly client: ServiceClient;
  private readonly tickMs: number;
  private readonly metadataMs: number;
  private rowsDue = true;
  private filesDue = true;
  private filesAt = 0;
  private failed = false;
  /** Nothing is written: the run does not have all rows of the folder yet, and may never; or nothing in the folder is to change. */
  held = false;
  private stopping = new AbortController();
  private working: Promise<void> | null = null;

  /** `onFailure` hears once that the folder cannot be written; the run itself goes on. `pollMs`: time between two looks, where one is asked for. */
  constructor(folder: ResultsFolder, client: ServiceClient, onFailure: (error: unknown) => void, pollMs: number | null = null) {
    this.folder = folder;
    this.client = client;
    this.onFailure = onFailure;
    this.tickMs = pollMs ?? TICK_MS;
    this.metadataMs = pollMs ?? METADATA_MS;
  }

  get broken(): boolean {
    return this.failed;
  }

  start(): void {
    this.stopping = new AbortController();
    this.working = this.work(this.stopping.signal);
  }

  /** Rows were committed, or something was logged. */
  noteChange(rows: boolean): void {
    if (rows) this.rowsDue = true;
    this.filesDue = true;
  }

  /** Ends the loop; what is under way is given up. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.working;
    this.working = null;
  }

  /** Brings everything up to date that can be had now; for the end of an interrupted run. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    if (this.failed || this.held) return;
    this.rowsDue = true;
    this.filesDue = true;
    this.filesAt = 0;
    await this.step(signal);
  }

  /** Puts the final files in place. Throws what the service is to blame for; may be repeated. */
  async finalise(signal?: AbortSignal): Promise<void> {
    if (this.failed) return;
    if (this.held) return await this.folder.close();
    try {
      await this.folder.finalise(this.client, signal);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      this.fail(error);
    }
  }

  private async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.failed) {
      if (!this.held) await this.step(signal);
      await sleep(this.tickMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async step(signal: AbortSignal | undefined): Promise<void> {
    try {
      if (this.rowsDue) {
        this.rowsDue = false;
        await this.pull(signal);
      }
      if (this.filesDue && Date.now() - this.filesAt >= this.metadataMs) {
        this.filesDue = false;
        this.filesAt = Date.now();
        await this.folder.refresh(this.client, "metadata.json", signal);
        await this.folder.refresh(this.client, "eval.log", signal);
      }
    } catch (error) {
      this.filesDue = true;
      if (signal?.aborted) return;
      // A service that does not answer is the business of whoever follows the run; here it is asked again at the next tick.
      if (error instanceof ServiceUnreachable || error instanceof ServiceError) return;
      this.fail(error);
    }
  }

  private async pull(signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.folder.pull(this.client, signal);
    } catch (error) {
      this.rowsDue = true;
      throw error;
    }
  }

  private fail(error: unknown): void {
    if (this.failed) return;
    this.failed = true;
    this.onFailure(error);
  }
}

/** The disk's fault rather than the service's. */
function isOwnFault(error: unknown): boolean {
  return !(error instanceof ServiceUnreachable) && !(error instanceof ServiceError) && systemCode(error) !== null;
}
