import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

const LOOK_MS = 5000;
/** Below this the next rows or transactions may fail, and a run on a full disk stands still until there is room. */
const LOW_BYTES = 32 * 1024 * 1024;

/** Says once when the disk that holds `folder` is nearly full. The answer ends the watch. */
export function watchDisk(folder: string, tell: (line: string) => void): () => void {
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  const look = async (): Promise<void> => {
    try {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize >= LOW_BYTES) return;
      clearInterval(timer);
      tell(`warning: ${((bavail * bsize) / 1e6).toFixed(1)} MB are left on the disk of ${folder}; when it is full, runs stand still until there is room`);
    } catch {
      // Not every file system says how full it is.
      clearInterval(timer);
    }
  };
  return () => clearInterval(timer);
}

/** Bytes that are free on the disk of `folder` when they are so few that writing may fail; null when there is room, or nobody knows. */
export function scarceBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < LOW_BYTES ? bavail * bsize : null;
  } catch {
    return null;
  }
}
