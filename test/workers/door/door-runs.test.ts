import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { service, setVars, STEADY } from "../support/service.ts";

/** A deployed service from its door to its results: what a request says is what the model server sees. */
const app = createApp(portsOf);
const SECRETS = { EDGEWISE_TOKEN: "right", MODELS_API_KEY: "sk-secret", KEY_VARS: "MODELS_API_KEY@models.example" };
let fleet: Fleet;
const seen: { url: string; headers: Headers; redirect: unknown }[] = [];

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const sent = { authorization: "Bearer right", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers };
  return app.request(
    `https://edgewise.example/api/v1${path}`,
    { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    service,
  );
}

beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, SECRETS);
  seen.length = 0;
  fleet = new Fleet({
    model: new ScriptedModel({ latencyMs: 1 }),
    onFetch: ({ args, send }) => {
      const [url, init] = args as [string, RequestInit];
      seen.push({ url, headers: new Headers(init.headers), redirect: init.redirect });
      return send();
    },
  });
});
afterEach(async () => {
  await fleet.close();
  for (const name of Object.keys(SECRETS)) delete (service as unknown as Record<string, unknown>)[name];
  await reset();
});

const BODY = {
  environment_ids: ["reverse-text", "edgewise/reverse-text", "reverse-text"],
  inference_model: "scripted",
  eval_config: {
    num_examples: 3,
    rollouts_per_example: 2,
    api_base_url: "https://models.example/v1",
    api_key_var: "MODELS_API_KEY",
    headers: ["X-Tenant: a: b"],
    headers_from_state: { "X-Example": "example_id" },
    verbose: true,
    allow_sandbox_access: true,
    custom_secrets: {},
  },
};

it("runs every environment that one request names, once for one idempotency key, with its headers, its log and no key in it", async () => {
  const key = { "idempotency-key": "once" };
  const answers = await Promise.all([1, 2, 3].map(async () => (await call("POST", "/hosted-evaluations", BODY, key)).json<{ evaluation_ids: string[] }>()));
  const ids = answers[0]?.evaluation_ids ?? [];
  expect(new Set(ids).size).toBe(3);
  for (const answer of answers) expect(answer).toEqual({ evaluation_id: ids[0], evaluation_ids: ids });
  for (const id of ids) await fleet.settled(id);

  expect(seen).toHaveLength(3 * 6);
  for (const { url, headers, redirect } of seen) {
    expect([url, redirect]).toEqual(["https://models.example/v1/chat/completions", "manual"]);
    expect([headers.get("authorization"), headers.get("x-tenant"), headers.get("x-example")]).toEqual([
      "Bearer sk-secret",
      "a: b",
      headers.get("x-session-id"),
    ]);
  }
  for (const id of ids) {
    expect(await (await call("GET", `/evaluations/${id}`)).json()).toMatchObject({ status: "COMPLETED", total_samples: 6, eval_config: { verbose: true } });
    const log = await (await call("GET", `/evaluations/${id}/files/eval.log`)).text();
    expect(log).toMatch(/ - DEBUG - Granted \d+-\d+ to executor/);
    expect(log).toMatch(/ - DEBUG - Committed segment \S+: \d units, \d rollouts/);
    expect(log + (await (await service.BUCKET.get(`runs/${id}/config.json`))?.text())).not.toContain("sk-secret");
  }
  expect(await (await call("GET", "/evaluations/")).json()).toMatchObject({ total: 3 });
});

it("refuses to call what only it can reach, and to send a key elsewhere", async () => {
  const with_ = (changes: object) => call("POST", "/hosted-evaluations", { ...BODY, eval_config: { ...BODY.eval_config, ...changes } });
  for (const changes of [
    { api_base_url: "http://models.example/v1" },
    { api_base_url: "https://169.254.169.254/v1" },
    { api_base_url: "https://[::ffff:10.0.0.1]/v1" },
    { api_base_url: "https://metadata.google.internal/v1" },
    { api_key_var: "EDGEWISE_TOKEN" },
    { api_key_var: "PRIME_API_KEY" },
    { api_key_var: undefined },
  ])
    expect((await with_(changes)).status, JSON.stringify(changes)).toBe(422);
  expect((await call("GET", "/evaluations/", undefined, { authorization: "Bearer wrong" })).status).toBe(401);
  Object.assign(service, { EDGEWISE_TOKEN: " " });
  expect((await call("GET", "/evaluations/", undefined, { authorization: "Bearer " })).status).toBe(401);
  expect(seen).toEqual([]);
});
