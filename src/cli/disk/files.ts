import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { systemCode } from "../terminal/cli-error.ts";

/** Name of the file that becomes `path` by renaming; the process number keeps two processes apart. */
export const draftOf = (path: string): string => `${path}.${process.pid}.tmp`;

/** Replaces a file so that a reader, or a crash, sees the old content or the new one and never a part. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, content);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A folder with those above it. Node's own way to make them does not end where a folder takes none, as `/proc` does. */
export function makeFolder(path: string): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it a moment before.
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** The first `bytes` bytes of a file: a file that grows meanwhile does not change what is read. */
export const firstBytes = (path: string, bytes: number): Readable => (bytes === 0 ? Readable.from([]) : createReadStream(path, { end: bytes - 1 }));
