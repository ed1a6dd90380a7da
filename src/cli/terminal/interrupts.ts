import { EXIT } from "./cli-error.ts";

/** Thrown out of whatever a command waits for when the user ends it. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Ctrl-C, once: the command ends its run in order. Twice: it ends at once, and the run is found suspended by the next command. */
export class Interrupts {
  private readonly controller = new AbortController();
  private readonly listener = (): void => {
    if (this.controller.signal.aborted) process.exit(EXIT.interrupted);
    this.controller.abort(new Interrupted("interrupted"));
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.listener);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Gives up waiting, not the work: what is under way ends in the background and its failure is nobody's news. */
  async during<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let stop: (() => void) | undefined;
    const interrupted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
    work.catch(() => undefined);
    try {
      return await Promise.race([interrupted, work]);
    } finally {
      if (stop !== undefined) signal.removeEventListener("abort", stop);
    }
  }

  dispose(): void {
    for (const signal of SIGNALS) process.removeListener(signal, this.listener);
  }
}
