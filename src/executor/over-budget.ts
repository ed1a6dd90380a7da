import type { Overspent } from "../../durable-objects/budget/budget-control.ts";
import type { Grant } from "../../durable-objects/run/protocol.ts";
import { failureOf } from "../errors/result.ts";
import { ticketOf } from "./keep-alive.ts";
import { runName } from "../teams/team-name.ts";
import type { ExecutorPorts } from "./ports.ts";
import { RetryWaits } from "./units/retry-waits.ts";

/** Attempts to tell; after them the lease has long ended, and whoever has the next grant meets the same. */
const MOST_ATTEMPTS = 10;

/**
 * `ports`: of the executor, of no team. Tells the run of a grant that nothing is left in a Budget for what waits under it. The run ends, and its word with the next beat, claim or commit ends what
 * waits: until then that waits on, since a request that was rejected would be the outcome of its rollout, and lose where that stands between two turns. Never
 * rejects; `signal` ends the attempts.
 */
export async function tellOverBudget(
  ports: Pick<ExecutorPorts, "run" | "sleep" | "log" | "random">,
  grant: Grant,
  told: { readonly budget: string; readonly over: Overspent },
  signal?: AbortSignal,
): Promise<void> {
  const run = runName(grant.config);
  const waits = new RetryWaits(ports.random);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS && signal?.aborted !== true; attempt++) {
    try {
      return void (await ports.run(run).endOverBudget({ ...ticketOf(grant), ...told }));
    } catch (thrown) {
      ports.log(`run ${run}: that its budget is spent was not heard: ${failureOf(thrown).message}`);
      await ports.sleep(waits.after("over budget", thrown), signal).catch(() => undefined);
    }
  }
}
