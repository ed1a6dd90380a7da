import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

const LOOK_MS = 2000;
/** Below this the next rows or transactions may fail, and a run on a full disk stands still until there is room. */
const LOW_BYTES = 32 * 1024 * 1024;

/** Below this no segment of rows may fit, and what a database needs beside it. */
const FULL_BYTES = 512 * 1024;

/**
 * Says when the disk that holds `folder` is nearly full, when it is full, and when there is room again. Once each, the last two each
 * time it happens. The answer ends the watch.
 */
export function watchDisk(folder: string, tell: (line: string) => void, lookMs = LOOK_MS): () => void {
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();
  let warned = false;
  let full = false;
  const look = async (): Promise<void> => {
    try {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      if (!full && free < FULL_BYTES) {
        full = warned = true;
        tell(`warning: state disk is full: ${megabytes(free)} are left for ${folder}; waiting for room. No model is asked while rows cannot be stored`);
      } else if (full && free >= FULL_BYTES) {
        full = false;
        tell(`There is room again for ${folder} (${megabytes(free)}); runs go on`);
      } else if (!warned && free < LOW_BYTES) {
        warned = true;
        tell(`warning: ${megabytes(free)} are left on the disk of ${folder}; when it is full, runs stand still until there is room`);
      }
    } catch {
      // Not every file system says how full it is.
      clearInterval(timer);
    }
  };
  return () => clearInterval(timer);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Bytes that are free on the disk of `folder` when they are so few that writing may fail; null when there is room, or nobody knows. */
export function scarceBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < LOW_BYTES ? bavail * bsize : null;
  } catch {
    return null;
  }
}
