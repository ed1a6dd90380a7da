import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { MAX_GIVEN_LIMITS } from "../../../src/limits.ts";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { COMMAND_SECRET, CONFIG, type Door, FakeRun, openDoor, viewFor } from "../../support/door/fake-ports.ts";
import { DIGEST_OF_CODE } from "../../support/door/fake-environments.ts";

/** What `prime eval run gsm8k --hosted` sends when no flag is given. */
const PRIME: JsonObject = {
  environment_ids: ["gsm8k"],
  inference_model: "openai/gpt-4.1-mini",
  eval_config: { num_examples: 5, rollouts_per_example: 3, allow_sandbox_access: true, allow_instances_access: false, allow_tunnel_access: true },
};
const withConfig = (config: JsonObject): JsonObject => ({ ...PRIME, eval_config: config });
const create = (door: Door, body: JsonObject | string = PRIME, headers?: Record<string, string>) => door.call("POST", "/hosted-evaluations", body, headers);

async function created(door: Door, body?: JsonObject, headers?: Record<string, string>): Promise<string> {
  const response = await create(door, body, headers);
  const answer = (await response.json()) as { evaluation_id: string; evaluation_ids: string[] };
  expect(answer).toEqual({ evaluation_id: expect.stringMatching(/^[0-9a-f]{8}$/), evaluation_ids: [answer.evaluation_id] });
  expect(response.status).toBe(200);
  return answer.evaluation_id;
}

async function issues(door: Door, body: JsonObject | string): Promise<string[]> {
  const response = await create(door, body);
  expect(response.status).toBe(422);
  const answer = (await response.json()) as { code: string; detail: { loc: string[]; msg: string }[] };
  expect(answer.code).toBe("invalid_request");
  return answer.detail.map(({ loc }) => loc.join("."));
}

describe("a creation as the prime client sends it", () => {
  it("makes a run that keeps what was asked for", async () => {
    const door = openDoor();
    const id = await created(door, { ...PRIME, name: "first", team_id: "t" });
    expect(door.run(id).creations).toHaveLength(1);
    expect(door.run(id).creations[0]).toMatchObject({
      boot: "boot-1",
      import: null,
      config: {
        run_id: id,
        name: "first",
        env_id: "gsm8k",
        base_url: "https://models.example/v1",
        timeout_minutes: 120,
        attended: false,
        hosted: { allow_sandbox_access: true, allow_instances_access: false, allow_tunnel_access: true, team_id: "t" },
      },
    });
  });

  it("stores the config, and no key, before the run exists", async () => {
    const door = openDoor();
    const id = await created(door);
    const stored = new TextDecoder().decode(door.store.objects.get(`runs/${id}/config.json`));
    expect(JSON.parse(stored)).toEqual(door.run(id).creations[0]?.config);
    expect(stored).not.toContain("sk-secret");
  });

  it("is attended only at the local service", async () => {
    const header = { "x-edgewise-attended": COMMAND_SECRET };
    const local = openDoor();
    expect(local.run(await created(local, PRIME, header)).creations[0]?.config).toMatchObject({ attended: true, timeout_minutes: null });
    const deployed = openDoor({ local: false, token: "t" });
    const id = await created(deployed, PRIME, { ...header, authorization: "Bearer t" });
    expect(deployed.run(id).creations[0]?.config).toMatchObject({ attended: false, timeout_minutes: 120 });
  });
});

