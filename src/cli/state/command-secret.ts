/**
 * The secret of a boot, in `secret` beside the lock: whoever can read it is a command of the user whose state this is, and no page, no other
 * user and no caller over HTTP. Such a command alone may say that a person waits at a terminal.
 */
import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readObject } from "../disk/json-file.ts";

const pathIn = (folder: string): string => join(folder, "secret");

/** Draws the secret of a boot that is about to start; called by the owner of the lock. */
export function drawCommandSecret(folder: string, bootId: string): string {
  const secret = randomBytes(32).toString("base64url");
  const draft = `${pathIn(folder)}.${process.pid}`;
  rmSync(draft, { force: true });
  // A new file (`wx`), so that its mode is this one from the first moment; renamed, so that it is whole.
  writeFileSync(draft, JSON.stringify({ version: 1, boot_id: bootId, secret }), { mode: 0o600, flag: "wx" });
  renameSync(draft, pathIn(folder));
  return secret;
}

/** Null when there is none of this boot. */
export function readCommandSecret(folder: string, bootId: string): string | null {
  const { boot_id, secret } = readObject(pathIn(folder)) ?? {};
  return boot_id === bootId && typeof secret === "string" ? secret : null;
}
