import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { modelList } from "../../../src/api/endpoints/endpoint-schemas.ts";
import { MAX_LISTED_MODELS } from "../../../src/limits.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { CREATION, created, type Door, OWNER_TOKEN, closeTeam, openTeam } from "../support/people.ts";
import { run, service } from "../support/service.ts";

/** Endpoints that the service keeps, at the door of a deployed one, in real objects. */
interface Kept {
  readonly endpoint_id: string;
  readonly model: string;
  readonly replicas: readonly { readonly api_base_url: string; readonly api_key_var: string; readonly headers: Record<string, string> }[];
}
const entry = (changes: object = {}) => ({ endpoint_id: "fast", model: "big/model", url: "https://models.example/v1", key: "MODELS_API_KEY", ...changes });
const second = entry({ url: "https://models.example/v2", headers: { "X-Place": "two" } });
let door: Door;
let ada: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write", "secrets:write"]));
});
afterEach(closeTeam);
afterEach(() => void delete (service as unknown as Record<string, unknown>).NETWORK);

const list = async (token: string): Promise<readonly Kept[]> => (await door.json<{ data: readonly Kept[] }>(token, "GET", "/endpoints")).data;
const asked = (inference_model: string | undefined, eval_config: object = {}) => ({
  environment_ids: ["reverse-text"],
  ...(inference_model === undefined ? {} : { inference_model }),
  eval_config: { num_examples: 1, rollouts_per_example: 1, ...eval_config },
});
async function configOf(token: string, team: string, body: object) {
  const { evaluation_id } = await door.json<{ evaluation_id: string }>(token, "POST", "/hosted-evaluations", body);
  return (await run(`${team}/${evaluation_id}`).view())?.config;
}

