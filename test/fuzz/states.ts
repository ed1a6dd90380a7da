import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { livingClients } from "../../src/cli/state/clients.ts";
import { readCommandSecret } from "../../src/cli/state/command-secret.ts";
import { damageOf, moveStateAway, mustBeSound } from "../../src/cli/state/state-damage.ts";
import { rememberedFolder, runtimeStateFolder } from "../../src/cli/state/state-folder.ts";
import { newLockRecord, readLock, tryLock } from "../../src/cli/state/state-lock.ts";
import { CliError } from "../../src/cli/terminal/cli-error.ts";
import type { Random } from "../simulation/world/random.ts";
import { damagedFiles, type Files, filesBelow, inFolder, orRefused } from "./damaged-files.ts";

const BOOT = "0f0f0f0f-0000-4000-8000-000000000000";
const RUN = "0000abcd";
/** Larger than any process number of Linux. */
const NOBODY = 5_000_000;

/** A database of a few pages, as the runtime writes them. */
function database(rows: number): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "edgewise-fuzz-"));
  try {
    const path = join(folder, "d.sqlite");
    const made = new DatabaseSync(path);
    made.exec("CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID; CREATE TABLE done (place INTEGER PRIMARY KEY, row TEXT)");
    const insert = made.prepare("INSERT INTO done (row) VALUES (?)");
    for (let at = 0; at < rows; at++) insert.run(`{"example_id":${at},"reward":1,"completion":"${"x".repeat(200)}"}`);
    made.close();
    return new Uint8Array(readFileSync(path));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

let sound: Files | null = null;

/** A state folder whose owner was killed while a run worked: databases, objects, lock, secret, clients, remembered folders. */
const soundState = (): Files =>
  (sound ??= new Map([
    ["v1/r2/miniflare-R2BucketObject/b.sqlite", database(20)],
    ["v1/r2/edgewise/blobs/1", new TextEncoder().encode('{"example_id":0}\n'.repeat(50))],
    ["v1/do/edgewise-Registry/g.sqlite", database(3)],
    ["v1/do/edgewise-Dispatcher/d.sqlite", database(1)],
    ["v1/do/edgewise-Run/r.sqlite", database(200)],
    ["v1/do/edgewise-Run/r.sqlite-wal", new Uint8Array(4_152)],
    ["v1/do/edgewise-Run/metadata.sqlite", database(1)],
    ["lock", text({ ...newLockRecord("eval run"), boot_id: BOOT, pid: NOBODY, pid_started: "x", port: 1 })],
    ["secret", text({ version: 1, boot_id: BOOT, secret: "s".repeat(43) })],
    [`clients/${NOBODY}.json`, text({ pid: NOBODY, started: "x" })],
    [`folders/${RUN}.json`, text({ version: 1, results: "/tmp/outputs/evals/a--b/0000abcd" })],
  ]));

/** A damaged state is opened, or refused by the name of the file; nothing of it is lost, and what is moved away lets a new one begin. */
export async function opensState(random: Random): Promise<void> {
  await inFolder(damagedFiles(random, soundState()), async (folder) => {
    const lock = join(folder, "lock");
    // Of a writer that died long ago, or it would be waited for.
    if (existsSync(lock)) utimesSync(lock, 0, 0);
    await orRefused(() => readLock(folder));
    const answer = await orRefused(() => tryLock(folder, newLockRecord("fuzz")));
    readCommandSecret(folder, BOOT);
    livingClients(folder);
    rememberedFolder(folder, RUN);

    const root = runtimeStateFolder(folder);
    const before = kept(root);
    const damages = damageOf(folder);
    const refused = await refusalOf(() => mustBeSound(folder));
    const fatal = damages.filter(({ scope }) => scope === "all");
    if ((refused === null) !== (fatal.length === 0)) throw new Error(`${fatal.length} damages that nobody can do without, and ${refused?.message}`);
    if (refused !== null && !fatal.some(({ path }) => refused.message.includes(path))) throw new Error(`the refusal names no damaged file: ${refused.message}`);
    mustStay(before, kept(root));

    const target = moveStateAway(folder, new Date(0));
    if (before.length > 0 && (target === null || existsSync(root))) throw new Error("the state was not moved away");
    mustStay(before, target === null ? [] : kept(target));
    mustBeSound(folder);
    if (answer?.kind === "mine") answer.lock.release();
  });
}

async function refusalOf(work: () => void): Promise<CliError | null> {
  try {
    work();
    return null;
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
}

/** All but what is begun anew at each start. */
const kept = (root: string): Uint8Array[] => [...filesBelow(root)].flatMap(([path, bytes]) => (path.includes("edgewise-Dispatcher") ? [] : [bytes]));

/** The same files under whatever names. */
function mustStay(before: readonly Uint8Array[], after: readonly Uint8Array[]): void {
  const [was, is] = [before, after].map((files) => files.map((bytes) => Buffer.from(bytes).toString("latin1")).sort());
  if (was?.length !== is?.length || was?.some((bytes, at) => bytes !== is?.[at])) throw new Error("a file of the state was changed or removed");
}
