import type { DispatcherControl } from "../../../durable-objects/dispatcher/dispatcher-control.ts";
import { numberVar } from "../../../durable-objects/timing.ts";
import { sleep } from "../../clients/transport/sleep.ts";
import { calledAddressProblem, calledPlaceProblem } from "../../config/endpoints/called-place.ts";
import { isEmbeddedUrl } from "../../config/endpoints/providers.ts";
import { lookUpSecret, resolveKey, secretValues } from "../../config/endpoints/secrets.ts";
import { HUB_ENDPOINT, HUB_VIEWER } from "../../datasets/host.ts";
import { bootOf, type Env, isLocal, keyPlacesOf, runtimeOf } from "../../env.ts";
import { beginWork } from "../../offering/at-work.ts";
import { digestIn, offeredTo } from "../../offering/offered-environments.ts";
import { readLevel, setupLogging } from "../../logging/logger.ts";
import {
  BATCH_SETTLE_MS,
  CONSUMER_WALL_MS,
  FIRST_ANSWER_MS,
  HELD_ROLLOUTS,
  ISOLATE_BYTES,
  KEEP_TURNS_MS,
  MAX_CONNECTIONS,
  OUTAGE_MS,
  STORM_MS,
  SLICE_MS,
  SLICE_ROLLOUTS,
  SLICE_SUBREQUESTS,
  UNIT_DEADLINE_MS,
} from "../../limits.ts";
import { answerDeskStub, budgetStub, dispatcherStub, limiterStub, runStub } from "../../../durable-objects/stubs.ts";
import { blotter, mask } from "../../errors/masking.ts";
import { countTime, steadyNow } from "../../steady-clock.ts";
import { bucketStore } from "./bucket-store.ts";
import { Executor } from "../executor.ts";
import { IsolateBytes } from "../isolate-bytes.ts";
import { Isolate } from "../session/isolate.ts";
import { usualSandbox } from "../../sandboxes/choice.ts";
import { openDriver } from "../../sandboxes/drivers.ts";
import { sandboxKey, secretsOfGrant } from "./grant-secrets.ts";
import { maskedRun } from "./masked-run.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import { engineLog, hiding, printsTo } from "../../logging/worker-console.ts";

/** As it is before the code of an environment runs, which could put itself in its place and read the keys. */
const platformFetch = fetch;

/** Of this isolate, whatever executors the platform puts into it. The memory of the local runtime is the machine's. */
const BYTES = new IsolateBytes(ISOLATE_BYTES);
const UNBOUNDED = new IsolateBytes(Number.POSITIVE_INFINITY);

/** Below the silence after which executors stop: a command that is busy answers late, and is there. */
const PARENT_LOOK_MS = 4_000;
/** Time to flush and leave before the platform ends the invocation. */
const WALL_MARGIN_MS = 30_000;

async function parentLives(env: Env): Promise<boolean> {
  if (env.PARENT === undefined) return true;
  try {
    const response = await env.PARENT.fetch("http://parent/", { signal: AbortSignal.timeout(PARENT_LOOK_MS) });
    return (await response.text()) === bootOf(env);
  } catch {
    // No answer is the answer: the lifeline counts how long.
    return false;
  }
}

function reach({ EMBEDDED, NETWORK }: Env, url: string, init?: RequestInit): Promise<Response> {
  if (EMBEDDED !== undefined && isEmbeddedUrl(url)) return EMBEDDED.fetch(url, init);
  return NETWORK === undefined ? platformFetch(url, init) : NETWORK.fetch(url, init);
}

/** All executors of this isolate, whatever they work for. */
const ISOLATE = new Isolate(steadyNow);