it("is kept for a team as endpoints.toml says it, and a run takes it by its name", async () => {
  await door.json(ada, "POST", "/endpoints", { endpoint: [entry(), second] });
  // A lost answer is asked for again.
  await door.json(ada, "POST", "/endpoints", { endpoint: [second] });
  const replicas = [
    { api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY", headers: {} },
    { api_base_url: "https://models.example/v2", api_key_var: "MODELS_API_KEY", headers: { "X-Place": "two" } },
  ];
  expect(await list(ada)).toMatchObject([{ endpoint_id: "fast", model: "big/model", api_client_type: null, replicas, updated_by: "ada" }]);
  expect(await door.json(ada, "GET", "/endpoints/fast")).toMatchObject({ data: { replicas } });

  const places = [
    { base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY" },
    { base_url: "https://models.example/v2", api_key_var: "MODELS_API_KEY", headers: { "X-Place": "two" } },
  ];
  for (const body of [asked("fast"), asked(undefined, { endpoint_id: "fast" })])
    expect(await configOf(ada, "acme", body)).toMatchObject({ model: "big/model", base_url: "https://models.example/v1", replicas: places });
  const { evaluations } = await door.json<{ evaluations: { evaluation_id: string }[] }>(ada, "POST", "/evaluation-configs", {
    eval: [{ env_id: "reverse-text", endpoint_id: "fast", num_examples: 1 }],
  });
  expect((await run(`acme/${evaluations[0]?.evaluation_id}`).view())?.config).toMatchObject({ model: "big/model", replicas: places });
  // Who names an address says where the model is called.
  expect(await configOf(ada, "acme", { ...CREATION, inference_model: "fast" })).toMatchObject({ model: "fast", base_url: "https://models.example/v1" });

  const one = { endpoint: [entry({ endpoint_id: undefined, url: "https://models.example/v3" })] };
  expect(await door.json(ada, "PUT", "/endpoints/fast", one)).toMatchObject({ data: { replicas: [{ api_base_url: "https://models.example/v3" }] } });
  expect(await configOf(ada, "acme", asked("fast"))).toMatchObject({ model: "big/model", base_url: "https://models.example/v3" });
  expect(await configOf(ada, "acme", asked("fast"))).not.toHaveProperty("replicas");
  expect(await door.status(ada, "DELETE", "/endpoints/fast")).toBe(200);
  expect([await door.status(ada, "DELETE", "/endpoints/fast"), await door.status(ada, "GET", "/endpoints/fast")]).toEqual([404, 404]);
});

it("keeps to the rules of a request when it is added, and when it is used", async () => {
  const refused = async (changes: object): Promise<string> => {
    const response = await door.call(ada, "POST", "/endpoints", { endpoint: [entry(changes)] });
    expect(response.status, JSON.stringify(changes)).toBe(422);
    return response.text();
  };
  expect(await refused({ url: "http://models.example/v1" })).toContain("must be an https URL");
  expect(await refused({ url: "https://10.0.0.1/v1" })).toContain("must be a public address");
  expect(await refused({ url: "https://elsewhere.example/v1" })).toContain("is not sent to elsewhere.example");
  expect(await refused({ key: "EDGEWISE_TOKEN" })).toContain("api_key_var");
  expect(await refused({ key: "SMTP_PASSWORD" })).toContain("KEY_VARS");
  expect(await refused({ model: "" })).toContain("model must be a text");
  expect(await refused({ endpoint_id: "a b" })).toContain("must be an endpoint id");
  expect(await refused({ modle: "m" })).toContain("did you mean model");
  for (const headers of [{ Authorization: "Bearer x" }, { "X-Extra": `Bearer ${"a".repeat(20)}` }, { "X-Extra": `sk-${"a".repeat(32)}` }])
    expect(await refused({ headers })).toContain("make the key a secret");
  await door.json(ada, "POST", "/endpoints", { endpoint: [entry()] });
  expect(await refused({ model: "another" })).toContain("replicas serve the same");
  expect(await list(ada)).toHaveLength(1);

  Object.assign(service, { KEY_VARS: "OTHER_API_KEY@other.example" });
  const late = await door.call(ada, "POST", "/hosted-evaluations", asked("fast"));
  expect([late.status, await late.json()]).toMatchObject([422, { detail: [{ loc: ["body", "endpoint", "fast", "api_key_var"] }] }]);
});

it("is named by nobody else, and changed by who may say where keys go", async () => {
  await door.json(ada, "POST", "/endpoints", { endpoint: [entry()] });
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  expect(await list(bob)).toEqual([]);
  for (const [method, body] of [
    ["GET", undefined],
    ["DELETE", undefined],
  ] as const)
    expect(await door.status(bob, method, "/endpoints/fast", body)).toBe(404);
  for (const team of ["acme", "nobody"]) expect(await door.status(bob, "GET", `/endpoints/fast?team_id=${team}`)).toBe(404);
  const named = await door.call(bob, "POST", "/hosted-evaluations", asked(undefined, { endpoint_id: "fast" }));
  expect([named.status, await named.text()]).toEqual([422, expect.stringContaining("is no endpoint of this team")]);
  await door.json(OWNER_TOKEN, "PUT", "/endpoints/slow?team_id=quokkas", { endpoint: [entry({ endpoint_id: "slow" })] });
  expect((await list(bob)).map(({ endpoint_id }) => endpoint_id)).toEqual(["slow"]);

  const reader = await door.token("ada", ["acme"], ["runs:write"]);
  expect(await door.status(reader, "GET", "/endpoints/fast")).toBe(200);
  expect([await door.status(reader, "POST", "/endpoints", { endpoint: [entry()] }), await door.status(reader, "DELETE", "/endpoints/fast")]).toEqual([
    403, 403,
  ]);
  const admin = await door.token("ada", ["acme"], ["admin"]);
  const { data } = await door.json<{ data: { action: string; target: string | null; user: string }[] }>(admin, "GET", "/audit");
  expect(data.filter(({ action }) => action.startsWith("endpoint."))).toMatchObject([{ user: "ada", action: "endpoint.add", target: "fast" }]);
});

it("survives a kill during each write: what was answered is there, and a repeat makes no double", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const answered = new Set<string>();
  for (let round = 0; round < 6; round++) {
    const ids = [0, 1, 2].map((n) => `e${round}-${n}`);
    const write = (id: string) =>
      door.json(ada, "POST", "/endpoints", { endpoint: [entry({ endpoint_id: id }), entry({ endpoint_id: id, url: "https://models.example/v2" })] });
    const work = ids.map((id) => write(id).then(() => answered.add(id)));
    if (round % 2 === 0) await Promise.race(work);
    await abortAllDurableObjects();
    await Promise.allSettled(work);
    const there = await list(ada);
    for (const id of answered) expect(there.map(({ endpoint_id }) => endpoint_id)).toContain(id);
    // All of a write or nothing of it.
    expect(there.every(({ replicas }) => replicas.length === 2)).toBe(true);
    for (const id of ids) await write(id);
  }
  expect((await list(ada)).map(({ replicas }) => replicas.length)).toEqual(Array(18).fill(2));
});

it("that another version stored is refused by name, and may be deleted", async () => {
  await door.json(ada, "POST", "/endpoints", { endpoint: [entry()] });
  await runInDurableObject(service.REGISTRY.getByName(registryName("acme")), (_, { storage }) => {
    storage.sql.exec("UPDATE endpoint SET version = 99").toArray();
  });
  const response = await door.call(ada, "GET", "/endpoints/fast");
  expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("stored by another version")]);
  expect(await created(door, ada)).toMatch(/^[0-9a-f]{8}$/);
  expect(await door.status(ada, "DELETE", "/endpoints/fast")).toBe(200);
});

