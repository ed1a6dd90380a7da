/** `follow-process.ts URL RUN COUNT`: so many viewers of one run's events, in a process of their own; prints what they saw as JSON. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { readEvents } from "../src/cli/connection/sse.ts";

export interface Seen {
  readonly followers: number;
  /** Followers that were told every rollout, and the end. */
  readonly complete: number;
  /** Events all of them got together. */
  readonly events: number;
}

export interface FollowProcess {
  /** Waits until all have come to the end of the run. */
  seen(): Promise<Seen>;
}

export async function startFollowers(url: string, runId: string, count: number, rollouts: number): Promise<FollowProcess> {
  const args = [fileURLToPath(import.meta.url), url, runId, String(count), String(rollouts)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = once(child, "close");
  // The first line says that all are connected.
  while (!text.includes("\n") && child.exitCode === null) await sleep(10);
  return {
    seen: async () => {
      await ended;
      return JSON.parse(text.trim().split("\n").at(-1) ?? "") as Seen;
    },
  };
}

/** One viewer, over as many connections as it takes. */
async function follow(url: string, runId: string, connected: () => void): Promise<{ readonly rollouts: number; readonly events: number }> {
  let [seq, rollouts, events, wait] = [0, 0, 0, 100];
  for (;;) {
    const response = await fetch(`${url}/api/v1/evaluations/${runId}/events?after=${seq}`);
    if (!response.ok || response.body === null) throw new Error(`events: ${response.status}`);
    connected();
    const stream = readEvents(response.body as AsyncIterable<Uint8Array>, (ms) => {
      wait = ms;
    });
    for await (const { event, data, id } of stream) {
      events++;
      if (event === "end") return { rollouts, events };
      if (event !== "commit" && event !== "log") continue;
      if (Number(id) !== seq + 1) throw new Error(`event ${id} after ${seq}`);
      seq = Number(id);
      if (event === "commit") rollouts += (JSON.parse(data) as { rollouts: number }).rollouts;
    }
    await sleep(wait);
  }
}

if (import.meta.main) {
  const [, , url = "", runId = "", count = "", rollouts = ""] = process.argv;
  const followers = Number(count);
  const waiting = new Set(Array.from({ length: followers }, (_, index) => index));
  const all = await Promise.all(
    [...waiting].map((index) =>
      follow(url, runId, () => {
        if (waiting.delete(index) && waiting.size === 0) console.log("connected");
      }),
    ),
  );
  const seen: Seen = {
    followers,
    complete: all.filter((each) => each.rollouts === Number(rollouts)).length,
    events: all.reduce((sum, each) => sum + each.events, 0),
  };
  console.log(JSON.stringify(seen));
}