describe("a creation that is refused", () => {
  it("names every field that is wrong or unknown, at every level", async () => {
    const body = {
      ...PRIME,
      extra: 1,
      eval_config: { num_examples: "5", rollouts_per_example: 0, custom_secrets: "A=b", timeout_minutes: 1441, maxconcurrent: 3 },
    };
    expect((await issues(openDoor(), body)).sort()).toEqual([
      "body.eval_config.custom_secrets",
      "body.eval_config.maxconcurrent",
      "body.eval_config.num_examples",
      "body.eval_config.rollouts_per_example",
      "body.eval_config.timeout_minutes",
      "body.extra",
    ]);
  });

  it.each([
    ["no environment", { ...PRIME, environment_ids: [] }, "body.environment_ids"],
    ["more environments than one request may name", { ...PRIME, environment_ids: Array.from({ length: 33 }, () => "gsm8k") }, "body.environment_ids"],
    ["an environment id with characters of a path", { ...PRIME, environment_ids: ["gsm8k", "../gsm8k"] }, "body.environment_ids.1"],
    ["a secret of the run without a value", withConfig({ custom_secrets: { A: " " } }), "body.eval_config.custom_secrets.A"],
    ["a header that carries a key", withConfig({ headers: ["X-Api-Key: k"] }), "body.eval_config.headers.0"],
    ["a header of the connection", withConfig({ headers: { Host: "h" } }), "body.eval_config.headers.Host"],
    ["several answers per request", withConfig({ sampling_args: { n: 2 } }), "body.eval_config.sampling_args.n"],
    [
      "a prompt among the sampling arguments",
      withConfig({ sampling_args: { extra_body: { messages: [] } } }),
      "body.eval_config.sampling_args.extra_body.messages",
    ],
    ["a variable that KEY_VARS does not allow", withConfig({ api_key_var: "HF_TOKEN" }), "body.eval_config.api_key_var"],
    ["a model that no folder can be named with", { ...PRIME, inference_model: "a\\b" }, "body.inference_model"],
    [
      "settings that make too large a config",
      `{"environment_ids":["gsm8k"],"inference_model":"m","eval_config":{"env_args":{"x":[${Array.from({ length: 60_000 }, () => "1e20").join()}]}}}`,
      "body.eval_config",
    ],
    [
      "a name that copies lose",
      '{"environment_ids":["gsm8k"],"inference_model":"m","eval_config":{"env_args":{"a":{"__proto__":1}}}}',
      "body.eval_config.env_args.a.__proto__",
    ],
    ["deep nesting", `{"eval_config":{"env_args":{"a":${"[".repeat(100_000)}`, "body"],
    [
      "two environments for one folder",
      { ...PRIME, environment_ids: ["gsm8k", "gsm8k"], resume_from: { run_id: "0123abcd", results: "a".repeat(64), dataset_digest: null, keep_errors: false } },
      "body.environment_ids",
    ],
    ["no model", { ...PRIME, inference_model: "" }, "body.inference_model"],
    ["arguments the environment does not take", withConfig({ env_args: { bad: 1 } }), "body.eval_config.env_args"],
    ["arguments that are no object", withConfig({ env_args: [1] }), "body.eval_config.env_args"],
    ["a client type we do not have", withConfig({ api_client_type: "renderer" }), "body.eval_config.api_client_type"],
    ["a key variable of the service", withConfig({ api_key_var: "EDGEWISE_TOKEN" }), "body.eval_config.api_key_var"],
    ["a URL with a password in it", withConfig({ api_base_url: "https://a:b@host" }), "body.eval_config.api_base_url"],
    [
      "an import without its upload",
      { ...PRIME, resume_from: { run_id: "0123abcd", results: "a".repeat(64), dataset_digest: null, keep_errors: false } },
      "body.resume_from.results",
    ],
    [
      "an import under something else than a run id",
      { ...PRIME, resume_from: { run_id: "../../x", results: "a".repeat(64), dataset_digest: null, keep_errors: false } },
      "body.resume_from.run_id",
    ],
    ["no JSON", "{", "body"],
    ["an array", "[]", "body"],
  ])("%s", async (_, body, loc) => {
    const door = openDoor();
    expect(await issues(door, body)).toEqual([loc]);
    expect(door.registry.reserved).toEqual([]);
  });

  it("for a missing key, naming the variable; nothing is reserved", async () => {
    const door = openDoor({}, {});
    const response = await create(door);
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      code: "missing_key",
      detail: expect.stringContaining("PRIME_API_KEY"),
      hint: expect.stringContaining("export PRIME_API_KEY"),
    });
    expect(door.registry.reserved).toEqual([]);
    expect((await create(door, withConfig({ api_base_url: "http://localhost:8000/v1" }))).status).toBe(200);
  });

  it("for an environment that does not exist, naming those that do", async () => {
    const response = await create(openDoor(), { ...PRIME, environment_ids: ["gsm9k"] });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      code: "environment_not_found",
      detail: expect.stringContaining('"gsm9k"'),
      hint: expect.stringContaining("gsm8k"),
    });
  });

  it("by size, before it is read, and by media type", async () => {
    const large = JSON.stringify(withConfig({ env_args: { x: "x".repeat(1024 * 1024) } }));
    const tooLarge = await create(openDoor(), large);
    expect([tooLarge.status, ((await tooLarge.json()) as { code: string }).code]).toEqual([413, "body_too_large"]);
    const form = await create(openDoor(), JSON.stringify(PRIME), { "content-type": "text/plain" });
    expect([form.status, ((await form.json()) as { code: string }).code]).toEqual([415, "not_json"]);
  });
});

