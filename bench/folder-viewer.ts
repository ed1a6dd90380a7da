import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { peakOf } from "./peak-memory.ts";
import { startCommand, type Workplace } from "./edgewise-process.ts";

/** `edgewise eval view --web` of a folder, which has not yet read any of it. */
export interface FolderViewer {
  readonly url: string;
  /** Resident memory of the command at its highest so far, in bytes. */
  peakMemory(): number;
  close(): Promise<void>;
}

const PATIENCE_MS = 30_000;
const POLL_MS = 20;

export async function startViewer(place: Workplace, folder: string): Promise<FolderViewer> {
  const log = join(place.folder, `view-${performance.now()}.log`);
  const child = startCommand(place, ["eval", "view", "--web", "--print", folder], log);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const said = readFileSync(log, "utf8");
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    if (url !== undefined) {
      return {
        url,
        peakMemory: () => peakOf(child.pid ?? 0),
        close: async () => {
          const gone = once(child, "exit");
          child.kill("SIGTERM");
          await gone;
        },
      };
    }
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`edgewise eval view --web did not start:\n${said.slice(-2000)}`);
    await sleep(POLL_MS);
  }
}
