import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { pause, setVars, STEADY, until } from "../support/service.ts";

/** So much shorter are all waits: ten retries are over in half a second. */
const HASTE = 100;

let fleet: Fleet;
beforeEach(() => setVars({ ...STEADY, OUTAGE_MS: "30000" }));
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("an endpoint that goes away in the middle of a run", () => {
  it.each([
    ["takes no connections", () => Promise.reject(new TypeError("Network connection lost."))],
    ["has no server behind its gateway", async () => new Response("no healthy upstream", { status: 502 })],
  ])("%s for longer than ten retries last: no rollout is lost, and an executor that begins meanwhile waits too", async (_what, gone) => {
    let down = false;
    let refused = 0;
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 10 }),
      executors: 1,
      haste: HASTE,
      async onFetch({ send }) {
        if (down) {
          refused++;
          return await gone();
        }
        return await send();
      },
    });
    const config = await createRun({ num_examples: 400, max_concurrent: 8 });
    await until("rows that the run has", async () => (await viewOf(config.run_id)).units.done > 0);
    down = true;
    await until("refusals", async () => refused >= 4);
    fleet.start();
    await pause(2_500);
    down = false;
    expect(await fleet.settled(config.run_id, 90_000)).toMatchObject({ status: "COMPLETED", failure: null });
    await expectComplete(config);
    expect((await rowsOf(config)).every(({ error }) => error === null)).toBe(true);
  });
});
