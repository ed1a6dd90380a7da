import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
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
