/**
 * One process owns a state folder. The lock file `lock` names it; who finds its owner dead becomes the heir. Heirs are
 * chosen by creating `lock.{boot id of the dead}.heir`, which only one process can; a heir that dies before it took over has an
 * heir of its own. Nothing is decided by deleting, so two processes that start at the same moment cannot both win.
 */
import { randomUUID } from "node:crypto";
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CliError, systemCode } from "../terminal/cli-error.ts";
import { endProcess, isAlive, markOf } from "./processes.ts";

/** Content of the lock file. */
export interface LockRecord {
  readonly version: 1;
  /** One per start of the service; the Worker knows it as `BOOT_ID` and answers with it on `/health`. */
  readonly boot_id: string;
  readonly pid: number;
  readonly pid_started: string;
  /** Null while the service is starting. */
  readonly port: number | null;
  /** The runtime, a child that outlives a killed parent; null before it is started. */
  readonly workerd_pid: number | null;
  readonly workerd_started: string | null;
  /** ISO 8601. */
  readonly started_at: string;
  /** For messages to a person; holds no arguments, since those may name keys. */
  readonly command: string;
  /** Digests by id of the environments of this machine that the service was started with. */
  readonly environments: Readonly<Record<string, string>>;
  /** Whether it stays until it is ended, as `serve` does; another command ends with its own work. */
  readonly stays: boolean;
}

export interface HeldLock {
  readonly record: LockRecord;
  /** Writes the changed record; the file is whole at every moment. */
  update(change: Partial<Pick<LockRecord, "port" | "workerd_pid" | "workerd_started" | "environments">>): void;
  /** Gives the folder free. The runtime must have ended. */
  release(): void;
}

export type LockAnswer =
  | { readonly kind: "mine"; readonly lock: HeldLock /** The dead owner it was taken from. */; readonly heirOf: LockRecord | null }
  | { readonly kind: "held"; readonly record: LockRecord }
  /** Somebody is writing the file this very moment. */
  | { readonly kind: "busy" };

