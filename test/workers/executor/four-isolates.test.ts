import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fleet, type Invocation } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { setVars, STEADY } from "../support/service.ts";

let fleet: Fleet;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

/** Requests under way of each executor, by the model that its run names: here each run has one. */
class UnderWay {
  /** The most different models at once of one executor. */
  most = 0;
  readonly #byExecutor = new Map<Invocation, Map<string, number>>();

  async during<T>(by: Invocation, model: string, work: () => Promise<T>): Promise<T> {
    const counts = this.#byExecutor.get(by) ?? new Map<string, number>();
    this.#byExecutor.set(by, counts);
    counts.set(model, (counts.get(model) ?? 0) + 1);
    this.most = Math.max(this.most, [...counts.values()].filter((count) => count > 0).length);
    try {
      return await work();
    } finally {
      counts.set(model, (counts.get(model) ?? 1) - 1);
    }
  }
}

const modelOf = (body: unknown): string => String((JSON.parse(String(body)) as { model: unknown }).model);

describe("runs whose environments have isolates of their own", () => {
  it.each([1, 2])("are served four different ones at a time by an executor (%i executors), and all of them end", async (executors) => {
    const underWay = new UnderWay();
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 15 }),
      executors,
      budget: { requests: 64 },
      onFetch: ({ by, args: [, init], send }) => underWay.during(by, modelOf((init as RequestInit).body), send),
    });
    const walls = ["w1", "w2", "w3", "w4", "w5", "w6"];
    const runs = await Promise.all(walls.map((wall) => createRun({ wall, model: wall, num_examples: 12, max_concurrent: 4 })));
    for (let index = 0; index < executors; index++) fleet.start();
    for (const { run_id } of runs) await fleet.settled(run_id);
    for (const config of runs) await expectComplete(config);
    expect(underWay.most).toBeLessThanOrEqual(4);
    expect(underWay.most).toBeGreaterThan(1);
  });

  it("leave room for every run that needs one of the four, or none", async () => {
    const few = ["w1", "w2", "w3", "w4", "w1"].map((wall, at) => ({ wall, model: `m${at}` }));
    const asked = new Set<string>();
    const together = Promise.withResolvers<void>();
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 1 }),
      executors: 1,
      budget: { requests: 64 },
      // Nobody is answered before all six have asked: a run that had to wait for another would wait for ever.
      onFetch: async ({ args: [, init], send }) => {
        asked.add(modelOf((init as RequestInit).body));
        if (asked.size === few.length + 1) together.resolve();
        await together.promise;
        return send();
      },
    });
    const runs = await Promise.all([...few, { model: "none" }].map((each) => createRun({ ...each, num_examples: 4, max_concurrent: 4 })));
    fleet.start();
    for (const { run_id } of runs) await fleet.settled(run_id);
    expect(asked.size).toBe(6);
  });
});
