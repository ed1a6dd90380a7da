import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxCreationError } from "../../errors/rollout-errors.ts";
import { ownerLives, ownerName } from "./owner.ts";

const isRoot = (): boolean => process.getuid?.() === 0;

/** Where processes of this user have what their sandboxes see of this machine. Root's run as somebody else, who must get there. */
const base = (): string => join(isRoot() ? "/tmp" : tmpdir(), `edgewise-sandboxes-${process.getuid?.() ?? "all"}`);

/** Makes the folder of this process's sandboxes, and gives its path. In a place that everybody may write to, a folder of that name may be somebody else's: then there are no sandboxes. */
export function ownFolder(): string {
  const [folder, own] = [base(), join(base(), ownerName())];
  // Passed through by who runs root's sandboxes, listed by nobody.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid))
    throw new SandboxCreationError(`${folder} is not a folder of this user: remove it, or set TMPDIR to another place`);
  for (const each of [folder, own]) {
    mkdirSync(each, { recursive: true });
    chmodSync(each, isRoot() ? 0o711 : 0o700);
  }
  return own;
}

/** Removes that folder, where there is one. */
export const removeOwnFolder = (): Promise<void> => rm(join(base(), ownerName()), { recursive: true, force: true });

/** Removes what processes that are no more left there. */
export async function sweepFolders(): Promise<void> {
  let names: readonly string[];
  try {
    names = readdirSync(base());
  } catch {
    return;
  }
  for (const name of names) if (!ownerLives(name)) await rm(join(base(), name), { recursive: true, force: true }).catch(() => undefined);
}
