import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { budgetOf } from "../../../src/executor/hosting/worker-executor.ts";
import { createRun, expectComplete, expectNumbersOfRows, type ResultRow, rowsOf, viewOf } from "../support/runs.ts";
import { neverAnswer, ScriptedModel } from "../support/scripted-model.ts";
import { pause, service, setVars, STEADY, until } from "../support/service.ts";

/** What keeps an executor within one invocation of the platform, none of which the local runtime would mind. */
let fleet: Fleet;
let model: ScriptedModel;

function begin(options: Partial<FleetOptions> = {}): void {
  model = new ScriptedModel({ latencyMs: 10 });
  fleet = new Fleet({ model, ...options });
}
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;

describe("model requests of one executor", () => {
  it("are no more than it carries, over all runs it serves", async () => {
    begin({ budget: { requests: 5 } });
    const configs = await Promise.all([8, 3, 0].map((max_concurrent) => createRun({ num_examples: 15, rollouts_per_example: 2, max_concurrent })));
    for (const { run_id } of configs) await fleet.settled(run_id);
    for (const config of configs) await expectComplete(config);
    expect(model.peak).toBeLessThanOrEqual(5);
    expect(model.total).toBe(90);
  });
});

describe("streamed answers", () => {
  it("hold a connection until their headers only, so that one executor carries several times more of them", async () => {
    begin({ executors: 1, budget: { requests: 2, connections: 2 } });
    model.options = { latencyMs: 60 };
    const whole = await createRun({ num_examples: 12, max_concurrent: 12 });
    await fleet.settled(whole.run_id);
    expect([model.peak, model.writing.most]).toEqual([2, 0]);
    const streamed = await createRun({ num_examples: 40, max_concurrent: 12, sampling_args: { max_tokens: null, stream: true } });
    await fleet.settled(streamed.run_id);
    expect((await rowsOf(streamed)).filter(({ error }) => error !== null)).toEqual([]);
    expect(model.peak).toBe(2);
    expect(model.writing.most).toBeGreaterThan(4);
    expect(model.writing.most).toBeLessThanOrEqual(8);
  });
});

describe("a slice that is over", () => {
  it.each([
    ["by its rollouts", { rollouts: 8 }],
    ["by its subrequests", { subrequests: 30 }],
    ["by its time", { slice: 60 }],
  ])("%s, ends at a unit border: others go on, and nothing is done twice", async (_, budget) => {
    begin({ budget: { requests: 4, ...budget } });
    const config = await createRun({ num_examples: 40, max_concurrent: 4 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.total).toBe(40);
    expect(fleet.executors.length).toBeGreaterThan(1);
    // No lease had to end: each gave back what it held.
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0 });
  });
});

describe("one request that never answers", () => {
  const hang = (): void => {
    let hung = false;
    const reply = (): Promise<never> | null => {
      if (hung) return null;
      hung = true;
      return neverAnswer();
    };
    model.options = { latencyMs: 10, reply };
  };

  it("keeps no new run of the local service waiting, however old its only executor is", async () => {
    begin({ executors: 1, budget: budgetOf({ ...service, LOCAL: "1" }, 100) });
    hang();
    await createRun({ num_examples: 1 });
    await until("the request", async () => model.inFlight === 1);
    await pause(200);
    const second = await createRun({ num_examples: 4 });
    await fleet.settled(second.run_id);
    await expectComplete(second);
    expect(model.inFlight).toBe(1);
  });

  it("holds no more of a full executor than itself, once that is to make room", async () => {
    begin({ executors: 1, budget: { requests: 4 } });
    hang();
    await createRun({ num_examples: 40, max_concurrent: 4 });
    await until("the request", async () => model.inFlight > 0);
    const second = await createRun({ num_examples: 4 });
    await fleet.settled(second.run_id);
    await expectComplete(second);
  });
});

describe("the end of an invocation", () => {
  it("gives up units that hang, a little before the platform would, and they are run by others", async () => {
    begin({ budget: { requests: 4, slice: 100, wall: 400 } });
    model.options = { reply: ({ example, attempt }) => (example < 4 && attempt === 1 ? neverAnswer() : null) };
    const config = await createRun({ num_examples: 12, max_concurrent: 4 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.inFlight).toBe(0);
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0 });
  });
});

describe("an invocation in which another unit would not be done", () => {
  it("begins none, and leaves them to others: nothing is asked for twice", async () => {
    begin({ executors: 1, budget: { requests: 1, slice: 3_900, wall: 4_000, unitDeadline: 3_900 } });
    model.options = { latencyMs: 1_500 };
    const config = await createRun({ num_examples: 3, max_concurrent: 1 });
    await fleet.settled(config.run_id, 20_000);
    await expectComplete(config);
    expect(model.total).toBe(3);
    expect(fleet.executors.length).toBeGreaterThan(1);
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0 });
  });
});

describe("the deadline of a unit", () => {
  it("ends it with timeout rows for what is not done", async () => {
    begin({ budget: { requests: 8, unitDeadline: 1_000 } });
    model.options = { reply: ({ example, attempt }) => (example === 3 && attempt === 2 ? neverAnswer() : null) };
    const config = await createRun({ num_examples: 6, rollouts_per_example: 2, max_concurrent: 8 });
    await fleet.settled(config.run_id);
    const rows = await rowsOf(config);
    expect(rows.map(codeOf).filter((code) => code !== null)).toEqual(["timeout"]);
    expect(rows.find((row) => codeOf(row) === "timeout")?.example_id).toBe(3);
    await expectNumbersOfRows(config);
    expect(model.inFlight).toBe(0);
  });
});

describe("an executor that finds nothing to do", () => {
  it("ends by itself", async () => {
    begin();
    const executor = fleet.start();
    await until("its end", async () => !executor.lives);
    expect(executor.logs).toEqual([]);
  });
});