const WORKERD_COMMAND = /workerd(\.exe)?["']? serve\b/;
const WORKERD_END_MS = 5000;
/** A lock file without readable content is one whose writer is about to write, or died between creating and writing. */
const UNREADABLE_GRACE_MS = 3000;

export function newLockRecord(command: string, stays = false): LockRecord {
  const { pid, started } = markOf(process.pid);
  return {
    version: 1,
    boot_id: randomUUID(),
    pid,
    pid_started: started,
    port: null,
    workerd_pid: null,
    workerd_started: null,
    started_at: new Date().toISOString(),
    command,
    environments: {},
    stays,
  };
}

export const ownerLives = (record: LockRecord): boolean => isAlive({ pid: record.pid, started: record.pid_started });

/** One attempt. `mine` after the runtime of a dead owner has been ended, so that the state may be opened at once. */
export async function tryLock(folder: string, mine: LockRecord): Promise<LockAnswer> {
  const path = join(folder, "lock");
  for (;;) {
    const found = readRecord(path);
    if (found === null) {
      if (createWhole(path, mine)) return { kind: "mine", lock: holdLock(path, mine), heirOf: null };
      continue;
    }
    if (found === "writing") return { kind: "busy" };
    if (ownerLives(found)) return { kind: "held", record: found };
    const claim = claimHeritage(folder, found, mine);
    if (claim.kind !== "heir") return claim;
    // Whoever read the old lock before a quicker heir replaced it may still have created a claim: it is worth nothing.
    const now = readRecord(path);
    if (now === null || now === "writing" || now.boot_id !== found.boot_id) {
      rmSync(claim.path, { force: true });
      continue;
    }
    try {
      for (const dead of claim.dead) await endRuntime(dead);
    } catch (error) {
      rmSync(claim.path, { force: true });
      throw error;
    }
    replaceWhole(path, mine);
    for (const { boot_id } of claim.dead) rmSync(heirPath(folder, boot_id), { force: true });
    return { kind: "mine", lock: holdLock(path, mine), heirOf: found };
  }
}

/** What the lock file says at present; null when there is none or it cannot be read. */
export function readLock(folder: string): LockRecord | null {
  const found = readRecord(join(folder, "lock"));
  return found === "writing" ? null : found;
}

type Claim =
  | { readonly kind: "heir"; readonly path: string /** The dead owner, then heirs that died before they took over. */; readonly dead: readonly LockRecord[] }
  | { readonly kind: "held"; readonly record: LockRecord }
  | { readonly kind: "busy" };

function claimHeritage(folder: string, owner: LockRecord, mine: LockRecord): Claim {
  const dead = [owner];
  for (let last = owner; ; ) {
    const path = heirPath(folder, last.boot_id);
    const heir = readRecord(path);
    if (heir === "writing") return { kind: "busy" };
    if (heir === null) {
      if (createWhole(path, mine)) return { kind: "heir", path, dead };
      continue;
    }
    if (ownerLives(heir)) return { kind: "held", record: heir };
    dead.push(heir);
    last = heir;
  }
}

const heirPath = (folder: string, bootId: string): string => join(folder, `lock.${bootId}.heir`);

/** Ends the runtime that a killed owner left behind: it would go on calling models and writing to the state. */
async function endRuntime(dead: LockRecord): Promise<void> {
  if (dead.workerd_pid === null) return;
  const mark = { pid: dead.workerd_pid, started: dead.workerd_started ?? "" };
  if ((await endProcess(mark, WORKERD_COMMAND, WORKERD_END_MS)) !== "survived") return;
  throw new CliError(`the runtime of an earlier command (process ${mark.pid}) still runs and cannot be ended`, {
    hints: [`End it (kill -9 ${mark.pid}), or set EDGEWISE_STATE_DIR to another folder.`],
  });
}

function holdLock(path: string, first: LockRecord): HeldLock {
  let record = first;
  return {
    get record() {
      return record;
    },
    update(change) {
      record = { ...record, ...change };
      replaceWhole(path, record);
    },
    release() {
      const now = readRecord(path);
      if (now !== null && now !== "writing" && now.boot_id === record.boot_id) rmSync(path, { force: true });
    },
  };
}

function readRecord(path: string): LockRecord | "writing" | null {
  let text: string;
  let age: number;
  try {
    text = readFileSync(path, "utf8");
    age = Date.now() - statSync(path).mtimeMs;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  const record = parseRecord(text);
  if (record !== null) return record;
  if (age < UNREADABLE_GRACE_MS) return "writing";
  return {
    version: 1,
    boot_id: "unreadable",
    pid: 0,
    pid_started: "",
    port: null,
    workerd_pid: null,
    workerd_started: null,
    started_at: "",
    command: "unknown",
    environments: {},
    stays: false,
  };
}

function parseRecord(text: string): LockRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (value === null || typeof value !== "object") return null;
  const record = value as Partial<LockRecord>;
  if (record.version !== undefined && record.version !== 1) {
    throw new CliError(`the state folder is used by another version of edgewise (lock version ${String(record.version)}, process ${String(record.pid)})`, {
      hints: ["Use the same version, or set EDGEWISE_STATE_DIR to another folder."],
    });
  }
  // The boot id becomes part of a file name.
  if (typeof record.boot_id !== "string" || !/^[0-9a-z-]{1,64}$/.test(record.boot_id) || typeof record.pid !== "number") return null;
  return {
    version: 1,
    boot_id: record.boot_id,
    pid: record.pid,
    pid_started: record.pid_started ?? "",
    port: record.port ?? null,
    workerd_pid: record.workerd_pid ?? null,
    workerd_started: record.workerd_started ?? null,
    started_at: record.started_at ?? "",
    command: record.command ?? "edgewise",
    environments: record.environments ?? {},
    stays: record.stays ?? false,
  };
}

/** Creates a file that holds its content from the first moment; false when the name is taken. */
function createWhole(path: string, record: LockRecord): boolean {
  const text = `${JSON.stringify(record)}\n`;
  const draft = `${path}.${record.boot_id}.draft`;
  try {
    writeFileSync(draft, text);
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  // A file system without hard links: exclusive creation, then the content (readers wait: UNREADABLE_GRACE_MS).
  try {
    const file = openSync(path, "wx");
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function replaceWhole(path: string, record: LockRecord): void {
  const draft = `${path}.${record.boot_id}.draft`;
  writeFileSync(draft, `${JSON.stringify(record)}\n`);
  renameSync(draft, path);
}
