import { abortAllDurableObjects, reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EvaluatorTask } from "../../../durable-objects/evaluator/evaluator-task.ts";
import { evaluatorStub } from "../../../durable-objects/stubs.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import type { AppPorts } from "../../../src/api/app-ports.ts";
import { readRewards } from "../../../src/api/evaluators/read-rewards.ts";
import { portsOf } from "../../../src/api/ports.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

/** What a step of an evaluator takes from the rows of its run, in real objects. */

const METRICS = ["pass@1", "pass@3", "pass^3", "mean_reward", "pass_rate", "no_such"];
const REWARDS = [
  [1, 0, 0],
  [0, 0.6, 1],
  [0.5, 0.5, 0.5],
  [1, 1, 1],
];
const { SCHEDULES } = service;
let fleet: Fleet | null = null;
let sent: EvaluatorTask[];

beforeEach(() => {
  setVars(STEADY);
  sent = [];
  Object.assign(service, { SCHEDULES: { send: async (task: EvaluatorTask) => void sent.push(task) } });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  restoreClock();
  Object.assign(service, { SCHEDULES });
  await reset();
});

const object = () => {
  const stub = evaluatorStub(service, "default", "loop");
  if (stub === null) throw new Error("no evaluators");
  return stub;
};

/** A run of four examples with as many rewards each as there are attempts. */
async function runOf(attempts: number, error = "null"): Promise<RunConfig> {
  const lineOf = (unit: number, rollout: number): string =>
    `{"example_id":${unit},"prompt":[{"role":"user","content":"${unit}?"}],"completion":[{"role":"assistant","content":"a"}],"reward":${REWARDS[unit]?.[rollout]},"error":${error},"metrics":{},"info":{"half":${unit % 2}},"rollout_index":${rollout}}\n`;
  return storedRun(REWARDS.length, { lineOf, rollouts: attempts });
}

/** A step of an evaluator waits for it. */
async function awaitRun(run_id: string): Promise<void> {
  const evaluations = [{ name: "words", run_every: 5, metrics: METRICS, breakdown_keys: ["half"], eval: { env_id: "reverse-text" } }];
  const early_stopping = { metric: "val/words/pass@3", mode: "max", min_delta: 0 } as const;
  const creator = { user: "owner", token: null, owner: true };
  await object().put({ team: "default", name: "loop", definition: { evaluations, on_older: "keep", early_stopping }, creator });
  await object().post({ posted: { step: 4, model: "ckpt-5" }, creator });
  sent.length = 0;
  await object().created({ step: 4, evaluation: "words", run_id });
  await look();
}
const look = async (): Promise<void> => {
  skip(120_000);
  await object().poke();
};

async function awaitedRun(attempts: number, error = "null"): Promise<string> {
  const { run_id } = await runOf(attempts, error);
  fleet ??= new Fleet({ model: new ScriptedModel() });
  await run(run_id).poke();
  await fleet.settled(run_id);
  await awaitRun(run_id);
  expect(sent.splice(0)).toEqual([{ protocol: 1, team: "default", evaluator: "loop", create: null, read: run_id }]);
  return run_id;
}
const waitsFor = async (): Promise<string | undefined> => (await object().view(10))?.at_work[0]?.failure?.message;
const endOf = async () => (await object().view(10))?.records[0]?.end;

it("metrics over the first attempts are computed from the rows, again until the evaluator is told, and count once", { timeout: 60_000 }, async () => {
  const run_id = await awaitedRun(3);
  const ports = portsOf(service);
  // What came of it is lost on its way, and the object with what it held in memory.
  const deaf = { ...ports.evaluators, of: () => ({ awaited: (id: string) => object().awaited(id), counted: () => Promise.reject(new Error("gone")) }) };
  await expect(readRewards({ ...ports, evaluators: deaf } as unknown as AppPorts, "loop", run_id)).rejects.toThrow("gone");
  await abortAllDurableObjects();
  expect(await endOf()).toBeNull();
  skip(120_000);
  await object().poke();
  expect(sent).toMatchObject([{ read: run_id }]);
  await Promise.all([readRewards(ports, "loop", run_id), readRewards(ports, "loop", run_id)]);
  expect(await endOf()).toMatchObject({
    kind: "evaluated",
    values: {
      "pass@1": { value: 0.5, ci95: expect.any(Array) },
      "pass@3": { value: 0.75 },
      "pass^3": { value: 0.25 },
      mean_reward: { value: expect.closeTo((1 / 3 + 1.6 / 3 + 0.5 + 1) / 4, 12) },
      pass_rate: { value: expect.closeTo(5 / 12, 12), ci95: expect.any(Array) },
      "pass@3[half=0]": { value: 0.5 },
      "pass@3[half=1]": { value: 1 },
    },
    missing: ["no_such"],
  });
});

it("one attempt has them too, and a run whose rows cannot be counted is a reason and no number", { timeout: 60_000 }, async () => {
  await readRewards(portsOf(service), "loop", await awaitedRun(1));
  expect(await endOf()).toMatchObject({ kind: "evaluated", values: { "pass@1": { value: 0.5 }, "pass@3": { value: 0.5 }, pass_rate: { value: 0.5 } } });
  await object().remove();
  await readRewards(portsOf(service), "loop", await awaitedRun(1, '{"error":"ModelError","code":"timeout"}'));
  expect(await endOf()).toMatchObject({ kind: "failed", failure: { code: "all_rollouts_failed" } });
});

it("a step says what keeps its run's files from being written or its rows from being read, and has its numbers when that is over", {
  timeout: 60_000,
}, async () => {
  const { run_id, env_id, model } = await runOf(3);
  let away = true;
  fleet = new Fleet({
    model: new ScriptedModel(),
    onStore: (call) => {
      if (away && call.method === "put" && String(call.args[0]).endsWith("/results.jsonl")) throw new Error("R2 is busy");
      return call.send();
    },
  });
  await run(run_id).poke();
  await until("an attempt to write that fails", async () => (await run(run_id).view())?.writing_failure !== undefined);
  await awaitRun(run_id);
  expect(await waitsFor()).toContain("R2 is busy");
  expect(await endOf()).toBeNull();
  away = false;
  await run(run_id).poke();
  await fleet.settled(run_id);
  await look();
  expect(sent).toMatchObject([{ read: run_id }]);

  for (const file of ["metadata.json", "results.jsonl"] as const) {
    const key = outputKey(env_id, model, run_id, file);
    const content = await (await service.BUCKET.get(key))?.arrayBuffer();
    await service.BUCKET.delete(key);
    await expect(readRewards(portsOf(service), "loop", run_id)).rejects.toThrow("missing in storage");
    expect(await waitsFor()).toContain("missing in storage");
    await service.BUCKET.put(key, content ?? "");
  }
  await look();
  await readRewards(portsOf(service), "loop", run_id);
  expect(await endOf()).toMatchObject({ kind: "evaluated", values: { "pass@1": { value: 0.5 } } });
});
