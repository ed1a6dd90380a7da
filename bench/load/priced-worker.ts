/**
 * A deployment in one isolate on a simulated clock: the real Worker, objects and executors with the deployed numbers, and a model that takes its
 * time. Platform operations are counted where they are made (src/operations.ts). Bundled by the scenario `operations`, and run in workerd for its SQLite.
 */
import { after, run as letTimePass, tracked } from "./virtual-clock.ts";
import { slowModel } from "./slow-model.ts";
import { Dispatcher as RealDispatcher } from "../../durable-objects/dispatcher/dispatcher.ts";
import type { WakeUp } from "../../durable-objects/dispatcher/dispatcher-control.ts";
import { Limiter as RealLimiter } from "../../durable-objects/limiter/limiter.ts";
import { Registry as RealRegistry } from "../../durable-objects/registry/registry.ts";
import { Run as RealRun } from "../../durable-objects/run/run.ts";
import { createWorker } from "../../src/create-worker.ts";
import { type Env, QUEUE_BINDING } from "../../src/env.ts";
import { operations } from "../../src/operations.ts";
import { difference } from "../prices.ts";
import { MemoryBucket } from "./memory-bucket.ts";
import type { Counted, Priced } from "./priced.ts";

/** How long a message takes to become a consumer. */
const DELIVERY_MS = 500;
const CRON_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** After the final files: executors leave. */
const AFTERWARDS_MS = 30_000;

const bucket = new MemoryBucket();
const worker = createWorker();

/** Calls on an object are awaited by the clock, wherever they come from. */
function watched(namespace: object): object {
  const stubOf = (name: string): object =>
    new Proxy((namespace as { getByName(name: string): object }).getByName(name), {
      get(stub, method) {
        const call: unknown = Reflect.get(stub, method);
        return typeof call !== "function" ? call : (...args: unknown[]) => tracked(Promise.resolve(Reflect.apply(call, stub, args)));
      },
    });
  return { getByName: stubOf };
}

export { AlertBook } from "../../durable-objects/alert-book/alert-book.ts";
export { AnswerDesk } from "../../durable-objects/answers/answer-desk.ts";
export { Budget } from "../../durable-objects/budget/budget.ts";
export { Evaluator } from "../../durable-objects/evaluator/evaluator.ts";
export { Monitor } from "../../durable-objects/monitor/monitor.ts";
export { Schedule } from "../../durable-objects/schedule/schedule.ts";
export { Directory } from "../../durable-objects/directory/directory.ts";

let service: Env | null = null;
/** The bindings of an object or of the Worker, with what stands in for buckets and queues. */
function serviceOf(env: Env): Env {
  const queues = Object.keys(env).filter((name) => QUEUE_BINDING.test(name));
  const own = {
    RUN: watched(env.RUN),
    DISPATCHER: watched(env.DISPATCHER),
    REGISTRY: watched(env.REGISTRY),
    DIRECTORY: watched(env.DIRECTORY),
    LIMITER: watched(env.LIMITER),
    BUCKET: bucket,
  };
  return {
    ...env,
    ...own,
    ...Object.fromEntries(queues.map((name) => [name, { sendBatch: (batch: readonly { body: WakeUp }[]) => deliver(name, batch) }])),
  } as unknown as Env;
}

async function deliver(queue: string, batch: readonly { readonly body: WakeUp }[], attempts = 1): Promise<void> {
  for (const { body } of batch) {
    after(attempts > 1 ? 1_000 : DELIVERY_MS, () => {
      const message = { body, attempts, retry: () => void deliver(queue, [{ body }], attempts + 1) };
      const messages = { queue, messages: [message], ackAll: () => undefined } as unknown as MessageBatch<WakeUp>;
      if (service !== null) void worker.queue(messages, service, { waitUntil: () => undefined });
    });
  }
}

/** The alarm of an object, by the simulated clock: called over RPC as the platform would call it. */
function ownAlarm(storage: DurableObjectStorage, ring: () => void): void {
  let set: { at: number } | null = null;
  const alarms = {
    setAlarm: async (at: number) => {
      const alarm = { at };
      set = alarm;
      after(at - Date.now(), () => {
        if (set !== alarm) return;
        set = null;
        ring();
      });
    },
    getAlarm: async () => set?.at ?? null,
  };
  for (const [name, value] of Object.entries(alarms)) Object.defineProperty(storage, name, { value });
}

type Ringing = { getByName(name: string): { ring(): Promise<void> } };
const ringer = (namespace: keyof Env, ctx: DurableObjectState) => (): void => {
  if (service !== null && ctx.id.name !== undefined) void (service[namespace] as unknown as Ringing).getByName(ctx.id.name).ring();
};

export class Run extends RealRun {
  constructor(ctx: DurableObjectState, env: Env) {
    ownAlarm(ctx.storage, ringer("RUN", ctx));
    super(ctx, serviceOf(env));
  }
  ring(): Promise<void> {
    return this.alarm();
  }
}
export class Dispatcher extends RealDispatcher {
  constructor(ctx: DurableObjectState, env: Env) {
    ownAlarm(ctx.storage, ringer("DISPATCHER", ctx));
    super(ctx, serviceOf(env));
  }
  ring(): Promise<void> {
    return this.alarm();
  }
}
export class Limiter extends RealLimiter {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, serviceOf(env));
  }
}
export class Registry extends RealRegistry {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, serviceOf(env));
  }
}

async function counted({ model_ms, lanes, units }: Priced, env: Env): Promise<Counted> {
  service = serviceOf(env);
  slowModel.ms = model_ms;
  const before = operations();
  const body = {
    environment_ids: ["arithmetic"],
    inference_model: "m",
    eval_config: { num_examples: units, rollouts_per_example: 1, max_concurrent: lanes, timeout_minutes: 1_440, env_args: { difficulty: "hard" } },
  };
  const headers = { "content-type": "application/json", authorization: `Bearer ${String(env.EDGEWISE_TOKEN)}` };
  const request = new Request("https://edgewise.example/api/v1/hosted-evaluations", { method: "POST", headers, body: JSON.stringify(body) });
  const created = await worker.fetch(request, service, { waitUntil: () => undefined, passThroughOnException: () => undefined } as unknown as ExecutionContext);
  if (!created.ok) throw new Error(`the run was not created: ${await created.text()}`);
  const cron = (): void => {
    after(CRON_MS, cron);
    if (service !== null) void worker.scheduled({} as ScheduledController, service);
  };
  after(CRON_MS, cron);
  const ms = await letTimePass(() => bucket.has("/metadata.json"), DAY_MS);
  const end = Date.now() + AFTERWARDS_MS;
  await letTimePass(() => Date.now() >= end, DAY_MS);
  return { operations: difference(operations(), before), ms, done: slowModel.answers };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return Response.json(await counted((await request.json()) as Priced, env));
  },
  async queue(): Promise<void> {},
};
