import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gzipped, type SentAs, sentTraces } from "../../support/door/traces-upload.ts";
import { Fleet } from "../support/fleet.ts";
import { created as createdHere, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY, until } from "../support/service.ts";

type Fields = Record<string, unknown>;

let door: Door;
let ada: string;
let fleet: Fleet | null = null;

beforeEach(async () => {
  setVars(STEADY);
  deploy();
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["runs:write"]);
  fleet = new Fleet({ model: new ScriptedModel() });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  undeploy();
  await reset();
});

/** An episode of verifiers 0.4: an attempt at the sum of a number with itself. */
function episode(run: string, id: string, index: number | null, reward: number, more: Fields = {}): Fields {
  const task = { type: "Sum", data: { ...(index === null ? {} : { idx: index }), prompt: `${index}?`, answer: "4" }, key: `key-${index}` };
  const nodes = [
    { message: { role: "user", content: `${index}?` }, sampled: false },
    { parent: 0, message: { role: "assistant", content: "so" }, sampled: true },
  ];
  const trace = {
    version: 1,
    id: `t-${id}`,
    task,
    agent: { trainable: true },
    nodes,
    rewards: { correct: { score: reward, weight: 1 } },
    metrics: { length: 2 },
  };
  return {
    id,
    task,
    run: { type: "eval", id: run },
    ok: true,
    errors: [],
    traces: [{ ...trace, is_completed: true, run: { type: "eval", id: run } }],
    ...more,
  };
}
const linesOf = (episodes: readonly Fields[]): string => episodes.map((each) => `${JSON.stringify(each)}\n`).join("");

const create = async (token = ada, team?: string): Promise<string> => {
  const body = {
    name: "laptop",
    environments: [{ id: "tiny-sum" }],
    model_name: "scripted",
    framework: "verifiers",
    tags: [],
    ...(team ? { team_id: team } : {}),
  };
  return (await door.json<{ evaluation_id: string }>(token, "POST", "/evaluations/", body)).evaluation_id;
};

async function post(lines: string, as: SentAs = {}, token = ada): Promise<{ status: number; body: Fields }> {
  const { headers, body } = await sentTraces(lines, as);
  const response = await door.call(token, "POST", "/traces", body, headers);
  return { status: response.status, body: await response.json() };
}
const digestOf = async (lines: string): Promise<string> => ((await sentTraces(lines)).headers["idempotency-key"] ?? "").slice("sha256:".length);

async function close(id: string, team = "acme", token = ada): Promise<Fields> {
  await door.json(token, "POST", `/evaluations/${id}/finalize`, {});
  await fleet?.settled(`${team}/${id}`);
  return await door.json(token, "GET", `/evaluations/${id}`);
}
const samplesOf = async (id: string) => (await door.json<{ samples: Fields[] }>(ada, "GET", `/evaluations/${id}/samples?limit=100`)).samples;
const batchesOf = async (id: string) => (await service.BUCKET.list({ prefix: `teams/acme/runs/${id}/pushed/` })).objects;

