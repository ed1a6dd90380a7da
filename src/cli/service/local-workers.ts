/** What runs in the local runtime: the same `dist/worker.js` that is deployed, with smaller numbers, and the embedded model beside it. */
import { OBJECT_CLASSES } from "./object-classes.ts";
import { dirname, join } from "node:path";
import type { V4WorkerOptions } from "miniflare";
import { AT_WORK_PATH } from "../../offering/at-work.ts";
import { SANDBOXES_PATH } from "../../sandboxes/local/messages.ts";
import { MASTER_KEYS_PATH, type MasterKeyTexts } from "../../secrets/master-keys.ts";
import type { EnvironmentsAtWork } from "./runtime/at-work.ts";
import { assetsBeside } from "./runtime/assets.ts";
import { reasonOf } from "../terminal/cli-error.ts";
import { directNetwork } from "./runtime/network.ts";
import type { WorkerModule } from "./service.ts";

export interface WorkerSettings {
  /** Absolute path of the built Worker. */
  readonly workerPath: string;
  /** A Worker made for this command, with environments of this machine, in place of the built one. */
  readonly modules: readonly WorkerModule[] | null;
  readonly bootId: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Settings of the Worker that come from the environment of this command. */
  readonly vars: Readonly<Record<string, string>>;
  /** With it a command of this state folder shows that its user is at a terminal. */
  readonly commandSecret: string;
  /** What secrets are encrypted with, read anew each time: it may be replaced while the service runs. */
  readonly masterKeys: () => MasterKeyTexts;
  /** Hears which environments are at work. */
  readonly atWork: EnvironmentsAtWork;
  /** Answers what is asked about sandboxes of this machine, one text of JSON for another. */
  readonly sandboxes: (text: string) => Promise<string>;
  /** What callers must show; null = who is on this machine may call. */
  readonly token: string | null;
  /** Due times of schedules are begun: the service stays. */
  readonly keepsSchedules: boolean;
  /** Queues, and so executors that work at the same time; 1 to 8, or 0 for a service that runs nothing. */
  readonly executors: number;
}

const COMPATIBILITY_DATE = "2026-11-01";
const EMBEDDED_NAME = "edgewise-embedded";

/** One executor with hundreds of lanes, and leases that end soon after a kill; deployed numbers are in `wrangler.toml`. */
const NUMBERS = {
  LEASE_MS: "6000",
  BEAT_MS: "1000",
  LEASE_MARGIN_MS: "1500",
  GRACE_MS: "2000",
  EXECUTOR_REQUESTS: "4096",
  NEXT_POLL_MS: "200",
} as const;

/** The first of the two, and so the one that is reached from outside. */
export function serviceWorker({
  atWork,
  bootId,
  commandSecret,
  executors,
  keepsSchedules,
  masterKeys,
  modules,
  sandboxes,
  secrets,
  token,
  vars,
  workerPath,
}: WorkerSettings): V4WorkerOptions {
  const queues = Array.from({ length: executors }, (_, k) => ({ binding: `ROLLOUTS_${k}`, queue: `rollouts-${k}` }));
  // The sign of life: without an answer for five seconds executors abort, so that a killed command does not go on spending.
  const parent = async (request: AskedParent) => (await answerOfParent(request, { bootId, masterKeys, atWork, sandboxes })) as never;
  const consumer = { maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3, deadLetterQueue: "rollouts-dead" };
  return {
    name: "edgewise",
    ...moduleAt(workerPath, modules),
    bindings: {
      ...NUMBERS,
      ...vars,
      LOCAL: "1",
      ...(keepsSchedules ? { KEEPS_SCHEDULES: "1" } : {}),
      BOOT_ID: bootId,
      COMMAND_SECRET: commandSecret,
      LOCAL_SECRETS: { ...secrets },
      ...(token === null ? {} : { EDGEWISE_TOKEN: token }),
    },
    durableObjects: Object.fromEntries(Object.entries(OBJECT_CLASSES).map(([binding, className]) => [binding, { className, useSQLite: true }])),
    r2Buckets: { BUCKET: "edgewise" },
    workerLoaders: { LOADER: {} },
    queueProducers: {
      ...Object.fromEntries(queues.map(({ binding, queue }) => [binding, { queueName: queue }])),
      EXPORTS: { queueName: "exports" },
      SCHEDULES: { queueName: "schedules" },
      ALERTS: { queueName: "alerts" },
    },
    queueConsumers: {
      ...Object.fromEntries(queues.map(({ queue }) => [queue, consumer])),
      // The platform has a consumer for every ten; here there is one at a time, beside the runs that it has begun.
      schedules: { maxBatchSize: 50, maxBatchTimeout: 0, maxRetries: 3 },
      alerts: { maxBatchSize: 5, maxBatchTimeout: 0, maxRetries: 3 },
      exports: { maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 10 },
      "rollouts-dead": { maxBatchSize: 10, maxBatchTimeout: 1, maxRetries: 3 },
    },
    serviceBindings: {
      PARENT: parent,
      ASSETS: assetsBeside(workerPath),
      EMBEDDED: EMBEDDED_NAME,
      NETWORK: directNetwork(process.env),
    },
  };
}

interface AskedParent {
  readonly url: string;
  readonly method: string;
  text(): Promise<string>;
}

/** The Worker alone asks: the sign of life, the keys of its secrets, sandboxes; and it says which environments are at work. */
async function answerOfParent(
  asked: AskedParent,
  { atWork, bootId, masterKeys, sandboxes }: Pick<WorkerSettings, "atWork" | "bootId" | "masterKeys" | "sandboxes">,
): Promise<Response> {
  const { method } = asked;
  const { pathname, searchParams } = new URL(asked.url);
  if (pathname === SANDBOXES_PATH) return new Response(await sandboxes(await asked.text()), { headers: { "content-type": "application/json" } });
  if (pathname === AT_WORK_PATH) {
    atWork.hear(method, searchParams);
    return new Response(null, { status: 204 });
  }
  if (pathname !== MASTER_KEYS_PATH) return new Response(bootId);
  try {
    return Response.json(masterKeys());
  } catch (error) {
    return new Response(reasonOf(error), { status: 500 });
  }
}

/** Deployed there is none: it is reached through the service only, and nothing of it is stored. */
export function embeddedWorker({ workerPath }: WorkerSettings): V4WorkerOptions {
  return {
    name: EMBEDDED_NAME,
    ...moduleAt(join(dirname(workerPath), "embedded-worker.js")),
    // Requests that are given up are seen to be: their work is not done.
    compatibilityFlags: ["enable_request_signal", "request_signal_passthrough"],
    durableObjects: { MODEL: { className: "EmbeddedModelObject", useSQLite: true } },
    unsafeEphemeralDurableObjects: true,
  };
}

/** A built Worker. Its module is named relative to its own folder: the runtime refuses one whose name leaves the working directory. */
const moduleAt = (path: string, modules: readonly WorkerModule[] | null = null) => ({
  modulesRoot: dirname(path),
  modules:
    modules === null
      ? [{ type: "ESModule" as const, path }]
      : modules.map((module) => ({ type: "ESModule" as const, path: join(dirname(path), module.path), contents: module.contents })),
  compatibilityDate: COMPATIBILITY_DATE,
  // As in wrangler.toml: bundled environments run in the Worker's isolate, and see neither bindings nor secrets.
  compatibilityFlags: ["nodejs_compat", "disallow_importable_env", "nodejs_compat_do_not_populate_process_env", "queue_consumer_no_wait_for_wait_until"],
});
