/**
 * Finds the service a command works with: a deployed one (`EDGEWISE_URL`), the one that another process of this folder runs,
 * or one that this process starts and owns.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { ServiceClient, ServiceUnreachable } from "../connection/http-client.ts";
import { racing } from "../connection/racing.ts";
import { collectSecrets } from "./local-secrets.ts";
import { builtWorker, executorCount, type LocalService, startLocalService, workerVars } from "./local-service.ts";
import { hangMsOf } from "./runtime/silence-watch.ts";
import { openRemoteService, serviceToken } from "./remote-service.ts";
import type { Service, ServiceOptions } from "./service.ts";
import { ServiceLog } from "./service-log.ts";
import { announceClient, livingClients } from "../state/clients.ts";
import { drawCommandSecret, readCommandSecret } from "../state/command-secret.ts";
import { masterKeyTexts } from "../state/master-key.ts";
import { markOf } from "../state/processes.ts";
import { prepareStateFolder, runtimeStateFolder, stateFolder } from "../state/state-folder.ts";
import { moveStateAway, mustBeSound } from "../state/state-damage.ts";
import { type HeldLock, type LockRecord, newLockRecord, ownerLives, tryLock } from "../state/state-lock.ts";

/** A live owner that neither answers nor ends within this time is broken. */
const OWNER_PATIENCE_MS = 20_000;
const HEALTH_MS = 1500;
const OWNER_LOOK_MS = 500;

export async function openService(options: ServiceOptions): Promise<Service> {
  const { env, cwd } = options;
  if (env.EDGEWISE_URL) {
    if (options.onFreshState !== undefined) throw usageError("--fresh-state is about the state of this machine, and EDGEWISE_URL names a service elsewhere");
    return await openRemoteService(env);
  }
  const folder = stateFolder(env, cwd);
  prepareStateFolder(folder);
  const mine = newLockRecord(options.command, options.stays);
  for (let deadline = performance.now() + OWNER_PATIENCE_MS; ; await sleep(50)) {
    const answer = await tryLock(folder, mine);
    if (answer.kind === "mine") return await ownedService(folder, answer.lock, options);
    if (answer.kind === "held") {
      if (options.onFreshState !== undefined) throw stateInUse(folder, answer.record);
      const client = await clientService(folder, answer.record, options);
      if (client !== null) return client;
      if (performance.now() > deadline) throw ownerSilent(folder, answer.record);
    } else if (performance.now() > deadline) {
      throw new CliError(`the lock file of ${folder} cannot be read`, { hints: ["Remove it when no edgewise command runs."] });
    }
  }
}

/** Boot id of the local service at `url`; null when nobody, or something else, answers. */
export async function bootIdAt(url: string): Promise<string | null> {
  try {
    const asked = fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_MS), redirect: "error" }).then((response) => response.json());
    const { boot } = (await racing(asked, HEALTH_MS, "no answer in time")) as { boot?: unknown };
    return typeof boot === "string" ? boot : null;
  } catch {
    return null;
  }
}

async function clientService(
  folder: string,
  owner: LockRecord,
  { attended, bundled = [], command, env, worker = null }: ServiceOptions,
): Promise<Service | null> {
  if (owner.port === null) return null;
  const missing = Object.entries(worker?.environments ?? {}).find(([id, digest]) => owner.environments[id] !== digest);
  if (missing !== undefined) throw otherEnvironments(missing[0], owner);
  const replaced = bundled.find((id) => Object.hasOwn(owner.environments, id));
  if (replaced !== undefined) throw ownInstead(replaced, owner);
  const url = `http://127.0.0.1:${owner.port}`;
  const withdraw = announceClient(folder);
  if ((await bootIdAt(url)) !== owner.boot_id) {
    withdraw();
    return null;
  }
  // Of the boot that has just answered.
  const secret = readCommandSecret(folder, owner.boot_id);
  if (attended && secret === null) {
    withdraw();
    // It writes the secret before it tells its port.
    if (ownerLives(owner)) throw otherVersion(folder, owner);
    return null;
  }
  const orphaned = new AbortController();
  const look = setInterval(() => {
    if (!ownerLives(owner)) orphaned.abort(new ServiceUnreachable(url, new Error("the process that ran it has ended")));
  }, OWNER_LOOK_MS);
  look.unref();
  return {
    role: "client",
    url,
    client: new ServiceClient(url, { attended: attended ? secret : null, token: serviceToken(env) }),
    stateFolder: folder,
    owner,
    orphaned: orphaned.signal,
    clients: () => [],
    close: async () => {
      clearInterval(look);
      withdraw();
      if (!ownerLives(owner)) await endOrphan(folder, command);
    },
  };
}

