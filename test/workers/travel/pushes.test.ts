import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { Fleet } from "../support/fleet.ts";
import { viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY, until } from "../support/service.ts";

const app = createApp(portsOf);
let fleet: Fleet | null = null;

beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { EDGEWISE_TOKEN: "right" });
  fleet = new Fleet({ model: new ScriptedModel() });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  delete (service as { EDGEWISE_TOKEN?: string }).EDGEWISE_TOKEN;
  await reset();
});

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const headers = {
    authorization: "Bearer right",
    "content-type": "application/json",
    "content-length": String(new TextEncoder().encode(text ?? "").byteLength),
  };
  const response = await app.request(`https://edgewise.example/api/v1${path}`, { method, headers, ...(text === undefined ? {} : { body: text }) }, service);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

type Sample = Record<string, unknown>;
const sample = (example: number, reward: number, more: Sample = {}): Sample => ({
  example_id: example,
  prompt: [{ role: "user", content: `${example}?` }],
  completion: [{ role: "assistant", content: "so" }],
  reward,
  metrics: { length: 2 },
  error: null,
  ...more,
});

async function created(body: Sample = {}): Promise<string> {
  const answer = await ask("POST", "/evaluations/", {
    name: "laptop",
    environments: [{ id: "my-org/my-env" }],
    model_name: "vendor/model",
    framework: "verifiers",
    tags: [],
    metadata: { num_examples: 9, time_ms: 5, version_info: { vf_version: "0.1.14" } },
    metrics: { reward: 0.5, metrics: { length: 3 }, error: 0 },
    is_public: false,
    ...body,
  });
  expect(answer).toMatchObject({ status: 200, body: { viewer_url: expect.stringContaining("/dashboard/evaluations/") as string } });
  return String(answer.body.evaluation_id);
}

const push = (id: string, samples: readonly Sample[]) => ask("POST", `/evaluations/${id}/samples`, { samples });
async function finished(id: string): Promise<Record<string, unknown>> {
  expect(await ask("POST", `/evaluations/${id}/finalize`, {})).toMatchObject({ status: 200 });
  await fleet?.settled(id);
  return (await ask("GET", `/evaluations/${id}`)).body;
}
const samplesOf = async (id: string) => (await ask("GET", `/evaluations/${id}/samples?limit=1000`)).body.samples as Sample[];
const fileOf = async (id: string, file: string): Promise<string> => {
  const response = await app.request(
    `https://edgewise.example/api/v1/evaluations/${id}/files/${file}`,
    { headers: { authorization: "Bearer right" } },
    service,
  );
  return response.text();
};

