import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { LimitedFigures } from "../test/support/model-server/limited/limited-gate.ts";
import type { Stats } from "../test/support/model-server/model-ledger.ts";
import type { ScriptInput } from "../test/support/model-server/model-script.ts";

/** The scripted model server in a process of its own, so that it does not share a thread with what is measured. */
export interface ModelProcess {
  readonly url: string;
  /** Requests of one model since the last `clear`, or of all. */
  stats(model?: string): Promise<Stats>;
  clear(): Promise<void>;
  /** Plays another script from here on. */
  play(script: ScriptInput): Promise<void>;
  /** What a script with limits took and refused in `[from, to)`, milliseconds since it was set. */
  limited(from: number, to: number): Promise<LimitedFigures>;
  close(): Promise<void>;
}

export async function startModelProcess(latencyMs = 0): Promise<ModelProcess> {
  const path = fileURLToPath(new URL("../test/support/model-server/model-server-cli.ts", import.meta.url));
  const child = spawn(process.execPath, [path, "--latency-ms", String(latencyMs)], { stdio: ["pipe", "pipe", "inherit"] });
  const { url, control_url: control } = JSON.parse(await firstLine(child)) as { url: string; control_url: string };
  return {
    url,
    stats: async (model) => (await (await fetch(`${control}/stats${model === undefined ? "" : `?model=${encodeURIComponent(model)}`}`)).json()) as Stats,
    clear: async () => {
      await fetch(`${control}/stats`, { method: "DELETE" });
    },
    play: async (script) => {
      const answer = await fetch(`${control}/script`, { method: "POST", body: JSON.stringify(script) });
      if (!answer.ok) throw new Error(`script: ${await answer.text()}`);
    },
    limited: async (from, to) => (await (await fetch(`${control}/limited?from=${from}&to=${to}`)).json()) as LimitedFigures,
    close: async () => {
      const gone = once(child, "exit");
      child.stdin?.end();
      await gone;
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the model server has no standard output");
  const lines = createInterface(stdout);
  const [line] = (await once(lines, "line", { signal: AbortSignal.timeout(10_000) })) as [string];
  return line;
}

/** Milliseconds from the first request to the end of the last. */
export function spanOf({ first_start_ms: first, last_end_ms: last }: Stats): number {
  if (first === null || last === null) throw new Error("the model server was not asked anything");
  return last - first;
}