export function portsOf(env: Env): ExecutorPorts {
  return {
    id: crypto.randomUUID(),
    boot: bootOf(env),
    runtime: runtimeOf(env),
    isolate: ISOLATE,
    local: isLocal(env),
    dispatcher: (): DispatcherControl => dispatcherStub(env),
    offered: (run) => offeredTo(env, run),
    envDigest: (run) => digestIn(env, run),
    run: (runId) => maskedRun(runStub(env, runId)),
    store: bucketStore(env.BUCKET),
    bytes: (isLocal(env) ? UNBOUNDED : BYTES).open({ now: steadyNow, sleep }),
    limiter: (name) => limiterStub(env, name),
    answers: (team, digit) => answerDeskStub(env, team, digit),
    budget: (name) => budgetStub(env, name),
    keyOf: (variable, baseUrl) => resolveKey(env, variable, baseUrl),
    keys: env,
    secretsOf: (config, declared) => secretsOfGrant(env, config, declared),
    usualSandbox: usualSandbox(env),
    sandboxes: (name, config, fetch) =>
      openDriver(name, { env, key: (variable, host) => sandboxKey(env, config, variable, host), fetch, sleep, now: steadyNow }),
    hiding,
    addressProblem: (baseUrl) => calledAddressProblem(keyPlacesOf(env), baseUrl),
    secret: (name) => lookUpSecret(env, name),
    fetch: (url, init) => reach(env, url, init),
    hub: { endpoint: env.HF_ENDPOINT || HUB_ENDPOINT, viewer: env.HF_DATASETS_SERVER || HUB_VIEWER, token: lookUpSecret(env, "HF_TOKEN") },
    placeProblem: (place) => calledPlaceProblem(keyPlacesOf(env), place),
    ai: env.AI ?? null,
    parentLives: () => parentLives(env),
    atWork: (environment) => beginWork(env.PARENT, environment),
    now: steadyNow,
    sleep,
    random: Math.random,
    log: (message) => engineLog(mask(message)),
    printsTo,
    mask: (names) => {
      const blot = blotter(secretValues(env, names));
      return (text) => mask(blot(text));
    },
  };
}

/** Does `work` when so many bytes are free beside the executors of this isolate: for invocations that are none. */
export async function withinIsolate(env: Env, bytes: number, work: () => Promise<void>): Promise<void> {
  const own = (isLocal(env) ? UNBOUNDED : BYTES).open({ now: steadyNow, sleep });
  try {
    await own.within(bytes, own.closed, work);
  } finally {
    own.close();
  }
}

/**
 * Deployed budgets, or the local service's: there only the request count and the pace differ, and nothing cuts a unit or a slice. `firstSlice`:
 * length of the slice while runs still want lanes, as the wake-up names it; null = no shorter than any.
 */
export function budgetOf(env: Env, firstSlice: number | null = null): ExecutorBudget {
  const unlimited = Number.POSITIVE_INFINITY;
  const local = isLocal(env);
  const outage = numberVar("OUTAGE_MS", env.OUTAGE_MS, OUTAGE_MS);
  const slice = local ? unlimited : numberVar("SLICE_MS", env.SLICE_MS, SLICE_MS);
  return {
    requests: numberVar("EXECUTOR_REQUESTS", env.EXECUTOR_REQUESTS, 5),
    // One is kept for R2.
    connections: local ? null : MAX_CONNECTIONS - 1,
    margin: numberVar("LEASE_MARGIN_MS", env.LEASE_MARGIN_MS, 5_000),
    poll: numberVar("NEXT_POLL_MS", env.NEXT_POLL_MS, 10_000),
    slice,
    // A slice that ends makes room for the next consumer, which a local queue has none of.
    wanted: local ? unlimited : Math.min(firstSlice ?? slice, slice),
    wall: local ? unlimited : CONSUMER_WALL_MS - WALL_MARGIN_MS,
    held: local ? HELD_ROLLOUTS : 0,
    rollouts: local ? unlimited : SLICE_ROLLOUTS,
    subrequests: local ? unlimited : SLICE_SUBREQUESTS,
    outage,
    firstAnswer: Math.min(outage, FIRST_ANSWER_MS),
    storm: numberVar("STORM_MS", env.STORM_MS, STORM_MS),
    keepTurns: numberVar("KEEP_TURNS_MS", env.KEEP_TURNS_MS, KEEP_TURNS_MS),
    settle: numberVar("BATCH_SETTLE_MS", env.BATCH_SETTLE_MS, BATCH_SETTLE_MS),
    unitDeadline: local ? null : UNIT_DEADLINE_MS,
  };
}

/** The Worker's variables are not the process's: what they say of the log is said here. */
function setLogLevel(env: Env): void {
  const level = readLevel(env.EDGEWISE_LOG_LEVEL) ?? readLevel(env.VF_LOG_LEVEL);
  if (level !== null) setupLogging({ level });
}

export async function runExecutor(env: Env, firstSlice: number | null = null): Promise<void> {
  setLogLevel(env);
  // Deployed a Run is elsewhere, on a machine of its own: there each side has the clock of its platform.
  const stopCounting = isLocal(env) ? countTime() : () => undefined;
  try {
    await new Executor(portsOf(env), budgetOf(env, firstSlice)).run();
  } finally {
    stopCounting();
  }
}
