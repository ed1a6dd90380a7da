/**
 * The key that secrets of this machine's service are encrypted with: `master-key` in the state folder, made when it is first asked for, and the same from
 * then on; while it is being replaced `master-key.next` beside it. Both are for this user alone, and are printed nowhere.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawMasterKey, isMasterKey, masterKeyId, type MasterKeyTexts } from "../../secrets/master-keys.ts";
import { CliError, systemCode } from "../terminal/cli-error.ts";

const current = (folder: string): string => join(folder, "master-key");
const next = (folder: string): string => join(folder, "master-key.next");

/** As the Worker is told; the first time it makes the key. */
export function masterKeyTexts(folder: string): MasterKeyTexts {
  const text = read(current(folder)) ?? make(current(folder));
  const coming = read(next(folder));
  return { EDGEWISE_MASTER_KEY: text, ...(coming === null ? {} : { EDGEWISE_MASTER_KEY_NEXT: coming }) };
}

/** The key that replaces the one there is: of a change that was broken off, or a new one. */
export function beginRotation(folder: string): void {
  masterKeyTexts(folder);
  if (!existsSync(next(folder))) make(next(folder));
}

/** Everything is encrypted with the key of this id: the one before is needed no more. */
export async function endRotation(folder: string, keyId: string): Promise<void> {
  const coming = read(next(folder));
  // Another command has ended it.
  if (coming === null || (await masterKeyId(coming)) !== keyId) return;
  renameSync(next(folder), current(folder));
}

/** Writes a new key to a file of the user's, which must not be there. */
export function writeMasterKey(path: string): void {
  try {
    writeFileSync(path, drawMasterKey(), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (systemCode(error) === "EEXIST")
      throw new CliError(`${path} is there already, and a master key is not written over`, { hints: ["Name a file that is not there."] });
    throw error;
  }
}

/** Whole and with its mode from the first moment, and never over another one. */
function make(path: string): string {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeMasterKey(draft);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return read(path) ?? "";
}

function read(path: string): string | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  if (isMasterKey(text)) return text;
  throw new CliError(`${path} is not a master key: something has changed it`, {
    hints: [
      "Put it back from a copy. Without it the secrets of this service cannot be read; remove the file to begin with a new one, and give each its value again.",
    ],
  });
}
