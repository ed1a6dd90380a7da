import { ALERTS_QUEUE, type AlertTask } from "../durable-objects/alert-book/alert-task.ts";
import type { WakeUp } from "../durable-objects/dispatcher/dispatcher-control.ts";
import { type EvaluatorTask, isEvaluatorTask } from "../durable-objects/evaluator/evaluator-task.ts";
import { isScheduleTask, SCHEDULES_QUEUE, type ScheduleTask } from "../durable-objects/schedule/schedule-task.ts";
import type { HubPushTask } from "../durable-objects/run/sending/hub-push-task.ts";
import { takeMessages } from "./alerting/take-messages.ts";
import { createApp } from "./api/app.ts";
import type { AppPorts } from "./api/app-ports.ts";
import { beginStep } from "./api/evaluators/begin-step.ts";
import { postPoints } from "./api/evaluators/post-points.ts";
import { readRewards } from "./api/evaluators/read-rewards.ts";
import { beginDue } from "./api/schedules/begin-due.ts";
import { compareRun } from "./api/schedules/compare-run.ts";
import { portsOf } from "./api/ports.ts";
import type { Env } from "./env.ts";
import { registerEnvironments } from "./environments/definition/load.ts";
import { registerIsolated } from "./offering/isolated-modules.ts";
import { runExecutor, withinIsolate } from "./executor/hosting/worker-executor.ts";
import { failureOf } from "./errors/result.ts";
import { tellExports } from "./isolates/environment-outbound.ts";
import { EXPORT_BYTES } from "./limits.ts";
import { EXPORTS_QUEUE, type ExportTask } from "./exporting/export-task.ts";
import { makeExport } from "./exporting/make-export.ts";
import { count } from "./operations.ts";
import { pushRun } from "./pushing/push-run.ts";
import { removePublishedCode } from "./upkeep/published-code.ts";
import { removeExpired } from "./upkeep/retention.ts";
import { isRunName } from "./teams/team-name.ts";
import { sweepUploads } from "./upkeep/upload-sweep.ts";
import { poke, pokeActiveRuns } from "./upkeep/watchdog.ts";
import { pokeMonitors } from "./upkeep/monitor-watchdog.ts";
import { pokeEvaluators } from "./upkeep/evaluator-watchdog.ts";
import { pokeSchedules } from "./upkeep/schedule-watchdog.ts";
import type { WorkerOptions } from "./worker-options.ts";

const DEAD_LETTERS = "rollouts-dead";
/** Before code of environments is loaded, which may have another one. */
const platformFetch = fetch;

/** The handlers of a service; everything behind them is in the folder its name says. Throws `TypeError` for two environments of one id. */
export function createWorker({ environments = [], isolated = [] }: WorkerOptions = {}) {
  registerEnvironments(environments);
  registerIsolated(isolated);
  const app = createApp<Env>(portsOf);
  return {
    fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
      tellExports(ctx);
      return app.fetch(request, env, ctx);
    },

    async queue(
      batch: MessageBatch<WakeUp | ExportTask | HubPushTask | ScheduleTask | AlertTask | EvaluatorTask>,
      env: Env,
      ctx: Pick<ExecutionContext, "waitUntil">,
    ): Promise<void> {
      tellExports(ctx);
      if (batch.queue === EXPORTS_QUEUE) return exportInTurn(batch as MessageBatch<ExportTask | HubPushTask>, env);
      if (batch.queue === SCHEDULES_QUEUE) return begin(batch as MessageBatch<ScheduleTask | EvaluatorTask>, env, ctx);
      if (batch.queue === ALERTS_QUEUE) return takeMessages(batch as MessageBatch<AlertTask>, env, ctx);
      return wake(batch as MessageBatch<WakeUp>, env);
    },

    async scheduled(_controller: ScheduledController, env: Env): Promise<void> {
      await pokeActiveRuns(env);
      await pokeSchedules(env);
      await pokeMonitors(env);
      await pokeEvaluators(env);
      await sweepUploads(env);
      await removeExpired(env);
      await removePublishedCode(env);
    },
  } satisfies ExportedHandler<Env, WakeUp>;
}

