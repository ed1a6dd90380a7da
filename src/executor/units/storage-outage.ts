const DISK_FULL = /SQLITE_FULL|ENOSPC|No space left|disk is full/i;
/** What is over sooner is not worth a word. Milliseconds. */
const WORTH_MS = 2_000;

export interface OutageHost {
  /** The state is on a disk of this machine, which a person can make room on. */
  readonly local: boolean;
  readonly now: () => number;
  readonly log: (message: string) => void;
}

/** A time in which a run's rows cannot be stored, over all grants of one executor: said when it begins, and when it is over. */
export class StorageOutage {
  readonly #host: OutageHost;
  readonly #runId: string;
  readonly #tell: (message: string) => void;
  readonly #failing = new Set<string>();
  #since = 0;
  #told = "";

  /** `tell`: for whoever follows the run. */
  constructor(host: OutageHost, runId: string, tell: (message: string) => void) {
    this.#host = host;
    this.#runId = runId;
    this.#tell = tell;
  }

  failed(call: string, reason: string): void {
    if (this.#failing.size === 0) this.#since = this.#host.now();
    this.#failing.add(call);
    // Whatever call it is and however often: one line for each reason.
    if (this.#told === reason) return;
    this.#told = reason;
    const full = this.#host.local && DISK_FULL.test(reason);
    const what = full ? "state disk is full, waiting for room" : "a call failed and is made again";
    this.#host.log(`run ${this.#runId}: ${what} (${call}: ${reason})`);
  }

  /** That call works again, as may all others. */
  succeeded(call: string): void {
    if (this.#failing.delete(call) && this.#failing.size === 0) this.#end();
  }

  /** Rows were committed, whatever became of the calls of grants before. */
  committed(): void {
    if (this.#failing.size === 0) return;
    this.#failing.clear();
    this.#end();
  }

  #end(): void {
    const { now, log } = this.#host;
    const reason = this.#told;
    this.#told = "";
    const lasted = now() - this.#since;
    if (lasted < WORTH_MS) return;
    const message = `Storage did not work for ${Math.round(lasted / 1_000)} s (${reason}); nothing was begun that could not be stored`;
    log(`run ${this.#runId}: ${message}`);
    this.#tell(message);
  }
}