describe("a pushed evaluation", () => {
  it("has its batches, in whatever order they came, as sorted rows; averages are computed from them, and those that differ are told", async () => {
    const id = await created();
    expect(await ask("GET", `/evaluations/${id}`)).toMatchObject({ body: { status: "RUNNING", is_hosted: false, edgewise: { origin: "pushed" } } });
    const batches = [[sample(2, 1)], [sample(1, 0, { error: { error: "ModelError" } }), sample(1, 1)], [sample(0, 1), sample(0, 1)], [sample(2, 0)]];
    const answers = await Promise.all(batches.map((batch) => push(id, batch)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const evaluation = await finished(id);
    expect(evaluation).toMatchObject({
      status: "COMPLETED",
      name: "laptop",
      model_name: "vendor/model",
      total_samples: 6,
      metrics: { reward: 4 / 6, error: 1 / 6, metrics: { length: 2 } },
      metadata: { num_examples: 3, rollouts_per_example: 2 },
      edgewise: {
        pushed: {
          batches: 4,
          samples: 6,
          differences: [
            { name: "reward", pushed: 0.5 },
            { name: "error", pushed: 0 },
            { name: "metrics.length", pushed: 3, computed: 2 },
          ],
        },
      },
    });
    const rows = await samplesOf(id);
    expect(rows.map(({ example_id, rollout_index }) => [example_id, rollout_index])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ]);
    const lines = (await fileOf(id, "results.jsonl")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as Sample)).toEqual(rows);
    const metadata = JSON.parse(await fileOf(id, "metadata.json")) as Record<string, unknown>;
    expect(metadata).toMatchObject({
      env_id: "my-org/my-env",
      time_ms: 5,
      version_info: { vf_version: "0.1.14" },
      avg_reward: 4 / 6,
      pass_at_k: { "1": expect.anything() as unknown },
    });
    expect(await ask("GET", `/hosted-evaluations/${id}/logs`)).toMatchObject({ status: 200 });
    expect((await ask("GET", "/evaluations/")).body).toMatchObject({ evaluations: [{ evaluation_id: id, is_hosted: false, total_samples: 6 }] });
  });

  it("takes the same samples once, whatever stands between them, and is opened again by new ones", async () => {
    const id = await created({ metrics: {} });
    expect(await push(id, [sample(0, 1), sample(1, 1)])).toMatchObject({ body: { samples: 2, added: true } });
    expect(await push(id, [sample(0, 1), sample(1, 1)])).toMatchObject({ status: 200, body: { added: false } });
    await finished(id);
    const spaced = `{ "samples" : [ ${JSON.stringify(sample(0, 1))} ,\n${JSON.stringify(sample(1, 1))} ] }`;
    expect(await ask("POST", `/evaluations/${id}/samples`, spaced)).toMatchObject({ status: 200, body: { added: false } });
    expect(await ask("GET", `/evaluations/${id}`)).toMatchObject({ body: { status: "COMPLETED", edgewise: { settled: true, generation: 1 } } });
    expect(await push(id, [sample(0, 0), sample(-1, 0)])).toMatchObject({ body: { added: true } });
    expect(await ask("GET", `/evaluations/${id}`)).toMatchObject({ body: { status: "RUNNING" } });
    expect(await finished(id)).toMatchObject({ total_samples: 4, metrics: { reward: 0.5 } });
    expect((await samplesOf(id)).map(({ example_id, reward }) => [example_id, reward])).toEqual([
      [-1, 0],
      [0, 1],
      [0, 0],
      [1, 1],
    ]);
    // Nothing is left of the batches that added nothing.
    const { objects } = await service.BUCKET.list({ prefix: `runs/${id}/pushed/` });
    expect(objects).toHaveLength(2);
  });

  it("knows samples by their own ids: the same once, another under the same id is refused by its field", async () => {
    const id = await created();
    await push(id, [sample(0, 1, { sample_id: "a", rollout_number: 2 }), sample(0, 0, { sample_id: "b", rollout_number: 1 })]);
    expect(await push(id, [sample(0, 0, { sample_id: "b", rollout_number: 1 }), sample(1, 1, { sample_id: "c" })])).toMatchObject({ body: { added: true } });
    expect(await push(id, [sample(0, 1, { sample_id: "c" })])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "samples", 0, "sample_id"], msg: expect.stringContaining("other content") as string }] },
    });
    expect(await finished(id)).toMatchObject({ total_samples: 3 });
    expect((await samplesOf(id)).map(({ sample_id }) => sample_id)).toEqual(["b", "a", "c"]);
  });

  it("has the rewards of an episode of verifiers 0.4 among its metrics", async () => {
    const id = await created({ metrics: { avg_reward: 1.25, avg_metrics: { correct: 1, length: 2 }, avg_error: 0 } });
    const rewards = { correct: { score: 1, weight: 1 }, length: null };
    await push(id, [sample(0, 1.25, { sample_id: "e", correct: 1, info: { native_wrapper: { traces: [{ rewards }] }, native_trace_index: 0 } })]);
    expect(await finished(id)).toMatchObject({ metrics: { metrics: { correct: 1, length: 2 } }, edgewise: { pushed: { differences: [] } } });
    expect(await samplesOf(id)).toMatchObject([{ metrics: { correct: 1, length: 2 }, correct: 1 }]);
  });

  it.each<[string, string, (string | number)[]]>([
    ["no JSON", "nonsense", ["body"]],
    ["no samples", "{}", ["body"]],
    ["samples that are no list", '{"samples": {}}', ["body", "samples"]],
    ["a sample that is no object", '{"samples": [{}, 3]}', ["body", "samples", 1]],
    ["a sample that is no JSON", '{"samples": [{"reward": }]}', ["body", "samples", 0]],
    ["a reward that is no number", '{"samples": [{"reward": "good"}]}', ["body", "samples", 0, "reward"]],
    ["an example that is a list", '{"samples": [{"example_id": []}]}', ["body", "samples", 0, "example_id"]],
    ["a body that is cut off", '{"samples": [{"reward": 1}', ["body"]],
    ["something behind it", '{"samples": []} {}', ["body"]],
  ])("refuses %s by its field, and keeps nothing of it", async (_, body, loc) => {
    const id = await created();
    expect(await ask("POST", `/evaluations/${id}/samples`, body)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
    expect((await service.BUCKET.list({ prefix: `runs/${id}/pushed/` })).objects).toEqual([]);
  });

  it("without a sample ends with nothing, one that is stopped keeps what it has, and either may be deleted", async () => {
    const empty = await created();
    expect(await finished(empty)).toMatchObject({ status: "COMPLETED", total_samples: 0, metrics: {} });
    const stopped = await created();
    await push(stopped, [sample(0, 1)]);
    await ask("PATCH", `/hosted-evaluations/${stopped}/cancel`);
    await fleet?.settled(stopped);
    expect(await ask("GET", `/evaluations/${stopped}`)).toMatchObject({ body: { status: "CANCELLED", total_samples: 1 } });
    const waiting = await created();
    for (const id of [empty, stopped, waiting]) expect(await ask("DELETE", `/evaluations/${id}`)).toMatchObject({ status: 200 });
    await until("objects of deleted evaluations to be removed", async () => (await service.BUCKET.list({ prefix: "runs/" })).objects.length === 0);
  });

  it("changes what is known of it, and its files say so; how it ended is said once", async () => {
    const id = await created();
    await push(id, [sample(0, 1)]);
    await finished(id);
    expect(await ask("PUT", `/evaluations/${id}`, { name: "renamed", tags: [], metrics: { avg_reward: 1 } })).toMatchObject({ status: 200 });
    expect(await finished(id)).toMatchObject({ name: "renamed", edgewise: { generation: 2, pushed: { differences: [] } } });
    expect(JSON.parse(await fileOf(id, "metadata.json"))).toMatchObject({ edgewise: { pushed: { name: "renamed" } } });
    expect(await ask("PUT", `/evaluations/${id}`, { status: "FAILED", error_message: "too late" })).toMatchObject({ status: 409 });
    const failed = await created();
    await push(failed, [sample(0, 1)]);
    await ask("PUT", `/evaluations/${failed}`, { status: "FAILED", error_message: "the GPU melted" });
    await fleet?.settled(failed);
    expect(await ask("GET", `/evaluations/${failed}`)).toMatchObject({
      body: { status: "FAILED", error_message: expect.stringContaining("the GPU melted") as string },
    });
  });

  it("is nothing to resume or interrupt, and what is made here takes no samples", async () => {
    const id = await created();
    expect(await ask("POST", `/evaluations/${id}/resume`, {})).toMatchObject({ status: 409 });
    expect(await ask("POST", `/evaluations/${id}/interrupt`, {})).toMatchObject({ status: 409 });
    expect((await viewOf(id)).suspended).toBe(true);
  });

  it("is public by a link that finalize answers with", async () => {
    const id = await created({ is_public: true });
    await push(id, [sample(0, 1)]);
    const { body } = await ask("POST", `/evaluations/${id}/finalize`, {});
    await fleet?.settled(id);
    const response = await app.request(String(body.viewer_url), {}, service);
    expect(response.status).toBe(200);
    expect(await ask("GET", `/evaluations/${id}`)).toMatchObject({ body: { is_public: true } });
  });
});
