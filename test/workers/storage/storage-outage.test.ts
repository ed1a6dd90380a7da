import { reset } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { type Call, Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { pause, QUICK, setVars, until } from "../support/service.ts";

let fleet: Fleet;
let model: ScriptedModel;
const outage = { on: false, refused: 0 };

function begin(options: Partial<FleetOptions> = {}): void {
  model = new ScriptedModel({ latencyMs: 20 });
  const hook = (call: Call): Promise<unknown> => {
    if (!outage.on) return call.send();
    outage.refused++;
    return Promise.reject(new Error("database or disk is full: SQLITE_FULL"));
  };
  fleet = new Fleet({ model, onRun: hook, onStore: hook, ...options });
}

afterEach(async () => {
  outage.on = false;
  await fleet.close();
  await reset();
});

describe("an outage of everything that stores", () => {
  it("that is longer than a lease costs no answer twice: what was finished is committed under the next grant", async () => {
    setVars(QUICK);
    begin();
    const config = await createRun({ num_examples: 60, max_concurrent: 4 });
    await until("some units done", async () => (await viewOf(config.run_id)).units.done >= 8);
    outage.on = true;
    // Lease and grace are a second: the grant ends, and with it what was under way.
    await until("the model to be left alone", async () => {
      const before = model.total;
      await pause(400);
      return model.total === before && model.inFlight === 0;
    });
    const before = model.total;
    expect(before).toBeLessThan(60);
    await pause(1_500);
    expect(model.total).toBe(before);
    expect(outage.refused).toBeGreaterThan(3);
    outage.on = false;
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.total).toBe(60);
    expect(fleet.executors.length).toBe(1);
  });
});
