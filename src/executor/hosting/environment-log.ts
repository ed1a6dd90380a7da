import type { EnvironmentLine, Printer } from "../../logging/environment-line.ts";
import { withSources } from "../../errors/own-frames.ts";
import { failureOf } from "../../errors/result.ts";

/** Lines that one executor keeps of a run, characters of one, and characters of a print that are looked at. */
export const LINES_PER_EXECUTOR = 1_000;
export const CHARACTERS_PER_LINE = 1_000;
const CHARACTERS_PER_PRINT = 16_000;
/** Lines of a call, and how long they wait for others: a rollout that prints costs no call of its own. */
const BATCH = 200;
const WAIT_MS = 100;

export interface EnvironmentLogHost {
  /** Takes the lines to the run; one call. */
  readonly send: (lines: readonly EnvironmentLine[]) => Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: (message: string) => void;
}

/** What the environment of one run prints in this executor, on its way to the run's log. Never holds more than `LINES_PER_EXECUTOR`. */
export class EnvironmentLog implements Printer {
  readonly #host: EnvironmentLogHost;
  #waiting: EnvironmentLine[] = [];
  #sending: Promise<void> = Promise.resolve();
  #timed = false;
  #lines = 0;
  /** Blots out what may stand in no log. */
  mask: (text: string) => string = (text) => text;
  /** Whether debug lines are kept. */
  verbose = false;

  constructor(host: EnvironmentLogHost) {
    this.#host = host;
  }

  print(level: EnvironmentLine["level"], text: () => string): void {
    if (this.#lines > LINES_PER_EXECUTOR || (level === "DEBUG" && !this.verbose)) return;
    // Masked as a whole, since a secret may have several lines or stand across the end of one.
    for (const line of this.mask(withSources(text().slice(0, CHARACTERS_PER_PRINT))).split(/\r\n|[\r\n\u2028\u2029]/)) {
      if (++this.#lines > LINES_PER_EXECUTOR) {
        this.#add("WARNING", `further lines are left out: an executor keeps ${LINES_PER_EXECUTOR} of a run`);
        return;
      }
      this.#add(level, line.length > CHARACTERS_PER_LINE ? `${line.slice(0, CHARACTERS_PER_LINE)}…` : line);
    }
  }

  /** Resolves when everything printed so far has been taken, or could not be. */
  flush(): Promise<void> {
    if (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#sending = this.#sending.then(() => this.#send(lines));
    }
    return this.#sending;
  }

  #add(level: EnvironmentLine["level"], message: string): void {
    this.#waiting.push({ level, message });
    if (this.#waiting.length >= BATCH) void this.flush();
    else if (!this.#timed) {
      this.#timed = true;
      void this.#later();
    }
  }

  async #later(): Promise<void> {
    await this.#host.sleep(WAIT_MS);
    this.#timed = false;
    await this.flush();
  }

  async #send(lines: readonly EnvironmentLine[]): Promise<void> {
    try {
      await this.#host.send(lines);
    } catch (thrown) {
      this.#host.log(`lines of an environment: ${failureOf(thrown).message}`);
    }
  }
}
