import type { NoteRequest, TicketId } from "../../../durable-objects/run/protocol.ts";
import type { RetryNotice } from "../../clients/client.ts";
import { type EnvironmentLine, markedLine } from "../../logging/environment-line.ts";
import type { RolloutErrorCode } from "../../errors/codes.ts";
import { failureOf } from "../../errors/result.ts";
import type { ExecutorPorts } from "../ports.ts";

/** Further occurrences that one executor tells of one run; each is a row of the log. */
const MAX_DETAILS = 1_000;

/** What a viewer should read when it happens: the first error and the first retry of each kind. Never waited for. */
export class RunNotes {
  readonly #ports: ExecutorPorts;
  readonly #runId: string;
  readonly #said = new Set<string>();
  ticket: TicketId | null = null;
  /** A run with `verbose` hears of every occurrence, up to a bound. */
  verbose = false;
  /** Requests that models answered this executor for the run, those of judges among them: its progress. */
  answered = 0;
  #details = 0;

  constructor(ports: ExecutorPorts, runId: string) {
    this.#ports = ports;
    this.#runId = runId;
  }

  error(code: RolloutErrorCode, message: string): void {
    this.#once(`error ${code}`, "ERROR", `First ${code}: ${message}`);
  }

  retry({ code, message, until }: RetryNotice): void {
    const seconds = Math.max(0, (until - this.#ports.now()) / 1_000).toFixed(1);
    this.#once(`retry ${code}`, "WARNING", `First ${code}, trying again in ${seconds} s: ${message}`);
  }

  /** What stands on the record: which revision of a data set was read. */
  info(message: string): void {
    this.#once(`info ${message}`, "INFO", message);
  }

  warning(kind: string, message: string): void {
    this.#once(`warning ${kind}`, "WARNING", message);
  }

  /** What the environment printed, in one call; resolves when the run has it. */
  async environment(lines: readonly EnvironmentLine[]): Promise<void> {
    const [first] = lines;
    if (this.ticket === null || first === undefined) return;
    await this.#ports.run(this.#runId).note({ ...this.ticket, level: first.level, message: markedLine(first.message), environment: lines });
  }

  #once(kind: string, level: "INFO" | "WARNING" | "ERROR", message: string): void {
    if (this.ticket === null) return;
    const known = this.#said.has(kind);
    if (known && (!this.verbose || ++this.#details > MAX_DETAILS)) return;
    this.#said.add(kind);
    this.#note(known ? "DEBUG" : level, known ? message.replace(/^First /, "Another ") : message);
  }

  #note(level: NoteRequest["level"], message: string): void {
    if (this.ticket === null) return;
    this.#ports
      .run(this.#runId)
      .note({ ...this.ticket, level, message })
      .catch((thrown: unknown) => this.#ports.log(`run ${this.#runId}: note: ${failureOf(thrown).message}`));
  }
}
