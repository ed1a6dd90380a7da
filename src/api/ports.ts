import type { MonitorControl } from "../../durable-objects/monitor/monitor-control.ts";
import type { AlertBookControl } from "../../durable-objects/alert-book/alert-book-control.ts";
import type { EvaluatorControl } from "../../durable-objects/evaluator/evaluator-control.ts";
import type { ScheduleControl } from "../../durable-objects/schedule/schedule-control.ts";
import { numberVar, runTiming } from "../../durable-objects/timing.ts";
import { bootOf, type Env, isLocal, keepsSchedules, keyPlacesOf, masterKeysIn } from "../env.ts";
import {
  alertBookStub,
  directoryStub,
  evaluatorIndexStub,
  evaluatorStub,
  answerDeskStub,
  budgetStub,
  limiterStub,
  monitorIndexStub,
  monitorStub,
  registryStub,
  runStub,
  scheduleIndexStub,
  scheduleStub,
} from "../../durable-objects/stubs.ts";
import { hiding } from "../logging/worker-console.ts";
import { HUB_ENDPOINT } from "../datasets/host.ts";
import { askExport } from "../exporting/ask-export.ts";
import { exportsQueue } from "../exporting/export-task.ts";
import { describeIsolated } from "../offering/describe-isolated.ts";
import { tokenOf } from "../offering/linked-code.ts";
import { describeLinked } from "../offering/linked-environment.ts";
import { networkFetch } from "../offering/network-fetch.ts";
import { healthOfServer } from "../offering/link-health.ts";
import { digestIn, environmentNamed, offeredIds, offeredTo } from "../offering/offered-environments.ts";
import { sleep } from "../clients/transport/sleep.ts";
import { sandboxChoice } from "../sandboxes/choice.ts";
import { steadyNow } from "../steady-clock.ts";
import { DEFAULT_TEAM, runName, teamField, teamPrefix } from "../teams/team-name.ts";
import { VERSION } from "../version.ts";
import { type AccessDoor, accessDoor } from "./access/cloudflare-access.ts";
import type { AlertPorts, AppPorts, EvaluatorPorts, MonitorPorts, SchedulePorts } from "./app-ports.ts";
import { R2ObjectStore } from "./r2-object-store.ts";

/** Milliseconds between two looks at a run: locally a look costs nothing. */
const POLL_MS = { local: 200, deployed: 1000, least: 20 };

/** The Hub's clients give a request up after 10 s. Locally whoever answers them is the process that makes what they wait for, and may be late by seconds. */
const HUB_WAIT_MS = { local: 5_000, deployed: 7_000 };

/** The ports of the HTTP door on the platform, of the default team. */
export const portsOf = (env: Env): AppPorts => portsIn(env, DEFAULT_TEAM);

let known: { readonly names: string; readonly door: AccessDoor | null } | undefined;

/** One for all requests of the isolate: it keeps Access' keys. */
function accessOf({ ACCESS_TEAM_DOMAIN: domain = "", ACCESS_AUD: audience = "" }: Env): AccessDoor | null {
  const names = `${domain} ${audience}`;
  if (known?.names !== names) known = { names, door: accessDoor(domain.trim(), audience.trim()) };
  return known.door;
}

function schedulesIn(env: Env, team: string): SchedulePorts | null {
  if (scheduleStub(env, team, "") === null) return null;
  return {
    get index() {
      return scheduleIndexStub(env, team);
    },
    of: (name) => scheduleStub(env, team, name) as ScheduleControl,
    served: keepsSchedules(env),
  };
}

function monitorsIn(env: Env, team: string): MonitorPorts | null {
  if (monitorStub(env, "") === null) return null;
  return {
    get index() {
      return monitorIndexStub(env, team);
    },
    of: (id) => monitorStub(env, id) as MonitorControl,
    served: keepsSchedules(env),
    heartbeatMs: runTiming(env).heartbeat,
  };
}

function alertsIn(env: Env, team: string): AlertPorts | null {
  if (alertBookStub(env, team) === null) return null;
  return {
    get book() {
      return alertBookStub(env, team) as AlertBookControl;
    },
  };
}

function evaluatorsIn(env: Env, team: string): EvaluatorPorts | null {
  if (evaluatorStub(env, team, "") === null) return null;
  return {
    get index() {
      return evaluatorIndexStub(env, team);
    },
    of: (name) => evaluatorStub(env, team, name) as EvaluatorControl,
    served: keepsSchedules(env),
  };
}

function portsIn(env: Env, team: string): AppPorts {
  const local = isLocal(env);
  const pollMs = numberVar("EVENTS_POLL_MS", env.EVENTS_POLL_MS, local ? POLL_MS.local : POLL_MS.deployed);
  return {
    facts: {
      ...keyPlacesOf(env),
      boot: bootOf(env),
      // A blank one would let everybody in who sends nothing.
      token: env.EDGEWISE_TOKEN?.trim() || null,
      commandSecret: local ? env.COMMAND_SECRET || null : null,
      version: VERSION,
      hubWaitMs: numberVar("HUB_WAIT_MS", env.HUB_WAIT_MS, local ? HUB_WAIT_MS.local : HUB_WAIT_MS.deployed),
      hub: exportsQueue(env) === undefined ? null : env.HF_ENDPOINT || HUB_ENDPOINT,
      stays: keepsSchedules(env),
      mails: env.EMAIL !== undefined && Boolean(env.ALERTS_FROM),
      pollMs: Math.max(POLL_MS.least, pollMs),
    },
    team,
    inTeam: (other) => portsIn(env, other),
    get directory() {
      return directoryStub(env);
    },
    access: local ? null : accessOf(env),
    // Not in the wrangler.toml of before, and not in the local service.
    rate: (env as Partial<Env>).REQUESTS ?? null,
    keys: env,
    masterKeys: () => masterKeysIn(env),
    sandboxChoice: (chosen, key) => sandboxChoice({ env, key, fetch, sleep, now: steadyNow }, chosen),
    hiding,
    // As with `run`: one that met a restart stays broken.
    get registry() {
      return registryStub(env, team);
    },
    store: new R2ObjectStore(env.BUCKET, teamPrefix(team)),
    run: (runId) => runStub(env, runName({ run_id: runId, ...teamField(team) })),
    schedules: schedulesIn(env, team),
    monitors: monitorsIn(env, team),
    alerts: alertsIn(env, team),
    evaluators: evaluatorsIn(env, team),
    limiter: (name) => limiterStub(env, name),
    budget: (name) => budgetStub(env, name),
    answers: (digit) => answerDeskStub(env, team, digit),
    parquet: (view) => askExport(env, view),
    assets: (env as Partial<Env>).ASSETS ?? null,
    embedded: env.EMBEDDED ?? null,
    fetch: networkFetch(env),
    findEnvironment: (name, version) => environmentNamed(env, team, { name, ...(version === undefined ? {} : { version }) }),
    offered: async (run) => {
      const found = await offeredTo(env, { ...run, ...teamField(team) });
      if (found === null) return null;
      const { published, linked } = run;
      return { ...found, ...(published === undefined ? {} : { published }), ...(linked === undefined ? {} : { linked }) };
    },
    describe: (code) => describeIsolated(env, team, code),
    describeServer: (server) => describeLinked(env, server),
    healthOf: (server) => healthOfServer(env, server),
    tokenOf: (link) => tokenOf(env, team, link),
    envDigest: (run) => digestIn(env, { ...run, ...teamField(team) }),
    environmentIds: offeredIds(),
    now: steadyNow,
  };
}
