/** Watches a run to its end, on whatever service it is: when another process's service ends, this one takes over and the run goes on. */
import { isEnvironmentLine } from "../../logging/environment-line.ts";
import type { RunState } from "../connection/api-types.ts";
import { CliError, reasonOf } from "../terminal/cli-error.ts";
import { FolderMirror } from "../results/folder-mirror.ts";
import { type FollowPoint, followRun } from "../connection/follow-run.ts";
import { ServiceError, ServiceUnreachable } from "../connection/http-client.ts";
import { type Patience, patiently } from "../connection/patience.ts";
import { pause } from "../connection/pause.ts";
import type { ResultsFolder } from "../results/results-folder.ts";
import type { RunProgress } from "../display/runs-display.ts";
import type { Service } from "../service/service.ts";
import { serviceLost } from "../service/service-errors.ts";

/** How long a service may be silent before the command gives it up, by who runs it: a run elsewhere goes on without this machine's network. */
const PATIENCE_MS = { owner: 30_000, client: 1500, remote: 600_000 } as const;
/** Longest wait between two attempts to reach it. */
const MAX_WAIT_MS = { owner: 2000, client: 500, remote: 10_000 } as const;
/** Open units of the dead service's run end within lease and grace. */
const TAKE_OVER_MS = 30_000;

export interface Watch {
  readonly runId: string;
  /** Null: nothing is kept on this disk. */
  readonly folder: ResultsFolder | null;
  readonly point: FollowPoint;
  /** Why it could not be written when it was to be taken over; null = it could. */
  readonly folderFailure: unknown;
  /** Whether rows of the folder are still to be taken over. */
  readonly importing: boolean;
  /** Rollouts of a folder that is whole: as long as the run has no other number of them it stays as it is. Null: it is written. */
  readonly whole: number | null;
  /** What was said at the start: the log has it too. */
  readonly told: ReadonlySet<string>;
  readonly progress: RunProgress;
  /** Whether what the environment prints is shown too. */
  readonly verbose: boolean;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks at rows and files; null = as soon as there is something. */
  readonly pollMs?: number | null;
  /** Closes a service that has ended, and finds another. */
  readonly reopen: (lost: Service) => Promise<Service>;
}

/** What a command holds on to while its run goes on: the service may change below it. */
export class RunWatch {
  service: Service;
  private readonly watch: Watch;
  private mirror: FolderMirror | null = null;
  private folderError: unknown;
  private held: boolean;

  constructor(service: Service, watch: Watch) {
    this.service = service;
    this.watch = watch;
    this.held = watch.importing || watch.whole !== null;
    this.folderError = watch.folderFailure;
  }

  /** Why the folder cannot be written; null when all that was to be in it is. */
  get folderFailure(): unknown {
    return this.folderError;
  }

  /** Whether nothing was left to do in a folder that was taken over whole; after `untilEnd`. */
  get rested(): boolean {
    return this.held;
  }

  /** The state in which the run settled, or was suspended by somebody else. */
  async untilEnd(): Promise<RunState> {
    const { runId, point, progress, signal } = this.watch;
    const watcher = {
      onState: (state: RunState) => {
        this.held = state.importing === true || state.total_rollouts === this.watch.whole;
        if (this.mirror !== null) this.mirror.held = this.held;
        progress.update(state);
      },
      onLog: (event: Parameters<RunProgress["log"]>[0]) => {
        this.mirror?.noteChange("log");
        if (isEndOfRun(event.message) || this.watch.told.has(event.message) || (isEnvironmentLine(event.message) && !this.watch.verbose)) return;
        progress.log(event);
      },
      onCommit: () => this.mirror?.noteChange("rows"),
    };
    for (;;) {
      this.startMirror();
      const { client, orphaned, role } = this.service;
      const until = orphaned === null ? signal : AbortSignal.any([signal, orphaned]);
      try {
        return await followRun(client, runId, point, watcher, { ...this.patience(), signal: until });
      } catch (error) {
        if (!(error instanceof ServiceUnreachable)) throw error;
        if (role !== "client") throw serviceLost(this.service, error);
        await this.takeOver();
      } finally {
        await this.mirror?.stop();
      }
    }
  }

  /** Puts the final files of the settled run in the folder; after `untilEnd`. From elsewhere that may take long, so it can be interrupted. */
  async finalise(): Promise<void> {
    const { mirror, service, watch } = this;
    if (mirror !== null) await patiently(() => mirror.finalise(service.role === "remote" ? watch.signal : undefined), this.patience());
  }

  /** How long this service is waited for, and what is said meanwhile: one on this machine has a reason of its own to be silent. */
  patience(): Patience {
    const { role, url } = this.service;
    const { progress, signal } = this.watch;
    const note = (line: string): void => {
      if (role === "remote") progress.note(line);
    };
    return {
      patienceMs: PATIENCE_MS[role],
      maxWaitMs: MAX_WAIT_MS[role],
      signal,
      onOutage: (error) => note(`${url} does not answer (${reasonOf(causeOf(error))}); trying again. The run goes on there.`),
      onReturn: () => note(`${url} answers again.`),
    };
  }

  /** Puts what there is now in the folder; after `untilEnd`, whether it ended well or not. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    await this.mirror?.catchUp(signal);
  }

  private startMirror(): void {
    const { folder, progress, pollMs = null } = this.watch;
    if (folder === null) return;
    const onFolder = (error: unknown): void => {
      this.folderError = error;
      progress.note(error === null ? `${folder.path} can be written again.` : unwrittenText(folder.path, error));
    };
    this.mirror = new FolderMirror(folder, this.service.client, { onFolder, failure: this.folderError, pollMs });
    this.mirror.held = this.held;
    this.mirror.start();
  }

  /** The process whose service this run used has ended: its state is opened here, or by a third process, and the run goes on. */
  private async takeOver(): Promise<void> {
    const { runId, progress, reopen, signal } = this.watch;
    this.service = await reopen(this.service);
    const { client, role } = this.service;
    for (const deadline = performance.now() + TAKE_OVER_MS; ; await pause(250, signal)) {
      const { edgewise } = await client.run(runId, { signal });
      if (!edgewise.suspended) return;
      try {
        // What failed before stays as it is: this is the same run going on, not a repair.
        await client.resumeRun(runId, { keep_errors: true });
        progress.note(`The other terminal's service has ended; the run goes on ${role === "owner" ? "in this one" : "in a third one"}.`);
        return;
      } catch (error) {
        const passing = error instanceof ServiceUnreachable || (error instanceof ServiceError && error.code === "run_busy");
        if (!passing) throw error;
        if (performance.now() > deadline) throw new CliError(`run ${runId} could not be taken over: ${reasonOf(error)}`, { cause: error });
      }
    }
  }
}

/** What is said once of a folder that cannot be written. */
export const unwrittenText = (path: string, error: unknown): string =>
  `warning: ${path} cannot be written: ${reasonOf(error)}. The run goes on, and the folder is tried again while it does; its results stay in the service.`;

/** Of a silent service, why it is silent; its message names the address once more. */
const causeOf = (error: unknown): unknown => (error instanceof ServiceUnreachable ? error.cause : error);

/** The end of a run is reported in full when it has ended. */
const isEndOfRun = (message: string): boolean => /^Run (FAILED|TIMEOUT|CANCELLED|interrupted)\b/.test(message);