/** The last one out ends the runtime that a killed owner left behind. */
async function endOrphan(folder: string, command: string): Promise<void> {
  const answer = await tryLock(folder, newLockRecord(command));
  if (answer.kind === "mine") answer.lock.release();
}

async function ownedService(folder: string, lock: HeldLock, options: ServiceOptions): Promise<Service> {
  const { env, cwd, home, keyNames, port, attended, onCrash, onFreshState, idle = false, stays = false } = options;
  let local: LocalService;
  let token: string | null;
  let secret: string;
  try {
    token = serviceToken(env);
    // Before the port is told: a client that finds the one finds the other.
    secret = drawCommandSecret(folder, lock.record.boot_id);
    if (onFreshState === undefined) mustBeSound(folder);
    else {
      onFreshState(moveStateAway(folder, new Date()));
      prepareStateFolder(folder);
    }
    local = await startLocalService({
      workerPath: builtWorker(),
      modules: options.worker?.modules ?? null,
      persistTo: runtimeStateFolder(folder),
      bootId: lock.record.boot_id,
      port,
      secrets: collectSecrets({ env, cwd, home, named: keyNames }),
      token,
      commandSecret: secret,
      masterKeys: () => masterKeyTexts(folder),
      vars: workerVars(env),
      executors: idle ? 0 : executorCount(env, options.executors),
      keepsSchedules: stays,
      log: new ServiceLog(folder),
      // At once and synchronously: from this moment on a kill of this process leaves that one behind.
      onRuntime: (pid) => lock.update({ workerd_pid: pid, workerd_started: markOf(pid).started }),
      onCrash,
      onHang: options.onHang ?? onCrash,
      hangMs: hangMsOf(env),
    });
  } catch (error) {
    lock.release();
    throw error;
  }
  // Who finds no port waits for the end of this command and starts a service that works.
  if (!idle) lock.update({ port: local.port, environments: options.worker?.environments ?? {} });
  return {
    role: "owner",
    url: local.url,
    client: new ServiceClient(local.url, { attended: attended ? secret : null, token }),
    stateFolder: folder,
    owner: null,
    orphaned: null,
    clients: () => livingClients(folder),
    close: async () => {
      try {
        await local.close();
      } finally {
        lock.release();
      }
    },
  };
}

/** Its environments were put together when it was started: what was changed since is another environment. */
function otherEnvironments(id: string, { environments, pid, command }: LockRecord): CliError {
  const has = Object.hasOwn(environments, id) ? `${id} as it was before it was changed` : `no ${id}`;
  return new CliError(`process ${pid} (${command}) runs the service of this folder, which has ${has}`, {
    hints: [`End it and start it again (kill ${pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}

/** Its command found code of this machine under the name, and this one the bundled environment. */
function ownInstead(id: string, { pid, command }: LockRecord): CliError {
  return new CliError(`process ${pid} (${command}) runs the service of this folder, which has code of this machine in the place of the bundled ${id}`, {
    hints: [`End it (kill ${pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}

function otherVersion(folder: string, { pid, command }: LockRecord): CliError {
  return new CliError(`process ${pid} (${command}) runs the service of ${folder} and left no secret there for this command`, {
    hints: [`It is another version of edgewise: end it (kill ${pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}

function ownerSilent(folder: string, { command, pid, port }: LockRecord): CliError {
  return new CliError(`process ${pid} (${command}) owns the state folder ${folder} and does not answer${port === null ? "" : ` on port ${port}`}`, {
    hints: [`Wait for it, end it (kill ${pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}

function stateInUse(folder: string, { command, pid }: LockRecord): CliError {
  return new CliError(`--fresh-state: process ${pid} (${command}) works with the state in ${folder}`, {
    hints: [`End it first (kill ${pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}
