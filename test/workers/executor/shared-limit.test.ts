import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limiterStub } from "../../../durable-objects/stubs.ts";
import { limiterName } from "../../../src/endpoint-limits/limiter-name.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, service, setVars, until } from "../support/service.ts";

const LIMIT = 4;
const KEY = "sk-shared";

let fleet: Fleet;
let model: ScriptedModel;
beforeEach(() => {
  setVars(QUICK);
  Object.assign(service, { TEST_KEY: KEY });
  model = new ScriptedModel({ latencyMs: 25 });
  fleet = new Fleet({ model, executors: 3, budget: { requests: 8 } });
});
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("executors of one isolate", () => {
  it("keep to a limit together, those of two runs and one that is killed among them; what that had comes back", { timeout: 90_000 }, async () => {
    const settings = {
      num_examples: 60,
      rollouts_per_example: 2,
      max_concurrent: 12,
      limits: [{ base_url: "http://127.0.0.1:9/v1", limits: { concurrent: LIMIT } }],
    };
    const configs = [await createRun(settings), await createRun(settings)];
    await until("half of one run", async () => model.total >= 60, 40_000);
    expect(fleet.living.length).toBeGreaterThan(1);
    fleet.living[0]?.kill();
    for (const { run_id } of configs) await fleet.settled(run_id, 60_000);
    for (const config of configs) await expectComplete(config);
    expect(model.peak).toBe(LIMIT);
    const { base_url, model: model_class } = configs[0] as (typeof configs)[number];
    const limiter = limiterStub(service, await limiterName({ base_url, key: KEY, model_class }));
    // Whoever has ended has said so, and whoever was killed is forgotten with its lease.
    const view = await until("all to have left", async () => {
      const seen = await limiter?.view(null);
      return seen?.users.length === 0 ? seen : null;
    });
    expect(view).toMatchObject({ in_flight: 0, waiting: 0, place: { base_url, api_key_var: "TEST_KEY", model_class } });
  });
});
