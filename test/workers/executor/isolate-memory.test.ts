import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { budgetOf, portsOf } from "../../../src/executor/hosting/worker-executor.ts";
import { IsolateBytes } from "../../../src/executor/isolate-bytes.ts";
import { MIB } from "../../../src/limits.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY } from "../support/service.ts";

const [EXECUTORS, REQUESTS] = [4, 4];
/** Half of what the rows in the making are alone, before any is buffered or on its way. */
const BUDGET = 8 * MIB;
const ROW = "x".repeat(MIB);

let fleet: Fleet;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("executors of one isolate", () => {
  it("hold no more together than its memory allows, with rows of a megabyte, and none waits for another for ever", { timeout: 60_000 }, async () => {
    const isolate = new IsolateBytes(BUDGET);
    const model = new ScriptedModel({ latencyMs: 20, reply: () => ROW });
    let peak = 0;
    const watch = async ({ send }: { readonly send: () => Promise<unknown> }): Promise<unknown> => {
      peak = Math.max(peak, isolate.held);
      return send();
    };
    // Deployed a segment of a slow model waits for company: here it would, were its memory not wanted.
    const budget = { ...budgetOf(service), requests: REQUESTS };
    fleet = new Fleet({ model, executors: EXECUTORS, budget, bytes: isolate, onStore: watch, onRun: watch, onFetch: watch });
    const configs = await Promise.all([1, 2].map(() => createRun({ num_examples: 16, max_concurrent: EXECUTORS * REQUESTS })));
    for (const { run_id } of configs) isolate.learn(run_id, 1.01 * MIB);
    for (const config of configs) {
      await fleet.settled(config.run_id, 50_000);
      await expectComplete(config);
      expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0 });
    }
    expect(fleet.executors.length).toBeGreaterThan(2);
    expect(peak).toBeGreaterThan(BUDGET / 2);
    // Inputs are in memory before they are counted.
    expect(peak).toBeLessThanOrEqual(BUDGET + MIB);
    expect(model.total).toBe(32);
    for (const { ended } of fleet.executors) await ended;
    expect(isolate.held).toBe(0);
  });

  it("share one memory, whichever invocation they are in; the local service has that of its machine", () => {
    fleet = new Fleet({ model: new ScriptedModel() });
    const [a, b, local] = [portsOf(service), portsOf(service), portsOf({ ...service, LOCAL: "1" })];
    expect(a.bytes.isolate).toBe(b.bytes.isolate);
    expect(a.bytes.isolate.isBounded).toBe(true);
    expect(local.bytes.isolate.isBounded).toBe(false);
    a.bytes.close();
    b.bytes.close();
    local.bytes.close();
  });
});
