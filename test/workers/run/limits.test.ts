import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { JudgeRubric } from "../../../src/rubrics/judge-rubric.ts";
import { type Call, Fleet } from "../support/fleet.ts";
import { modelServer } from "../support/model-server.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { run, service, setVars, STEADY, until } from "../support/service.ts";

const JUDGE = "https://judge.example/v1";
/** The place of the judge, which must be a public one, is the model server's in fact. */
const model = { fetch: (url: string, init: RequestInit) => modelServer.fetch(url.replace(JUDGE, modelServer.baseUrl), init) };

/** Its judge is asked at the same server, under a name of its own, where both are counted. */
const judged = defineEnvironment({
  id: "judged",
  version: "1.0.0",
  description: "Short answers, read by a judge.",
  args: z.object({ judge: z.string(), concurrency: z.int().optional() }),
  load({ judge: judgeModel, concurrency }, { client }) {
    const judgeClient = client({ base_url: JUDGE, api_key_var: "JUDGE_KEY" });
    const rubric = new JudgeRubric([{ name: "read", fn: async ({ judge, prompt, completion, answer }) => (await judge(prompt, completion, answer)).length }], {
      judgeClient,
      judgeModel,
    });
    const environment = new SingleTurnEnv({ dataset: Array.from({ length: 40 }, (_, n) => ({ question: `number ${n}`, answer: String(n) })), rubric });
    if (concurrency !== undefined) environment.setConcurrency(concurrency);
    return environment;
  },
});

let fleet: Fleet;
beforeEach(async () => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model", JUDGE_KEY: "j-judge", KEY_VARS: "*_API_KEY,JUDGE_KEY@judge.example" });
  registerEnvironments([judged]);
  await modelServer.play({ latency_ms: [15, 30] });
});
afterEach(async () => {
  await fleet.close();
  await reset();
});
afterAll(() => registerEnvironments([]));

/** Which of the two was asked, in the order in which requests began (`+`) and ended (`-`). */
class Order {
  readonly seen: string[] = [];
  readonly hook = async (call: Call): Promise<unknown> => {
    const { model } = JSON.parse(String((call.args[1] as RequestInit).body)) as { model: string };
    const who = model.endsWith("-judge") ? "judge" : "model";
    this.seen.push(`+${who}`);
    const response = await call.send();
    this.seen.push(`-${who}`);
    return response;
  };
  /** The same with repeats left out. */
  get phases(): string[] {
    return this.seen.map((each) => each.slice(1)).filter((who, index, all) => who !== all[index - 1]);
  }
}

async function play(
  name: string,
  changes: Partial<RunConfig>,
  executors = 1,
  budget: { requests?: number; held?: number } = {},
): Promise<{ config: RunConfig; order: Order }> {
  const order = new Order();
  fleet = new Fleet({ model, executors, budget: { requests: 64, ...budget }, onFetch: order.hook });
  const config = await createRun({
    env_id: "judged",
    env_version: "1.0.0",
    env_args: { judge: `${name}-judge` },
    model: name,
    base_url: modelServer.baseUrl,
    num_examples: 24,
    ...changes,
  });
  for (let index = 1; index < executors; index++) fleet.start();
  expect((await fleet.settled(config.run_id)).status).toBe("COMPLETED");
  return { config, order };
}

const peaks = async (name: string) => ({
  generating: (await modelServer.stats(name)).peak_in_flight,
  judging: (await modelServer.stats(`${name}-judge`)).peak_in_flight,
});

describe("limits apart from max_concurrent", () => {
  it("of generation: fewer requests at the model than rollouts under way, over all executors", async () => {
    await play("generation", { max_concurrent: 12, max_concurrent_generation: 3 }, 2, { requests: 6 });
    const { generating, judging } = await peaks("generation");
    expect(generating).toBeLessThanOrEqual(3);
    expect(generating).toBeGreaterThan(1);
    expect(judging).toBeGreaterThan(0);
  });

  it("of scoring: fewer requests at the judge than at the model, over all executors", async () => {
    await play("scoring", { max_concurrent: 12, max_concurrent_scoring: 2 }, 2, { requests: 6 });
    const { generating, judging } = await peaks("scoring");
    expect(judging).toBeLessThanOrEqual(2);
    expect(generating).toBeGreaterThan(2);
  });

  it("not given: as many at the judge as max_concurrent, and no more", async () => {
    await play("neither", { max_concurrent: 4, rollouts_per_example: 4 });
    const { generating, judging } = await peaks("neither");
    expect(generating).toBeLessThanOrEqual(4);
    expect(judging).toBeLessThanOrEqual(4);
  });
});

describe("the concurrency of an environment", () => {
  it.each([
    ["an option of the run", { extra_env_kwargs: { concurrency: 3 } }],
    ["its own loader", { env_args: { judge: "loader-judge", concurrency: 3 } }],
  ])("set by %s is the number of examples open at once, in all executors", async (name, changes) => {
    const model = name.replaceAll(" ", "-");
    const { config } = await play(model, { max_concurrent: 12, ...changes }, 2, { requests: 6 });
    expect((await modelServer.stats(model)).peak_in_flight).toBeLessThanOrEqual(3);
    await expectComplete(config);
  });
});

describe("no_interleave_scoring", () => {
  it.each([
    ["group by group", { rollouts_per_example: 2 }],
    ["rollout by rollout", { rollouts_per_example: 2, independent_scoring: true }],
  ])("asks the judge when the model has answered everything, %s", async (name, changes) => {
    const { config, order } = await play(`late-${name.slice(0, 5)}`, { max_concurrent: 4, no_interleave_scoring: true, ...changes }, 1, { held: 512 });
    expect(order.phases).toEqual(["model", "judge"]);
    expect(order.seen.filter((each) => each === "+judge")).toHaveLength(48);
    await expectComplete(config);
  });

  it("takes turns where an executor may hold less than all", async () => {
    const { order } = await play("rounds", { max_concurrent: 4, no_interleave_scoring: true }, 1, { held: 8 });
    expect(order.phases).toEqual(["model", "judge", "model", "judge", "model", "judge"]);
  });

  it("is not what happens otherwise", async () => {
    const { order } = await play("mixed", { max_concurrent: 4 });
    expect(order.phases.length).toBeGreaterThan(6);
  });

  it("ends at once when the run is interrupted, with what waits for its scores given up", async () => {
    await modelServer.play({ latency_ms: 15, faults: [{ when: { contains: "number 23" }, fault: { kind: "never" } }] });
    fleet = new Fleet({ model, budget: { requests: 64, held: 512 } });
    const settings = {
      env_id: "judged",
      env_version: "1.0.0",
      env_args: { judge: "cut-judge" },
      model: "cut",
      base_url: modelServer.baseUrl,
      num_examples: 24,
    };
    const config = await createRun({ ...settings, max_concurrent: 8, no_interleave_scoring: true });
    await until("all others to be generated", async () => (await modelServer.stats("cut")).total === 24);
    await run(config.run_id).interrupt();
    await until("the executor to let go", async () => (await viewOf(config.run_id)).executors === 0);
    expect((await viewOf(config.run_id)).units.pending).toBe(24);
    expect((await modelServer.stats("cut-judge")).total).toBe(0);
  });
});