describe("settings of a creation", () => {
  const configOf = async (door: Door, config: JsonObject) => door.run(await created(door, withConfig(config))).creations[0]?.config;

  it("hold every field of the client, the headers in either form", async () => {
    const given = {
      verbose: true,
      headers: ["X-One: 1", "x-one: 2", "X-Two: a: b"],
      headers_from_state: { "X-Example": "example_id" },
      extra_env_kwargs: { max_turns: 3 },
      max_concurrent_scoring: 4,
      custom_secrets: {},
      allow_sandbox_access: true,
    };
    expect(await configOf(openDoor(), given)).toMatchObject({
      verbose: true,
      headers: { "x-one": "2", "X-Two": "a: b" },
      headers_from_state: { "X-Example": "example_id" },
      extra_env_kwargs: { max_turns: 3 },
      max_concurrent_scoring: 4,
      hosted: { allow_sandbox_access: true },
    });
    expect(await configOf(openDoor(), { headers: { "X-One": "1" } })).toMatchObject({ headers: { "X-One": "1" } });
  });

  it("say how it is carried out, with absent for what is as usual", async () => {
    const given = {
      max_concurrent_generation: 8,
      num_workers: 3,
      no_interleave_scoring: true,
      heartbeat_url: "https://watch.example.com/s3cret?token=s3cret",
      stall_minutes: 5,
      priority: 0.5,
      common_limit: { id: "of-a-command-1", concurrent: 7 },
    };
    expect(await configOf(openDoor(), given)).toMatchObject(given);
    const usual = await configOf(openDoor(), { num_workers: "auto", no_interleave_scoring: false });
    for (const name of Object.keys(given)) expect(usual).not.toHaveProperty(name);
  });

  it("say what endpoints bear, those of the team by their places; and what that is can be read", async () => {
    const door = openDoor();
    const entry = { model: "m", base_url: "https://models.example/v1", api_key_var: "MODEL_KEY", api_client_type: null, headers: {} };
    door.registry.endpoints.set("fast", { endpoint_id: "fast", entries: [entry], created_at: 0, updated_at: 0, updated_by: "ada" });
    const url = "https://judge.example/v1";
    const id = await created(
      door,
      withConfig({
        limits: [
          { endpoint_id: "fast", requests_per_minute: 500 },
          { url, model: "judge-*", concurrent: 4 },
        ],
      }),
    );
    const config = door.run(id).creations[0]?.config;
    expect(config?.limits).toEqual([
      { base_url: "https://models.example/v1", api_key_var: "MODEL_KEY", model: "m", limits: { requests: 500 } },
      { base_url: url, model: "judge-*", limits: { concurrent: 4 } },
    ]);
    door.run(id).state = viewFor(config ?? CONFIG);
    const shown = (await (await door.call("GET", `/evaluations/${id}`)).json()) as { eval_config: { limits: unknown } };
    expect(shown.eval_config.limits).toEqual([
      { api_base_url: "https://models.example/v1", api_key_var: "MODEL_KEY", model: "m", requests_per_minute: 500 },
      { api_base_url: url, model: "judge-*", concurrent: 4 },
    ]);
    expect(await configOf(openDoor(), { limits: [] })).not.toHaveProperty("limits");
    const places = Array.from({ length: 3 }, () => entry);
    door.registry.endpoints.set("wide", { endpoint_id: "wide", entries: places, created_at: 0, updated_at: 0, updated_by: "ada" });
    const many = (count: number, row: JsonObject) => withConfig({ limits: Array.from({ length: count }, () => row) });
    expect((await create(door, many(MAX_GIVEN_LIMITS, { url, concurrent: 4 }))).status).toBe(200);
    expect((await create(door, many(MAX_GIVEN_LIMITS + 1, { url, concurrent: 4 }))).status).toBe(422);
    expect(await (await create(door, many(67, { endpoint_id: "wide", concurrent: 4 }))).text()).toContain(`come to ${MAX_GIVEN_LIMITS + 1} limits`);
    const unknown = await create(openDoor(), withConfig({ limits: [{ endpoint_id: "none", concurrent: 1 }] }));
    expect([unknown.status, await unknown.text()]).toEqual([422, expect.stringContaining('"body","eval_config","limits",0,"endpoint_id"')]);
  });

  it("show of a heartbeat URL nothing but its origin, over HTTP and in the file for people", async () => {
    const door = openDoor();
    const id = await created(door, withConfig({ heartbeat_url: "https://watch.example.com/s3cret?token=s3cret" }));
    door.run(id).state = viewFor(door.run(id).creations[0]?.config ?? CONFIG);
    const shown = (await (await door.call("GET", `/evaluations/${id}`)).json()) as { eval_config: JsonObject };
    expect(shown.eval_config.heartbeat_url).toBe("https://watch.example.com");
    expect(JSON.stringify(shown)).not.toContain("s3cret");
    const file = new TextDecoder().decode(door.store.objects.get(`runs/${id}/config.json`));
    expect(file).toContain('"heartbeat_url":"https://watch.example.com"');
    expect(file).not.toContain("s3cret");
  });

  it("are the service's own where the request names no endpoint", async () => {
    const door = openDoor({ baseUrl: "https://own.example/v1", keyVar: "OWN_API_KEY" }, { OWN_API_KEY: "k" });
    expect(await configOf(door, {})).toMatchObject({ base_url: "https://own.example/v1", api_key_var: "OWN_API_KEY" });
  });
});

