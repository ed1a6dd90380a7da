import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Steering } from "../../../durable-objects/run/protocol.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, expectNumbersOfRows, viewOf } from "../support/runs.ts";
import { type ModelCall, type Reply, ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, setVars, STEADY, until } from "../support/service.ts";

let fleet: Fleet;
let model: ScriptedModel;

function begin(reply: (call: ModelCall) => Reply | Promise<Reply>, options: Partial<FleetOptions> = {}): void {
  model = new ScriptedModel({ latencyMs: 2, reply });
  fleet = new Fleet({ model, ...options });
}

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

describe("a run that works", () => {
  it("takes a higher limit in its live grants, and a lower one as requests end", async () => {
    const waiting: (() => void)[] = [];
    begin(() => new Promise((resolve) => waiting.push(() => resolve(null))));
    const config = await createRun({ num_examples: 24, max_concurrent: 2 });
    await until("two requests", async () => model.inFlight === 2);
    expect(await run(config.run_id).steer({ kind: "set", settings: { max_concurrent: 4 } })).toMatchObject({ ok: true });
    await until("four requests", async () => model.inFlight === 4);
    expect(await run(config.run_id).steer({ kind: "set", settings: { max_concurrent: 1 } })).toMatchObject({ ok: true });
    // Heard of, so that what ends makes no room.
    const answerOne = (): void => waiting.shift()?.();
    await until("one request", async () => {
      if (model.inFlight > 1) answerOne();
      return model.inFlight === 1;
    });
    expect((await viewOf(config.run_id)).config.max_concurrent).toBe(1);
    await until("its end", async () => {
      answerOne();
      return (await viewOf(config.run_id)).phase === "settled";
    });
    await expectComplete(config);
    expect(model.total).toBe(24);
  });

  it("is paused: what is in flight is answered and counts, nothing begins, and it goes on where it was", async () => {
    const gate = Promise.withResolvers<null>();
    let told = false;
    begin((call) => (call.example < 8 ? null : gate.promise), {
      onRun: async ({ send }) => {
        const answer = await send();
        if ((answer as Steering | null)?.allows?.requests === 0) told = true;
        return answer;
      },
    });
    const config = await createRun({ num_examples: 40, max_concurrent: 4 });
    await until("four open units after eight done", async () => model.inFlight === 4 && model.calls.size === 12);
    expect(await run(config.run_id).steer({ kind: "pause" })).toMatchObject({ ok: true, value: { status: "RUNNING", paused: { at: expect.any(Number) } } });
    await until("its executor to hear of it", async () => told);
    gate.resolve(null);
    await until("no grant", async () => (await viewOf(config.run_id)).executors === 0);
    expect([model.total, (await viewOf(config.run_id)).units.done]).toEqual([12, 12]);
    expect(await run(config.run_id).steer({ kind: "continue" })).toMatchObject({ ok: true });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    await expectNumbersOfRows(config);
    expect(model.total).toBe(40);
  });
});
