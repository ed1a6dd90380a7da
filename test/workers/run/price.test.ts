import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { outputKey } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { operations, type Operations } from "../../../src/operations.ts";
import { heartbeatsAt } from "../../support/model-server/heartbeats-seen.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY, until } from "../support/service.ts";

/** Rows written are what the platform bill consists of; all objects run in this isolate, so that the counts are complete. */
let fleet: Fleet;

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

async function priceOf(
  examples: number,
  requests: number,
  { latencyMs = 0, ...changes }: Partial<RunConfig> & { latencyMs?: number } = {},
): Promise<Operations> {
  const before = operations();
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs }), budget: { requests } });
  const config = await createRun({ num_examples: examples, max_concurrent: requests, ...changes });
  // Not by asking the Run, which would count.
  const metadata = outputKey(config.env_id, config.model, config.run_id, "metadata.json");
  await until("the final files", () => service.BUCKET.head(metadata));
  await fleet.settled(config.run_id);
  const after = operations();
  await expectComplete(config);
  const entries = Object.entries(after) as [keyof Operations, number][];
  return Object.fromEntries(entries.map(([name, count]) => [name, (count - before[name]) / examples])) as Operations;
}

describe("the price of a run, per rollout at r = 1", () => {
  it("is at most one and a half rows written, and a fraction of everything else", async () => {
    const price = await priceOf(1_000, 128);
    expect(price.do_rows_written).toBeLessThanOrEqual(1.5);
    // Fewer than one row for each rollout would mean that some are not counted.
    expect(price.do_rows_written).toBeGreaterThanOrEqual(1);
    expect(price.do_requests).toBeLessThan(0.15);
    expect(price.r2_class_a + price.r2_class_b).toBeLessThan(0.1);
    expect(price.queue_operations).toBeLessThan(0.1);
  });

  it("is no more with the few requests that one deployed executor carries", async () => {
    expect((await priceOf(500, 5)).do_rows_written).toBeLessThanOrEqual(1.5);
  });

  it("is no more with heartbeats, at each commit and by the clock", async () => {
    setVars({ HEARTBEAT_MS: "500" });
    const heartbeat_url = `${inject("heartbeatServerUrl")}/ping/price`;
    const begin = performance.now();
    const price = await priceOf(500, 5, { heartbeat_url, latencyMs: 20 });
    const seconds = (performance.now() - begin) / 1_000;
    expect((await heartbeatsAt(inject("heartbeatServerUrl"), "price")).total).toBeGreaterThan(3);
    // What is written by the clock (commits, beats, alarms: some 18 rows a second) is more where a busy machine makes the run last.
    expect(price.do_rows_written).toBeLessThanOrEqual(1.5 + (20 * seconds) / 500);
  });
});