describe("a run id", () => {
  it("that is taken is drawn again", async () => {
    const door = openDoor();
    const reserve = door.registry.reserve.bind(door.registry);
    door.registry.reserve = (request) => {
      for (const id of request.candidates.slice(0, -1)) door.registry.taken.add(id);
      return reserve(request);
    };
    const id = await created(door);
    expect(id).toBe(door.registry.reserved[0]?.candidates.at(-1));
    expect(new Set(door.registry.reserved[0]?.candidates).size).toBeGreaterThan(4);
  });

  it("is the folder's own when a folder is continued, and refused when that run is there", async () => {
    const door = openDoor();
    const results = "a".repeat(64);
    door.store.objects.set(datasetKey(results), new Uint8Array());
    const body = { ...PRIME, resume_from: { run_id: "0123abcd", results, dataset_digest: null, keep_errors: true } };
    expect(await created(door, body)).toBe("0123abcd");
    expect(door.run("0123abcd").creations[0]?.import).toEqual({ results, dataset_digest: null, keep_errors: true });
    expect((await create(door, body)).status).toBe(409);
  });

  it("goes on with a folder of other code only where that is accepted, and with one that says nothing of its code once", async () => {
    const results = "a".repeat(64);
    const [before, old] = [`v2:${"0".repeat(64)}`, "0".repeat(64)];
    const from = async (env_digests: readonly string[], more: JsonObject = {}) => {
      const door = openDoor();
      door.store.objects.set(datasetKey(results), new Uint8Array());
      const resume_from = { run_id: "0123abcd", results, dataset_digest: null, keep_errors: true, env_digests: [...env_digests], ...more };
      const answer = await create(door, { ...PRIME, resume_from });
      return { answer, created: door.run("0123abcd").creations[0]?.import };
    };
    expect((await from([DIGEST_OF_CODE])).created).toEqual({ results, dataset_digest: null, keep_errors: true, env_digests: [DIGEST_OF_CODE] });
    const refused = await from([before]);
    expect(refused.answer.status).toBe(409);
    expect(await refused.answer.json()).toMatchObject({
      code: "resume_mismatch",
      detail: expect.stringMatching(/env_digest: .*v2:000000000000.*v2:cccccccccccc/),
      hint: expect.stringContaining("accept_code_change"),
    });
    expect(refused.created).toBeUndefined();
    expect((await from([before], { accept_code_change: true })).created).toMatchObject({ env_digests: [before, DIGEST_OF_CODE], code_changed: true });
    expect((await from([old])).created).toMatchObject({ env_digests: [old, DIGEST_OF_CODE], code_changed: true });
  });
});