/** A message is a hint that a run wants executors: acknowledged on arrival, worth nothing once read. Some are to be read again a little later. */
async function wake(batch: MessageBatch<WakeUp>, env: Env): Promise<void> {
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
}

/** Acknowledged when it is done: one whose invocation is killed comes again. What fails comes again a little later, and then when somebody asks for the export. */
async function exportInTurn(batch: MessageBatch<ExportTask | HubPushTask>, env: Env): Promise<void> {
  count("queue_operations", 2 * batch.messages.length);
  for (const message of batch.messages) {
    const { body } = message;
    const [run, work] = "push_of" in body ? [body.push_of, pushRun] : [body.export_of, makeExport];
    try {
      if (isRunName(run)) await withinIsolate(env, EXPORT_BYTES, () => work(env, run));
      message.ack();
    } catch (thrown) {
      console.warn(`export of run ${run}: ${failureOf(thrown).message}`);
      message.retry({ delaySeconds: EXPORT_RETRY_S });
    }
  }
}
const EXPORT_RETRY_S = 10;

/** Points that one invocation posts at once: of the six calls of it that may wait for an answer some are left for others. What is above is sent for again by its evaluator. */
const POSTS_AT_ONCE = 4;

/**
 * The runs of due times and of steps, all of a batch at once, and what compares or counts one, which holds its scores, one after another. Points are posted
 * beside them, and are not waited for: a tracking server that hangs holds up no due time and no step. What is not told to whoever asked for it that one sends
 * for again by itself.
 */
async function begin(batch: MessageBatch<ScheduleTask | EvaluatorTask>, env: Env, ctx: Pick<ExecutionContext, "waitUntil">): Promise<void> {
  count("queue_operations", 2 * batch.messages.length);
  batch.ackAll();
  const ports = portsOf(env);
  const done = async ({ team, ...body }: ScheduleTask | EvaluatorTask, work: (team: AppPorts) => Promise<void>): Promise<void> => {
    try {
      await work(ports.inTeam(team));
    } catch (thrown) {
      const what = "schedule" in body ? `schedule ${team}/${body.schedule}` : `evaluator ${team}/${body.evaluator}`;
      console.warn(`${what}: ${failureOf(thrown).message}`);
    }
  };
  const bodies = batch.messages.map(({ body }) => body);
  const tasks = bodies.flatMap((body) => ("schedule" in body && isScheduleTask(body) ? [body] : []));
  const steps = bodies.flatMap((body) => ("evaluator" in body && isEvaluatorTask(body) ? [body] : []));
  const posts = steps.filter(({ create, read }) => create === null && read === undefined);
  for (const body of posts.slice(0, POSTS_AT_ONCE)) ctx.waitUntil(done(body, (team) => postPoints(team, body.evaluator, outside(env))));
  await Promise.all([
    ...tasks.map((body) => (body.compare === undefined ? done(body, (team) => beginDue(team, body.schedule, body.due)) : undefined)),
    ...steps.map(({ create, ...body }) => (create === null ? undefined : done({ create, ...body }, (team) => beginStep(team, body.evaluator, create)))),
  ]);
  for (const body of tasks) {
    const { compare, schedule } = body;
    if (compare !== undefined) await done(body, (team) => compareRun(team, schedule, compare));
  }
  for (const body of steps) {
    const { read, evaluator } = body;
    if (read !== undefined) await done(body, (team) => readRewards(team, evaluator, read));
  }
}

const outside =
  ({ NETWORK }: Env) =>
  (url: string, init: RequestInit): Promise<Response> =>
    NETWORK === undefined ? platformFetch(url, init) : NETWORK.fetch(url, init);
