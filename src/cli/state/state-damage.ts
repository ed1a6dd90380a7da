/**
 * What of a state folder's files cannot be what the runtime wrote: looked for before the runtime opens them, since it only says that
 * something is wrong, at every touch, and not with which file.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CliError, systemCode } from "../terminal/cli-error.ts";
import { runtimeStateFolder } from "./state-folder.ts";

/** Who depends on the file: one run, or every one. */
export type DamageScope = "run" | "all";

export interface Damage {
  readonly path: string;
  readonly problem: string;
  readonly scope: DamageScope;
}

const BUCKET = join("r2", "miniflare-R2BucketObject");
const BLOBS = join("r2", "edgewise", "blobs");
const FOLDERS: readonly (readonly [string, DamageScope])[] = [
  [BUCKET, "all"],
  [join("do", "edgewise-Registry"), "all"],
  [join("do", "edgewise-Run"), "run"],
];
/** Which runs want executors: every run says so again when the runtime starts. */
const DISPATCHER = join("do", "edgewise-Dispatcher");

/** Reads the head of every database: a hundred bytes each, however many rows a run has. */
export function damageOf(folder: string): readonly Damage[] {
  const root = runtimeStateFolder(folder);
  const found = FOLDERS.flatMap(([name, scope]) =>
    databasesIn(join(root, name)).flatMap((path): Damage[] => {
      const problem = problemOf(path);
      return problem === null ? [] : [{ path, problem, scope }];
    }),
  );
  return isBucketLost(root) ? [{ path: join(root, BUCKET), problem: "the list of stored objects is missing", scope: "all" }, ...found] : found;
}

/** Whether runs have objects of which nothing says what they are. Where there is no run either, a runtime wrote them after its state was removed. */
function isBucketLost(root: string): boolean {
  if (namesIn(join(root, BLOBS)).length === 0) return false;
  const [bucket = [], ...objects] = FOLDERS.map(([name]) => databasesIn(join(root, name)).filter((path) => basename(path) !== "metadata.sqlite"));
  return !bucket.some((path) => statSync(path).size + logOf(path) > 0) && objects.some((databases) => databases.length > 0);
}

/**
 * Refuses a state that no run can use, by the name of the file; a damaged run keeps nobody else from working. What nothing depends on is
 * begun anew at each start, so that no damage of it can matter, also none that its head does not show. Only whoever owns the folder
 * may call it, before the runtime starts.
 */
export function mustBeSound(folder: string): void {
  for (const damage of damageOf(folder)) {
    if (damage.scope === "all") throw damagedState(folder, wordsOf(damage));
  }
  rmSync(join(runtimeStateFolder(folder), DISPATCHER), { recursive: true, force: true });
}

/** The file and what is wrong with it. */
export const wordsOf = ({ path, problem }: Damage): string => `${path}: ${problem}`;

/** A state that nothing can be done with but to go on without it. */
export class StateDamaged extends CliError {}

/** What is said of a damage, and the ways out. */
export function damagedState(folder: string, what: string, cause?: unknown): StateDamaged {
  const root = runtimeStateFolder(folder);
  return new StateDamaged(`the state is damaged: ${what}`, {
    hints: [
      "Go on from the results folder without it: npx edgewise eval run ENV -R FOLDER --fresh-state (moves the state away, deletes nothing).",
      `Or move it away yourself: mv ${root} ${root}.damaged`,
    ],
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Moves what the runtime stored away, so that it begins with nothing; its new place, or null where nothing was stored. */
export function moveStateAway(folder: string, now: Date): string | null {
  const root = runtimeStateFolder(folder);
  if (namesIn(root).length === 0) return null;
  const stamp = now.toISOString().replace(/\D/g, "").slice(0, 14);
  for (let n = 1; ; n += 1) {
    const target = `${root}.${stamp}${n === 1 ? "" : `-${n}`}`;
    if (statSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    renameSync(root, target);
    return target;
  }
}

/** SQLite's file format, section 1.3: what the first page must say for the file to be a database at all. */
function problemOf(path: string): string | null {
  const head = Buffer.alloc(101);
  let size: number;
  let read: number;
  const file = openSync(path, "r");
  try {
    size = fstatSync(file).size;
    read = readSync(file, head, 0, head.byteLength, 0);
  } finally {
    closeSync(file);
  }
  const log = logOf(path);
  // A new database is in its log only, or was killed before it had anything.
  if (size === 0) return null;
  if (read < head.byteLength || head.toString("latin1", 0, 16) !== "SQLite format 3\0") return "it is not a database";
  const stated = head.readUInt16BE(16);
  const page = stated === 1 ? 65_536 : stated;
  if (page < 512 || (page & (page - 1)) !== 0 || ![0x05, 0x0d].includes(head[100] ?? 0)) return "its first page is damaged";
  // As long as pages wait in the log the file may be shorter than it will be.
  if (log === 0 && size < page * head.readUInt32BE(28)) return `it is cut: ${size} of ${page * head.readUInt32BE(28)} bytes`;
  return null;
}

const logOf = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

const databasesIn = (folder: string): readonly string[] =>
  namesIn(folder)
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(folder, name));

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

const LOOK_MS = 1000;

/**
 * Fires when the state folder was removed, or another put in its place, while the service works on it: what the runtime still holds open
 * is nowhere any more, so that nothing it says it stored lasts. The answer ends the watch.
 */
export function watchState(folder: string, onLost: (error: CliError) => void): () => void {
  const root = runtimeStateFolder(folder);
  const first = placeOf(root);
  const timer = setInterval(() => {
    if (placeOf(root) === first) return;
    clearInterval(timer);
    onLost(new CliError(`the state in ${dirname(root)} was removed or replaced while this command worked with it`));
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function placeOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