describe("episodes that are streamed to /traces", () => {
  it("are rows with their rewards as metrics, in whatever order uploads came and however often; averages are of them", async () => {
    const id = await create();
    const uploads = [
      linesOf([episode(id, "d", 1, 0), episode(id, "a", 0, 1)]),
      // The last line needs no newline, and the client may be set not to compress.
      linesOf([episode(id, "c", 1, 1, { errors: [{ type: "ModelError", message: "gone" }], ok: false })]).trimEnd(),
    ];
    const answers = await Promise.all([...uploads, uploads[0] ?? ""].map((lines, at) => post(lines, { gzip: at !== 1 })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[0]?.body).toMatchObject({ upload_id: await digestOf(uploads[0] ?? ""), status: "committed", samples: 2 });
    const metrics = { avg_reward: 2 / 3, avg_metrics: { correct: 2 / 3, length: 2 }, avg_error: 1 / 3, prime_runs: { traces_episodes_written: 3 } };
    await door.json(ada, "PUT", `/evaluations/${id}`, { metadata: { model: "scripted", num_examples: 2, rollouts_per_example: 2 }, metrics });
    expect(await close(id)).toMatchObject({
      status: "COMPLETED",
      total_samples: 3,
      metrics: { reward: 2 / 3, error: 1 / 3, metrics: { correct: 2 / 3, length: 2 } },
      edgewise: { origin: "pushed", pushed: { batches: 2, samples: 3, examples: 2, differences: [] } },
    });
    const rows = await samplesOf(id);
    expect(rows.map(({ example_id, sample_id, rollout_index }) => [example_id, sample_id, rollout_index]).toSorted()).toEqual([
      [0, "a", 0],
      [1, expect.stringMatching(/[cd]/) as string, 0],
      [1, expect.stringMatching(/[cd]/) as string, 1],
    ]);
    expect(rows[0]).toMatchObject({
      prompt: [{ role: "user", content: "0?" }],
      completion: [{ role: "assistant", content: "so" }],
      answer: "4",
      reward: 1,
      metrics: { correct: 1, length: 2 },
    });
    const file = await (await door.call(ada, "GET", `/evaluations/${id}/files/results.jsonl`)).text();
    expect(
      file
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Fields),
    ).toEqual(rows);
  });

  it("add nothing when they come again, in the same upload or another, and count once beside the sample of the same episode", async () => {
    const id = await create();
    const [first, second] = [linesOf([episode(id, "a", 0, 1)]), linesOf([episode(id, "a", 0, 1), episode(id, "b", 0, 0)])];
    expect(await post(first)).toMatchObject({ status: 200, body: { added: true } });
    expect(await post(first, { gzip: false })).toMatchObject({ status: 200, body: { status: "committed", added: false } });
    expect(await post(second)).toMatchObject({ status: 200, body: { samples: 2, added: true } });
    const sample = (sampleId: string) => ({ sample_id: sampleId, example_id: 0, reward: 0.5, info: { native_wrapper: episode(id, sampleId, 0, 1) } });
    const push = async (samples: readonly Fields[]) => {
      const length = String(new TextEncoder().encode(JSON.stringify({ samples })).byteLength);
      return await door.json<Fields>(ada, "POST", `/evaluations/${id}/samples`, { samples }, { "content-length": length });
    };
    expect(await push([sample("a"), sample("b")])).toMatchObject({ added: false });
    expect(await push([sample("c")])).toMatchObject({ added: true });
    expect(await post(linesOf([episode(id, "c", 0, 1)]))).toMatchObject({ status: 200, body: { added: false } });
    expect(await batchesOf(id)).toHaveLength(3);
    expect(await close(id)).toMatchObject({ total_samples: 3, edgewise: { pushed: { samples: 3 } } });
    expect((await samplesOf(id)).map(({ sample_id, reward }) => [sample_id, reward])).toEqual([
      ["a", 1],
      ["b", 0],
      ["c", 0.5],
    ]);
    // Under the id of an episode that is there, another is refused.
    expect(await post(linesOf([episode(id, "a", 0, 0.25)]))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "traces", 0, "id"], msg: expect.stringContaining("other content") as string }] },
    });
    expect(await batchesOf(id)).toHaveLength(3);
  });

  it("belong to an example by their task where that has no index, and a bare trace on a line is one of its own", async () => {
    const id = await create();
    await post(linesOf([episode(id, "a", null, 1), episode(id, "b", null, 0)]));
    const { task, traces, run } = episode(id, "c", null, 1) as { task: Fields; traces: Fields[]; run: Fields };
    const bare = linesOf([{ ...traces[0], id: "bare", task: { ...task, key: "other" }, run }]);
    expect(await post(bare)).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "traces", 0] }] } });
    expect(await post(bare, { headers: { "x-prime-line-format": "trace" } })).toMatchObject({ status: 200 });
    expect(await close(id)).toMatchObject({ total_samples: 3, metadata: { num_examples: 2, rollouts_per_example: 2 } });
    expect((await samplesOf(id)).map(({ example_id, sample_id }) => [example_id, sample_id])).toEqual([
      ["key-null", "a"],
      ["key-null", "b"],
      ["other", "bare"],
    ]);
  });

  it.each<[string, (id: string) => string, SentAs, number, unknown]>([
    [
      "bytes that are not those of their Idempotency-Key",
      (id) => linesOf([episode(id, "a", 0, 1)]),
      { headers: { "idempotency-key": `sha256:${"0".repeat(64)}` } },
      422,
      "sha256",
    ],
    ["a key that is no digest", (id) => linesOf([episode(id, "a", 0, 1)]), { headers: { "idempotency-key": "mine" } }, 422, ["header", "Idempotency-Key"]],
    ["a format that is none", (id) => linesOf([episode(id, "a", 0, 1)]), { headers: { "x-prime-line-format": "run" } }, 422, ["header", "X-Prime-Line-Format"]],
    ["another media type", (id) => linesOf([episode(id, "a", 0, 1)]), { headers: { "content-type": "application/json" } }, 415, "multipart/form-data"],
    ["no line", () => "\n \n", {}, 422, ["body", "traces"]],
    ["a second line that is no JSON", (id) => `${linesOf([episode(id, "a", 0, 1)])}{"id":`, {}, 422, ["body", "traces", 1]],
    ["a line that is no episode", (id) => linesOf([episode(id, "a", 0, 1), { id: "b", run: { id } }]), {}, 422, ["body", "traces", 1]],
    ["an episode without an id", (id) => linesOf([episode(id, "a", 0, 1), episode(id, "", 0, 1)]), {}, 422, ["body", "traces", 1, "id"]],
    ["episodes of two evaluations", (id) => linesOf([episode(id, "a", 0, 1), episode("0000abcd", "b", 0, 1)]), {}, 422, ["body", "traces", 1, "run", "id"]],
    ["an episode of no evaluation", () => linesOf([episode("disabled-1", "a", 0, 1)]), {}, 404, "Evaluation not found"],
    [
      "metadata of another version",
      (id) => linesOf([episode(id, "a", 0, 1)]),
      { metadata: { schema_version: 2 } },
      422,
      ["body", "metadata", "schema_version"],
    ],
    ["a line that is too large", (id) => linesOf([episode(id, "a", 0, 1), episode(id, "b", 0, 1, { note: "x".repeat(9_000_000) })]), {}, 413, "traces.1"],
  ])("are refused for %s, by its field, and nothing is kept", async (_, lines, as, status, wrong) => {
    const id = await create();
    const answer = await post(lines(id), as);
    expect(answer.status).toBe(status);
    if (typeof wrong === "string") expect(answer.body.detail).toContain(wrong);
    else expect(answer.body.detail).toMatchObject([{ loc: wrong }]);
    expect(await batchesOf(id)).toEqual([]);
  });

  it("are refused where their evaluation is made here, is of another team, or the token may only read", async () => {
    await door.join("bob", ["other"]);
    const bob = await door.token("bob", ["other"], ["runs:write"]);
    const reader = await door.token("ada", ["acme"], ["runs:read"]);
    const id = await create();
    const lines = linesOf([episode(id, "a", 0, 1)]);
    expect(await post(lines, {}, bob)).toMatchObject({ status: 404 });
    expect(await post(lines, { headers: { "x-prime-team-id": "acme" } }, bob)).toMatchObject({ status: 404 });
    expect(await post(lines, {}, reader)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    const own = await createdHere(door, ada);
    expect(await post(linesOf([episode(own, "a", 0, 1)]))).toMatchObject({ status: 409, body: { code: "illegal_transition" } });
  });

  it("go to the team that their header names, or that has their evaluation, and are noted in its audit", async () => {
    await door.join("ada", ["second"]);
    const both = await door.token("ada", ["acme", "second"], ["admin"]);
    const id = await create(both, "second");
    expect(await post(linesOf([episode(id, "a", 0, 1)]), {}, both)).toMatchObject({ status: 200, body: { added: true } });
    expect(await post(linesOf([episode(id, "b", 0, 1)]), { headers: { "x-prime-team-id": "second" } }, both)).toMatchObject({
      status: 200,
      body: { added: true },
    });
    expect(await post(linesOf([episode(id, "c", 0, 1)]), { headers: { "x-prime-team-id": "acme" } }, both)).toMatchObject({ status: 404 });
    expect(await close(id, "second", both)).toMatchObject({ total_samples: 2 });
    const { data } = await door.json<{ data: Fields[] }>(both, "GET", "/audit", undefined, { "x-edgewise-team": "second" });
    expect(data.filter(({ action }) => action === "traces.push")).toMatchObject([
      { target: id, status: 200 },
      { target: id, status: 200 },
    ]);
  });

  it("count for the limit of bytes stored as they are unpacked; at the limit what is there already is answered as before", async () => {
    const limits = (changes: object) => door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", changes);
    const id = await create();
    const lines = linesOf([episode(id, "a", 0, 1)]);
    expect(await post(lines)).toMatchObject({ body: { added: true } });
    const stored = async () => (await door.json<{ data: { used: { stored_bytes: number } } }>(OWNER_TOKEN, "GET", "/teams/acme/limits")).data.used.stored_bytes;
    await until("the upload to count", async () => (await stored()) === lines.length);
    await limits({ stored_bytes: lines.length + 100_000 });
    const large = linesOf([episode(id, "b", 0, 1, { note: "x".repeat(200_000) })]);
    expect((await gzipped(new TextEncoder().encode(large))).length).toBeLessThan(10_000);
    expect(await post(large)).toMatchObject({ status: 429, body: { code: "limit_reached" } });
    await limits({ stored_bytes: lines.length });
    expect(await post(lines)).toMatchObject({ status: 200, body: { status: "committed", added: false } });
    expect(await post(large)).toMatchObject({ status: 429, body: { code: "limit_reached" } });
    expect(await post(lines, { headers: { "idempotency-key": `sha256:${"0".repeat(64)}` } })).toMatchObject({ status: 422, body: { code: "digest_mismatch" } });
    expect(await batchesOf(id)).toHaveLength(1);
  });
});
