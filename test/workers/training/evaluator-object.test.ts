import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EvaluatorTask } from "../../../durable-objects/evaluator/evaluator-task.ts";
import { evaluatorStub } from "../../../durable-objects/stubs.ts";
import type { AppPorts } from "../../../src/api/app-ports.ts";
import { beginStep } from "../../../src/api/evaluators/begin-step.ts";
import { postPoints } from "../../../src/api/evaluators/post-points.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { pokeEvaluators } from "../../../src/upkeep/evaluator-watchdog.ts";
import { evaluatorName } from "../../../src/teams/team-name.ts";
import type { MlflowBatch } from "../../../src/training/mlflow.ts";
import { type EvaluatorEvent, step as stepOf } from "../../../src/training/policy.ts";
import type { EvaluatorState } from "../../../src/training/state.ts";
import { closeTeam, type Door, openTeam, OWNER_TOKEN } from "../support/people.ts";
import { run, service, skip } from "../support/service.ts";

/** Evaluators of training loops of a deployed service, in real objects: whatever is repeated, lost or reset, each due step has one run. */

const EVAL = { env_id: "reverse-text", num_examples: 2, rollouts_per_example: 1, api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY" };
const DEFINITION = { run_every: 5, evaluations: [{ name: "words", metrics: ["mean_reward"], eval: EVAL }] };

interface Record_ {
  readonly step: number;
  readonly evaluation: string;
  readonly outcome: string;
  readonly run_id: string | null;
  readonly reason: string | null;
  readonly values: object;
}
interface Shown {
  readonly records: readonly Record_[];
  readonly series: Record<string, readonly { step: number; value: number }[]>;
  readonly advice: { readonly best: { readonly step: number } | null };
  readonly at_work: readonly { readonly step: number; readonly run_id: string | null; readonly queued: boolean; readonly failure: { code: string } | null }[];
  readonly posting: { readonly tries: number; readonly failure: { readonly message: string } | null } | null;
  readonly open: number;
}

let door: Door;
let ada: string;
let sent: EvaluatorTask[];
const { SCHEDULES } = service;

beforeEach(async () => {
  sent = [];
  Object.assign(service, { SCHEDULES: { send: async (task: EvaluatorTask) => void sent.push(task) } });
  ({ door, ada } = await openTeam(["runs:write"]));
});
afterEach(async () => {
  Object.assign(service, { SCHEDULES });
  await closeTeam();
});

const ports = (): AppPorts => portsOf(service).inTeam("acme");
const object = () => {
  const stub = evaluatorStub(service, "acme", "loop");
  if (stub === null) throw new Error("no evaluators");
  return stub;
};
const raw = () => service.EVALUATOR.getByName(evaluatorName("acme", "loop"));
const put = (changes: object = {}) => door.json<{ data: Shown }>(ada, "PUT", "/evaluators/loop", { ...DEFINITION, ...changes });
const shown = async (): Promise<Shown> => (await door.json<{ data: Shown }>(ada, "GET", "/evaluators/loop")).data;
const post = async (step: number, changes: object = {}, token = ada) =>
  (
    await door.json<{ data: { step: number; due: string[]; records: Record_[] } }>(token, "POST", "/evaluators/loop/steps", {
      step,
      model: `ckpt-${step}`,
      ...changes,
    })
  ).data;
const runs = async (): Promise<readonly { evaluation_id: string; name: string }[]> =>
  (await door.json<{ evaluations: { evaluation_id: string; name: string }[] }>(ada, "GET", "/evaluations/")).evaluations;
const deliver = async (own = ports()): Promise<void> => {
  for (const { evaluator, create } of sent.splice(0)) if (create !== null) await beginStep(own, evaluator, create);
};
/** As if the run at work of this step had ended with this reward. */
const finish = (step: number, value: number): Promise<void> =>
  runInDurableObject(raw(), async (_, { storage }) => {
    const told = JSON.parse(String(storage.sql.exec("SELECT state FROM head").one().state)) as EvaluatorState;
    const run_id = told.open.find(({ order }) => order.posted.step === step)?.run_id ?? "";
    const seen = { over: true, status: "COMPLETED", suspended: false, failure: null, rollouts: 2, errored: 0, values: { mean_reward: { value } } } as const;
    const event: EvaluatorEvent = { type: "looked", run_id, seen };
    const { state, notes } = stepOf(told, Date.now(), event);
    storage.sql.exec("UPDATE head SET state = ?", JSON.stringify(state));
    for (const note of notes)
      if (note.note === "ended")
        storage.sql.exec(
          "UPDATE record SET seq = (SELECT coalesce(max(seq), 0) + 1 FROM record), detail = json_set(detail, '$.ended_at', ?, '$.end', json(?)) WHERE step = ?",
          Date.now(),
          JSON.stringify(note.end),
          step,
        );
  });

describe("an evaluator is paused and goes on", () => {
  it("and what was posted meanwhile makes no run, unless somebody wants it now; it is shown to all, kept through a reset, and refused to who may only read", async () => {
    await put();
    const paused = await door.json<{ data: Shown & { paused: unknown } }>(ada, "POST", "/evaluators/loop/pause", { reason: "no GPU" });
    const told = { at: expect.any(String), by: "ada", reason: "no GPU" };
    expect(paused.data.paused).toEqual(told);
    expect(await post(4)).toMatchObject({ due: [], records: [], paused: told });
    await abortAllDurableObjects();
    expect(await shown()).toMatchObject({ paused: told, open: 0 });
    const listed = await door.json<{ data: { paused: unknown }[] }>(ada, "GET", "/evaluators");
    expect(listed.data.map((each) => each.paused)).toEqual([told]);
    expect(await post(2, { now: true })).toMatchObject({ step: 3, due: ["words"], records: [{ outcome: "open" }], paused: null });
    expect((await door.json<{ data: { paused: unknown } }>(ada, "POST", "/evaluators/loop/resume", {})).data.paused).toBeNull();
    expect(await post(4)).toMatchObject({ due: ["words"], records: [{ outcome: "open" }], paused: null });
    await deliver();
    expect((await runs()).length).toBe(2);
  });
});

describe("a step that is due is one run of each of its evaluations", () => {
  it("and one that is not due is told so, and makes none", async () => {
    await put();
    expect(await post(3)).toMatchObject({ step: 4, due: [], records: [] });
    expect(await post(4)).toMatchObject({ step: 5, due: ["words"], records: [{ outcome: "open", run_id: null }] });
    await deliver();
    const [made, ...others] = await runs();
    expect(others).toEqual([]);
    expect(made?.name).toBe("loop words step 5");
    const { edgewise, inference_model } = await door.json<{ edgewise: { evaluator: unknown }; inference_model?: string }>(
      ada,
      "GET",
      `/evaluations/${made?.evaluation_id}`,
    );
    expect(edgewise.evaluator).toEqual({ name: "loop", step: 5, evaluation: "words" });
    expect([undefined, "ckpt-4"]).toContain(inference_model);
    expect(await (await door.call(ada, "GET", `/hosted-evaluations/${made?.evaluation_id}/logs`)).text()).toContain(
      "Made by the evaluator loop, step 5, evaluation words",
    );
  });

  it("and of a benchmark that is named by its environment is the run that its fields ask for", async () => {
    const { env_id, num_examples: limit, api_base_url, api_key_var } = EVAL;
    await put({ evaluations: [{ benchmark: env_id, limit, num_samples: 3, max_tokens: 32, eval: { api_base_url, api_key_var } }] });
    expect(await post(4)).toMatchObject({ due: [env_id] });
    await deliver();
    const [made] = await runs();
    expect((await run(`acme/${made?.evaluation_id}`).view())?.config).toMatchObject({
      env_id,
      num_examples: 2,
      rollouts_per_example: 3,
      max_concurrent: 8,
      sampling_args: { max_tokens: 32, temperature: 0 },
    });
  });

  it("when it is posted twice, messages repeat, and alarm and watchdog look as well", async () => {
    await put();
    await Promise.all([post(4), post(4, { model: "another" })]);
    await Promise.all([runDurableObjectAlarm(raw()), object().poke(), pokeEvaluators(service)]);
    const [task] = sent;
    if (task?.create === undefined || task.create === null) throw new Error("nothing was sent");
    await Promise.all([beginStep(ports(), "loop", task.create), beginStep(ports(), "loop", task.create)]);
    await deliver();
    expect(await post(4)).toMatchObject({ due: ["words"], records: [{ run_id: expect.any(String) }] });
    await deliver();
    expect(await runs()).toHaveLength(1);
  });

  it("when the message is lost, and when everything is reset between the creation of the run and writing it down", async () => {
    await put();
    await post(4);
    sent.length = 0;
    skip(10_000);
    await object().poke();
    const own = ports();
    const lossy: AppPorts = {
      ...own,
      registry: own.registry,
      evaluators: own.evaluators && {
        ...own.evaluators,
        index: own.evaluators.index,
        of: () => ({ ...object(), order: (name) => object().order(name), created: () => Promise.reject(new Error("reset")) }),
      },
    };
    await expect(deliver(lossy)).rejects.toThrow("reset");
    const [made] = await runs();
    expect((await shown()).at_work[0]?.run_id).toBeNull();
    await abortAllDurableObjects();
    skip(60_000);
    await pokeEvaluators(service);
    await deliver();
    expect((await runs()).map(({ evaluation_id }) => evaluation_id)).toEqual([made?.evaluation_id]);
    expect((await shown()).at_work[0]?.run_id).toBe(made?.evaluation_id);
  });
});

describe("what a step came to", () => {
  it("is a number where its run completed, and a reason where it did not; the best step is among the numbers", async () => {
    await put({ early_stopping: { patience: 1 } });
    for (const step of [4, 9, 14]) await post(step);
    await post(19, { api_base_url: "http://169.254.169.254/v1" });
    await deliver();
    await finish(4, 0.25);
    await finish(9, 0.75);
    const { at_work } = await shown();
    await run(`acme/${at_work.find(({ step }) => step === 15)?.run_id}`).cancel();
    skip(120_000);
    await object().poke();
    const { records, series, advice } = await shown();
    expect(records.map(({ step, outcome }) => [step, outcome])).toEqual([
      [5, "evaluated"],
      [10, "evaluated"],
      [15, "stopped"],
      [20, "failed"],
    ]);
    expect(records[3]?.reason).toContain("api_base_url");
    expect(series["val/words/mean_reward"]?.map(({ step, value }) => [step, value])).toEqual([
      [5, 0.25],
      [10, 0.75],
    ]);
    expect(advice).toMatchObject({ best: { step: 10, model: "ckpt-9" }, since_best: 0, stop: false });
    const page = await door.json<{ data: { step: number }[]; next: number; more: boolean }>(ada, "GET", "/evaluators/loop/points?after=2");
    expect([page.data.map(({ step }) => step), page.more]).toEqual([[10], false]);
  });

  it("waits where the team's limit is reached, and fails where its poster may make no runs any more", async () => {
    await door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", { runs: 1 });
    await put();
    for (const step of [4, 9]) await post(step);
    await deliver();
    expect((await shown()).at_work.find(({ step }) => step === 10)).toMatchObject({ run_id: null, failure: { code: "limit_reached" } });
    const { data } = await door.json<{ data: readonly { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme");
    await door.json(OWNER_TOKEN, "DELETE", `/tokens/${data[0]?.id}`);
    skip(10 * 60_000);
    await object().poke();
    await deliver();
    ada = await door.token("ada", ["acme"], ["runs:write"]);
    const { records } = await shown();
    expect(records.find(({ step }) => step === 10)).toMatchObject({ outcome: "failed", reason: expect.stringContaining("revoked") });
  });

  it("is replaced by a newer one: its run is cancelled, and says nothing", async () => {
    await put({ on_older: "replace" });
    await post(4);
    await deliver();
    await post(9);
    await deliver();
    skip(120_000);
    await object().poke();
    const { records } = await shown();
    expect(records.map(({ step, outcome, reason }) => [step, outcome, reason])).toEqual([
      [5, "replaced", "step 10 took its place"],
      [10, "open", null],
    ]);
    const made = await runs();
    const views = await Promise.all(made.map(({ evaluation_id }) => run(`acme/${evaluation_id}`).view()));
    expect(views.map((view) => [view?.config.evaluator?.step, view?.status]).toSorted()).toEqual([
      [10, expect.not.stringContaining("CANCELLED")],
      [5, "CANCELLED"],
    ]);
  });
});

describe("points", () => {
  it("arrive at MLflow though it fails for a while and answers are lost: each at least once, with step and time, the token only there", async () => {
    await put({ mlflow: { tracking_uri: "https://models.example/mlflow/", run_id: "abc", token_var: "MODELS_API_KEY" } });
    for (const step of [4, 9]) await post(step);
    await deliver();
    await finish(4, 0.25);
    const batches: MlflowBatch[] = [];
    let answers: (number | null)[] = [500, null, 200, 200];
    const server = async (url: string, { body, headers }: RequestInit): Promise<Response> => {
      expect([url, (headers as Record<string, string>).authorization]).toEqual([
        "https://models.example/mlflow/api/2.0/mlflow/runs/log-batch",
        "Bearer sk-secret",
      ]);
      const [answer = 200, ...others] = answers;
      answers = others;
      if (answer === null) {
        batches.push(JSON.parse(String(body)) as MlflowBatch);
        throw new Error("the answer is lost");
      }
      if (answer === 200) batches.push(JSON.parse(String(body)) as MlflowBatch);
      return new Response("{}", { status: answer });
    };
    const turn = async (): Promise<void> => {
      skip(40 * 60_000);
      await object().poke();
      if (sent.splice(0).some(({ create }) => create === null)) await postPoints(ports(), "loop", server);
    };
    await turn();
    expect((await shown()).posting?.failure?.message).toBe("https://models.example answered with status 500");
    await turn();
    await turn();
    expect((await shown()).posting).toBeNull();
    await finish(9, 0.5);
    await turn();
    const told = batches.flatMap(({ run_id, metrics }) => metrics.map(({ key, step, value }) => [run_id, key, step, value]));
    expect(told).toEqual([
      ["abc", "val/words/mean_reward", 5, 0.25],
      ["abc", "val/words/mean_reward", 5, 0.25],
      ["abc", "val/words/mean_reward", 10, 0.5],
    ]);
    expect(batches[0]).toEqual(batches[1]);
    expect(JSON.stringify(await shown())).not.toContain("sk-secret");
  });

  it.each([
    [{ mlflow: { tracking_uri: "http://127.0.0.1:5000", run_id: "abc" } }, "tracking_uri"],
    [{ mlflow: { tracking_uri: "https://mlflow.example", run_id: "abc", token_var: "MODELS_API_KEY" } }, "token_var"],
    [{ evaluations: [{ eval: { ...EVAL, env_id: "no-such-thing" } }] }, "no-such-thing"],
    [{ evaluations: [{ eval: { ...EVAL, rollouts: 3 } }] }, "rollouts"],
  ])("and definitions: %j is refused by the name of its field", async (changes, field) => {
    const answer = await door.call(ada, "PUT", "/evaluators/loop", { ...DEFINITION, ...changes });
    expect([answer.status >= 400 && answer.status < 500, await answer.text()]).toEqual([true, expect.stringContaining(field)]);
    expect(await door.status(ada, "GET", "/evaluators/loop")).toBe(404);
  });
});
