import type { Grant, TicketTask } from "../../durable-objects/run/protocol.ts";
import { ADOPT_BYTES, FINALISE_BYTES, INTAKE_BYTES } from "../limits.ts";
import { failureOf } from "../errors/result.ts";
import { adoptFolder } from "./preparation/adopt.ts";
import { takeIn } from "./intake.ts";
import { keepAlive, ticketOf } from "./keep-alive.ts";
import { mergeSegments } from "./merge.ts";
import type { ExecutorPorts } from "./ports.ts";
import { failureOfPreparation } from "./preparation/preparation-failure.ts";
import type { Slice } from "./slice.ts";
import { teamPorts } from "./team-ports.ts";

const AFTER_FAILURE_MS = 1_000;

/** What an executor does under tickets of their own beside the units of a run: taking a folder over, merging small segments, taking pushed samples in, carrying batches. */
export type BesideTask = Extract<TicketTask, { kind: "adopt" | "merge" | "intake" | "batch" }>;

/** What of it an executor says that it does when it joins. */
export const BESIDES = { adopts: true, merges: true, intakes: true, sorts: true, batches: true } as const;

export type CarryBatches = (grant: Grant, signal: AbortSignal) => Promise<void>;

export class Beside {
  readonly #ports: ExecutorPorts;
  readonly #slice: Slice;
  readonly #stop: AbortSignal;
  readonly #onEnd: () => void;
  readonly #carry: CarryBatches;
  readonly #open = new Set<Promise<void>>();

  /** `stop`: the executor is to end now. `onEnd`: one of them is over. `carry`: does what a ticket for batches is for. */
  constructor(ports: ExecutorPorts, slice: Slice, stop: AbortSignal, onEnd: () => void, carry: CarryBatches) {
    this.#ports = ports;
    this.#slice = slice;
    this.#stop = stop;
    this.#onEnd = onEnd;
    this.#carry = carry;
  }

  get busy(): boolean {
    return this.#open.size > 0;
  }

  async over(): Promise<void> {
    await Promise.all(this.#open);
  }

  begin(grant: Grant, task: BesideTask): void {
    this.follow(grant.config.run_id, this.#work(grant, task));
  }

  /** Work under a ticket of the run that goes on beside its units; what it rejects with is left to the next ticket. */
  follow(runId: string, work: Promise<unknown>): void {
    const followed = work
      .then(() => undefined)
      .catch((thrown: unknown) => this.#ports.log(`run ${runId}: ${failureOf(thrown).message}`))
      .finally(() => {
        this.#open.delete(followed);
        this.#onEnd();
      });
    this.#open.add(followed);
  }

  /** Rows that cannot be taken over end the run; anything else that goes wrong is left to the next ticket. */
  async #work(grant: Grant, task: BesideTask): Promise<void> {
    const { run_id: runId } = grant.config;
    const ports = teamPorts(this.#ports, grant.config);
    await keepAlive(ports, runId, grant, this.#stop, async (signal) => {
      try {
        if (task.kind === "adopt") await ports.bytes.within(ADOPT_BYTES, signal, () => adoptFolder(ports, grant, task, signal));
        else if (task.kind === "batch") await this.#carry(grant, signal);
        else if (task.kind === "intake") await ports.bytes.within(INTAKE_BYTES, signal, () => takeIn(ports, grant, signal, this.#slice));
        else await ports.bytes.within(FINALISE_BYTES, signal, () => mergeSegments(ports, grant, signal, this.#slice));
      } catch (thrown) {
        const failed = signal.aborted || task.kind === "merge" ? null : failureOfPreparation(thrown);
        if (failed === null || failed.passing === true) {
          await this.#ports.sleep(AFTER_FAILURE_MS, signal).catch(() => undefined);
          throw thrown;
        }
        await ports.run(runId).fail({ ...ticketOf(grant), ...failed });
      }
    });
  }
}
