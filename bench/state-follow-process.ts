/** `state-follow-process.ts URL RUN COUNT`: so many open pages of one run, as far as the service knows of them, in a process of their own; prints what they saw as JSON. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readEvents } from "../src/cli/connection/sse.ts";

export interface StatesSeen {
  /** Pages that were told that the run has settled. */
  readonly complete: number;
  /** States that all of them got together, and the characters of one on average. */
  readonly states: number;
  readonly characters: number;
  /** Milliseconds from what changed in the run to each state that tells of it, ascending. */
  readonly late: readonly number[];
  /** When what a state tells of had changed in the run, in Unix milliseconds, by the finished rollouts that it says; without states that tell of no change. */
  readonly changed: Readonly<Record<string, number>>;
  /** Processor time of the pages, in seconds: what a real one takes of a machine of its own. */
  readonly processor: number;
}

export interface StateFollowers {
  /** Waits until all have come to the end of the run. */
  seen(): Promise<StatesSeen>;
}

/** Resolves when all are connected. */
export async function startStateFollowers(url: string, runId: string, count: number): Promise<StateFollowers> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), url, runId, String(count)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = once(child, "close");
  while (!text.includes("\n") && child.exitCode === null) await sleep(10);
  return {
    seen: async () => {
      await ended;
      return JSON.parse(text.trim().split("\n").at(-1) ?? "") as StatesSeen;
    },
  };
}

interface FullState {
  readonly updated_at: string;
  readonly edgewise: { readonly finished_rollouts: number };
}

interface One {
  states: number;
  characters: number;
  readonly late: number[];
  readonly changed: Map<number, number>;
}

/** One page, over as many connections as it takes. */
async function follow(url: string, runId: string, connected: () => void): Promise<One> {
  const one: One = { states: 0, characters: 0, late: [], changed: new Map() };
  let [updated, wait] = ["", 100];
  for (;;) {
    const response = await fetch(`${url}/api/v1/evaluation-states?ids=${runId}&full=true`);
    if (!response.ok || response.body === null) throw new Error(`states: ${response.status}`);
    connected();
    const stream = readEvents(response.body as AsyncIterable<Uint8Array>, (ms) => {
      wait = ms;
    });
    for await (const { event, data } of stream) {
      if (event === "end") return one;
      if (event !== "state") continue;
      const now = performance.timeOrigin + performance.now();
      one.states++;
      one.characters += data.length;
      const { updated_at, edgewise } = JSON.parse(data) as FullState;
      // What only executors said of their requests changes nothing in the run. The first one tells of what was before.
      if (updated !== "" && updated_at !== updated) {
        one.late.push(now - Date.parse(updated_at));
        one.changed.set(edgewise.finished_rollouts, Date.parse(updated_at));
      }
      updated = updated_at;
    }
    await sleep(wait);
  }
}

if (import.meta.main) {
  const [, , url = "", runId = "", count = ""] = process.argv;
  const waiting = new Set(Array.from({ length: Number(count) }, (_, index) => index));
  const all = await Promise.all(
    [...waiting].map((index) =>
      follow(url, runId, () => {
        if (waiting.delete(index) && waiting.size === 0) console.log("connected");
      }),
    ),
  );
  const states = all.reduce((sum, each) => sum + each.states, 0);
  const cpu = process.cpuUsage();
  const seen: StatesSeen = {
    complete: all.length,
    states,
    characters: all.reduce((sum, each) => sum + each.characters, 0) / states,
    late: all.flatMap(({ late }) => late).sort((a, b) => a - b),
    changed: Object.fromEntries(all.flatMap(({ changed }) => [...changed])),
    processor: (cpu.user + cpu.system) / 1e6,
  };
  console.log(JSON.stringify(seen));
}
