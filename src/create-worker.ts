import type { WakeUp } from "../durable-objects/dispatcher/dispatcher-control.ts";
import { createApp } from "./api/app.ts";
import { portsOf } from "./api/ports.ts";
import type { Env } from "./env.ts";
import { registerEnvironments } from "./environments/load.ts";
import { runExecutor } from "./executor/hosting/worker-executor.ts";
import { count } from "./operations.ts";
import { removeExpired } from "./retention.ts";
import { isRunName } from "./teams/team-name.ts";
import { sweepUploads } from "./upload-sweep.ts";
import { poke, pokeActiveRuns } from "./watchdog.ts";
import type { WorkerOptions } from "./worker-options.ts";

const DEAD_LETTERS = "rollouts-dead";

/** The handlers of a service; everything behind them is in the folder its name says. Throws `TypeError` for two environments of one id. */
export function createWorker({ environments = [] }: WorkerOptions = {}) {
  registerEnvironments(environments);
  const app = createApp<Env>(portsOf);
  return {
    fetch: (request: Request, env: Env, ctx: ExecutionContext) => app.fetch(request, env, ctx),

    /** A message is a hint that a run wants executors: acknowledged on arrival, worth nothing once read. Some are to be read again a little later. */
    async queue(batch: MessageBatch<WakeUp>, env: Env): Promise<void> {
      // Read and delete; the write was counted where it was sent.
      count("queue_operations", 2 * batch.messages.length);
      const [first] = batch.messages;
      if (batch.queue !== DEAD_LETTERS && first?.body.again_ms !== undefined && first.attempts === 1)
        return first.retry({ delaySeconds: Math.ceil(first.body.again_ms / 1_000) });
      batch.ackAll();
      if (batch.queue !== DEAD_LETTERS) return runExecutor(env, first?.body.slice_ms ?? null);
      for (const { body } of batch.messages) {
        console.warn(`dead letter for run ${String(body.run)}`);
        if (isRunName(body.run)) await poke(env, body.run);
      }
    },

    async scheduled(_controller: ScheduledController, env: Env): Promise<void> {
      await pokeActiveRuns(env);
      await sweepUploads(env);
      await removeExpired(env);
    },
  } satisfies ExportedHandler<Env, WakeUp>;
}