describe("the models of a place", () => {
  interface Asked {
    readonly url: string;
    readonly authorization: string | null;
    readonly redirect: string | undefined;
  }
  /** What the network answers, and what it was asked. */
  function network(answer: () => Response | Promise<Response>): Asked[] {
    const asked: Asked[] = [];
    const fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
      asked.push({ url, authorization: new Headers(init.headers).get("authorization"), redirect: init.redirect });
      return answer();
    };
    Object.assign(service, { NETWORK: { fetch } });
    return asked;
  }
  const models = async (query: Readonly<Record<string, string>>, token = ada) =>
    modelList.parse(await door.json(token, "GET", `/models?${new URLSearchParams(query)}`));
  const listing = (...names: readonly unknown[]) => Response.json({ data: names.map((id) => ({ id })) });
  const key = () => String((service as unknown as Record<string, unknown>).MODELS_API_KEY);

  it("are asked for with its own key, told without it, and kept for a while", async () => {
    await door.json(ada, "POST", "/endpoints", { endpoint: [entry(), second] });
    const asked = network(() => listing("b/two", "a/one", "a/one", `stolen ${key()}`, "line\nbreak", "x".repeat(300), 7));
    const expected = { data: ["a/one", "b/two"], more: false, problem: null };
    expect(await models({ endpoint_id: "fast" })).toEqual(expected);
    expect(await models({ endpoint_id: "fast" })).toEqual(expected);
    expect(asked).toEqual([{ url: "https://models.example/v1/models", authorization: `Bearer ${key()}`, redirect: "manual" }]);
    expect(await models({ api_base_url: "https://models.example/v1/", api_key_var: "MODELS_API_KEY" })).toEqual(expected);
  });

  it("are as many as there may be", async () => {
    network(() => listing(...Array.from({ length: MAX_LISTED_MODELS + 1 }, (_, n) => `m${n}`)));
    const { data, more } = await models({ api_base_url: "https://models.example/many", api_key_var: "MODELS_API_KEY" });
    expect([data.length, more]).toEqual([MAX_LISTED_MODELS, true]);
  });

  it.each([
    ["has no list", () => new Response("no", { status: 404 }), "https://models.example/v2 lists no models (404)."],
    ["refuses the key", () => new Response("no", { status: 401 }), "does not take the key in MODELS_API_KEY (401)."],
    ["leads elsewhere", () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }), "lists no models (302)."],
    ["answers with something else", () => Response.json({ models: [] }), "answers with no list of models."],
    ["answers with a page", () => new Response("<html>"), "answers with no list of models."],
    ["lists none", () => listing(), "lists no models."],
    ["cannot be reached", () => Promise.reject(new TypeError("connection refused")), "cannot be reached."],
  ])("are not known where the server %s, which is said", async (name, answer, says) => {
    const asked = network(answer);
    const { data, problem } = await models({ api_base_url: `https://models.example/v2?${encodeURIComponent(name)}`, api_key_var: "MODELS_API_KEY" });
    expect([data, problem, asked.length]).toEqual([[], expect.stringContaining(says), 1]);
  });

  it("are asked of no place that a run would not call, with no key that it would not send, and for nobody who may make no runs", async () => {
    const asked = network(() => listing("m"));
    const refused = async (query: Readonly<Record<string, string>>, token = ada): Promise<unknown> => {
      const answer = await door.call(token, "GET", `/models?${new URLSearchParams(query)}`);
      return [answer.status, JSON.stringify(await answer.json())];
    };
    const api_key_var = "MODELS_API_KEY";
    expect(await refused({ api_base_url: "http://models.example/v1", api_key_var })).toEqual([422, expect.stringContaining("must be an https URL")]);
    expect(await refused({ api_base_url: "https://10.0.0.1/v1", api_key_var })).toEqual([422, expect.stringContaining("must be a public address")]);
    expect(await refused({ api_base_url: "https://elsewhere.example/v1", api_key_var })).toEqual([
      422,
      expect.stringContaining("is not sent to elsewhere.example"),
    ]);
    expect(await refused({ api_key_var: "EDGEWISE_TOKEN" })).toEqual([422, expect.stringContaining("api_key_var")]);
    expect(await refused({ endpoint_id: "nobody" })).toEqual([422, expect.stringContaining("is no endpoint of this team")]);
    expect(await refused({ endpoint_id: "fast", api_key_var })).toEqual([422, expect.stringContaining("give it alone")]);
    const reader = await door.token("ada", ["acme"], ["runs:read"]);
    expect(await refused({ api_base_url: "https://models.example/v1", api_key_var }, reader)).toEqual([403, expect.stringContaining("runs:write")]);
    expect(asked).toEqual([]);
  });
});
