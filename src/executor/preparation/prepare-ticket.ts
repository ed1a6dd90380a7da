import type { Grant } from "../../../durable-objects/run/protocol.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import { MAX_WHOLE_ORDER_BYTES, PERMUTED_BYTES, PREPARE_BYTES } from "../../limits.ts";
import { briefly } from "../briefly.ts";
import type { EnvironmentLog } from "../hosting/environment-log.ts";
import { keepAlive, ticketOf } from "../keep-alive.ts";
import type { ExecutorPorts } from "../ports.ts";
import { failureOfPreparation } from "./preparation-failure.ts";
import { type PrepareTask, prepareRun } from "./prepare.ts";

/** A prepare ticket of a team's run, with the environment that was made for it. */
export interface Preparing {
  readonly ports: ExecutorPorts;
  readonly grant: Grant;
  readonly task: PrepareTask;
  readonly environment: HostedEnvironment;
  /** Tears the environment down, once. */
  readonly end: () => Promise<void>;
  readonly prints: EnvironmentLog;
  /** The executor is to end now. */
  readonly stop: AbortSignal;
  /** The run has its first examples and is open, while the others are still read. */
  readonly onOpen: () => void;
}

/** Held of examples until they are written in their order. */
const permutedBytes = ({ config }: Grant, { whole_order }: PrepareTask): number =>
  config.order_seed === undefined ? 0 : whole_order === true ? MAX_WHOLE_ORDER_BYTES : PERMUTED_BYTES;

/** Works under it until its end. Rejects where the Run was not told why it failed. */
export async function prepareTicket({ ports, grant, task, environment, end, prints, stop, onOpen }: Preparing): Promise<void> {
  const { run_id: runId } = grant.config;
  const beforeLast = (): Promise<void> => briefly(ports, end());
  await keepAlive(ports, runId, grant, stop, async (signal) => {
    try {
      await ports.bytes.within(PREPARE_BYTES + permutedBytes(grant, task), signal, () =>
        prepareRun(ports, grant, task, environment, signal, { beforeLast, onOpen }),
      );
    } catch (thrown) {
      // Only what is wrong with the run itself ends it; storage or an object that did not answer is asked again by the next attempt.
      if (signal.aborted) throw thrown;
      const failed = failureOfPreparation(thrown);
      // A Run of before would end for it, and asks again by itself.
      if (failed.passing === true && grant.tries_again !== true) throw thrown;
      await prints.flush();
      await ports.run(runId).fail({ ...ticketOf(grant), ...failed });
    } finally {
      await beforeLast();
    }
  });
}
