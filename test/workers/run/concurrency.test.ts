import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Call, Fleet, type Invocation } from "../support/fleet.ts";
import { modelServer } from "../support/model-server.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { QUICK, setVars, STEADY, until } from "../support/service.ts";

/** Counted where it matters: at a model server outside, which also sees the requests of an executor that nobody hears of any more. */
let fleet: Fleet;

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("requests in flight at the model server", () => {
  it.each([
    // max_concurrent, rollouts per example, examples, requests each of three executors can carry
    [32, 4, 24, 16],
    [9, 4, 12, 5],
    [2, 8, 3, 2],
    [6, 64, 6, 2],
    [6, 64, 2, 64],
    [7, 1, 40, 64],
  ])("are never more than %i, with %i rollouts per example", async (max_concurrent, rollouts_per_example, num_examples, requests) => {
    const model = `c${max_concurrent}-r${rollouts_per_example}-e${requests}`;
    await modelServer.play({ latency_ms: [15, 30] });
    fleet = new Fleet({ model: modelServer, executors: 3, budget: { requests } });
    const config = await createRun({ model, base_url: modelServer.baseUrl, max_concurrent, rollouts_per_example, num_examples });
    // All three from the beginning, whatever the Dispatcher thinks is needed.
    for (let index = 0; index < 3; index++) fleet.start();
    await fleet.settled(config.run_id);
    await expectComplete(config);
    const stats = await modelServer.stats(model);
    expect(stats.total).toBe(num_examples * rollouts_per_example);
    expect(stats.peak_in_flight).toBeLessThanOrEqual(max_concurrent);
    expect(stats.peak_in_flight).toBeGreaterThanOrEqual(max_concurrent / 2);
  });

  it("are limited by what the executors can carry where that is less", async () => {
    await modelServer.play({ latency_ms: [15, 30] });
    fleet = new Fleet({ model: modelServer, executors: 3, budget: { requests: 2 } });
    const config = await createRun({ model: "few", base_url: modelServer.baseUrl, max_concurrent: 32, rollouts_per_example: 4, num_examples: 6 });
    for (let index = 0; index < 3; index++) fleet.start();
    await fleet.settled(config.run_id);
    expect((await modelServer.stats("few")).peak_in_flight).toBeLessThanOrEqual(6);
  });

  it.each([
    [4, 1],
    [6, 4],
  ])("are never more than %i (r = %i) while an executor that is cut off still has some open", async (max_concurrent, rollouts_per_example) => {
    // The server counts in another process, which may be late to see that a request was given up.
    setVars({ ...QUICK, LEASE_MS: "1600", LEASE_MARGIN_MS: "600", GRACE_MS: "900" });
    const model = `lapse-${max_concurrent}`;
    await modelServer.play({ faults: [{ when: { nth: Array.from({ length: max_concurrent }, (_, n) => n + 1) }, fault: { kind: "never" } }] });
    let cutOff: Invocation | null = null;
    fleet = new Fleet({
      model: modelServer,
      executors: 3,
      budget: { requests: max_concurrent },
      onRun: async (call: Call) => {
        if (call.by === cutOff) throw new Error("no network");
        const answer = await call.send();
        if (call.method === "claim") cutOff ??= call.by;
        return answer;
      },
    });
    const config = await createRun({ model, base_url: modelServer.baseUrl, max_concurrent, rollouts_per_example, num_examples: 8 });
    await until("all requests to hang", async () => (await modelServer.stats(model)).in_flight === max_concurrent);
    // The executor is alive and holds its requests; the Run hears nothing of it.
    await fleet.settled(config.run_id);
    await expectComplete(config);
    const stats = await modelServer.stats(model);
    expect(stats.outcomes.aborted).toBeGreaterThanOrEqual(max_concurrent);
    expect(stats.peak_in_flight).toBe(max_concurrent);
    expect((await viewOf(config.run_id)).lapses).toBeGreaterThan(0);
  });
});
