import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { setVars, STEADY } from "../support/service.ts";

let fleet: Fleet;

beforeEach(() => setVars({ ...STEADY, SPAN_ROLLOUTS: "" }));
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("an example of 64 rollouts before executors of five requests", () => {
  it("is run by as many as there are requests for, each rollout once, and its rows are whole", async () => {
    const model = new ScriptedModel({ latencyMs: 300 });
    fleet = new Fleet({ model, executors: 4, budget: { requests: 5 } });
    const config = await createRun({ num_examples: 1, rollouts_per_example: 64, max_concurrent: 20 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.total).toBe(64);
    expect(model.peak).toBeLessThanOrEqual(20);
    // One executor alone has no more than five.
    expect(model.peak).toBeGreaterThan(10);
  });

  it("goes out whole where spans are to be larger than half of it: SPAN_ROLLOUTS of the service", async () => {
    setVars({ SPAN_ROLLOUTS: "33" });
    const model = new ScriptedModel({ latencyMs: 30 });
    fleet = new Fleet({ model, executors: 4, budget: { requests: 5 } });
    const config = await createRun({ num_examples: 1, rollouts_per_example: 64, max_concurrent: 20 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect([model.total, model.peak]).toEqual([64, 5]);
  });
});