describe("a creation that is sent again", () => {
  const key = { "idempotency-key": "k1" };

  it("with the same key gives the same run, with another body a conflict", async () => {
    const door = openDoor();
    const id = await created(door, PRIME, key);
    expect(await created(door, PRIME, key)).toBe(id);
    expect(door.run(id).creations).toHaveLength(1);
    expect((await create(door, withConfig({ num_examples: 1 }), key)).status).toBe(409);
    expect(await created(door, PRIME)).not.toBe(id);
  });

  it("after a crash between reservation and creation makes the run now", async () => {
    const door = openDoor();
    const id = await created(door, PRIME, key);
    door.run(id).state = null;
    expect(await created(door, PRIME, key)).toBe(id);
    expect(door.run(id).creations).toHaveLength(2);
  });

  it("at the same time as the first gives its run too", async () => {
    const door = openDoor();
    const id = await created(door, PRIME, key);
    const winner = door.run(id).state;
    const looks = [null, winner];
    door.run(id).view = async () => looks.shift() ?? winner;
    expect(await created(door, PRIME, key)).toBe(id);
    expect(door.registry.taken.has(id)).toBe(true);
  });

  it("needs a key of sensible length", async () => {
    expect((await create(openDoor(), PRIME, { "idempotency-key": "k".repeat(256) })).status).toBe(422);
  });
});

describe("a creation that fails half way", () => {
  beforeEach(() => vi.spyOn(console, "error").mockImplementation(() => undefined));
  afterEach(() => vi.restoreAllMocks());

  /** A door behind which every id leads to one run. */
  function doorTo(run: FakeRun): Door {
    const door = openDoor();
    door.runs.get = () => run;
    return door;
  }

  it("because the Run refuses gives the reservation back", async () => {
    const run = new FakeRun();
    run.refusal = { code: "run_busy", message: "Not now." };
    const door = doorTo(run);
    expect((await create(door)).status).toBe(409);
    expect(door.registry.taken.size).toBe(0);
    expect(door.store.objects.size).toBe(0);
  });

  it("because the answer was lost is a success when the Run is there", async () => {
    const run = new FakeRun();
    run.losesAnswer = true;
    const door = doorTo(run);
    expect((await create(door)).status).toBe(200);
    expect(door.registry.taken.size).toBe(1);
    expect(door.store.objects.size).toBe(1);
  });

  it("because another run has the id, unknown to the Registry, leaves that run alone", async () => {
    const run = new FakeRun();
    run.state = viewFor(CONFIG);
    const door = doorTo(run);
    expect((await create(door)).status).toBe(409);
    expect(run.state).toEqual(viewFor(CONFIG));
  });

  it("because the config cannot be stored starts nothing", async () => {
    const run = new FakeRun();
    const door = doorTo(run);
    door.store.failPuts = true;
    const response = await create(door);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, "storage_unavailable"]);
    expect(door.registry.taken.size).toBe(0);
    expect(run.creations).toEqual([]);
  });
});
