import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { SseParser } from "../../../src/cli/connection/sse.ts";
import type { Env } from "../../../src/env.ts";
import { operations } from "../../../src/operations.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY } from "../support/service.ts";

const app = createApp(portsOf);
const FOLLOWERS = 200;
const EXAMPLES = 60;
const LATENCY_MS = 100;

let fleet: Fleet | null = null;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  await reset();
});

/** One stream from its beginning to the end of the run, or until `leave` says so. */
async function follow(
  runId: string,
  leave: (rollouts: number) => boolean = () => false,
): Promise<{ readonly seqs: number[]; readonly rollouts: number; readonly ended: boolean }> {
  const local = { ...service, LOCAL: "1", BOOT_ID: "boot", EVENTS_POLL_MS: "50" } as Env;
  const response = await app.request(`http://localhost/api/v1/evaluations/${runId}/events`, {}, local);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const [parser, decoder] = [new SseParser(), new TextDecoder()];
  const seqs: number[] = [];
  let rollouts = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { seqs, rollouts, ended: false };
    for (const { event, id, data } of parser.push(decoder.decode(value, { stream: true }))) {
      if (event === "end") return { seqs, rollouts, ended: true };
      if (event !== "commit" && event !== "log") continue;
      seqs.push(Number(id));
      if (event === "commit") rollouts += (JSON.parse(data) as { rollouts: number }).rollouts;
    }
    if (leave(rollouts)) {
      await reader.cancel();
      return { seqs, rollouts, ended: false };
    }
  }
}

it("two hundred followers of one run are each told everything, for a few looks at it", async () => {
  const config = await createRun({ num_examples: EXAMPLES, max_concurrent: 4 });
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: LATENCY_MS }) });
  // Every fourth leaves early, which may be the one that looks for the others.
  const all = Array.from({ length: FOLLOWERS }, (_, index) => follow(config.run_id, index % 4 === 0 ? (rollouts) => rollouts >= 4 : undefined));
  const before = operations();
  const told = await Promise.all(all);
  const calls = operations().do_requests - before.do_requests;
  for (const [index, { seqs, rollouts, ended }] of told.entries()) {
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
    if (index % 4 !== 0) expect([rollouts, ended]).toEqual([EXAMPLES, true]);
  }
  // Two to open each stream, and what the run itself takes; a stream that looked by itself would make some twenty a second.
  expect(calls).toBeLessThan(2 * FOLLOWERS + 600);
});
