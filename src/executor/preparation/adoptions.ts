import type { Grant, TicketTask } from "../../../durable-objects/run/protocol.ts";
import { failureOf } from "../../errors/result.ts";
import { adoptFolder } from "./adopt.ts";
import { keepAlive, ticketOf } from "../keep-alive.ts";
import type { ExecutorPorts } from "../ports.ts";
import { teamPorts } from "../team-ports.ts";
import { failureOfPreparation } from "./preparation-failure.ts";

const AFTER_FAILURE_MS = 1_000;

/** Folders that an executor takes over, each beside the units of its run. */
export class Adoptions {
  readonly #ports: ExecutorPorts;
  readonly #stop: AbortSignal;
  readonly #onEnd: () => void;
  readonly #open = new Set<Promise<void>>();

  /** `stop`: the executor is to end now. `onEnd`: one of them is over. */
  constructor(ports: ExecutorPorts, stop: AbortSignal, onEnd: () => void) {
    this.#ports = ports;
    this.#stop = stop;
    this.#onEnd = onEnd;
  }

  get busy(): boolean {
    return this.#open.size > 0;
  }

  async over(): Promise<void> {
    await Promise.all(this.#open);
  }

  begin(grant: Grant, task: Extract<TicketTask, { kind: "adopt" }>): void {
    const adoption = this.#take(grant, task).finally(() => {
      this.#open.delete(adoption);
      this.#onEnd();
    });
    this.#open.add(adoption);
  }

  /** Rows that cannot be taken over end the run; anything else that goes wrong is left to the next adoption. */
  async #take(grant: Grant, task: Extract<TicketTask, { kind: "adopt" }>): Promise<void> {
    const { run_id: runId } = grant.config;
    const ports = teamPorts(this.#ports, grant.config);
    try {
      await keepAlive(ports, runId, grant, this.#stop, async (signal) => {
        try {
          await adoptFolder(ports, grant, task, signal);
        } catch (thrown) {
          const failed = signal.aborted ? null : failureOfPreparation(thrown);
          if (failed === null || failed.passing === true) {
            await this.#ports.sleep(AFTER_FAILURE_MS, signal).catch(() => undefined);
            throw thrown;
          }
          await ports.run(runId).fail({ ...ticketOf(grant), ...failed });
        }
      });
    } catch (thrown) {
      this.#ports.log(`run ${runId}: ${failureOf(thrown).message}`);
    }
  }
}
