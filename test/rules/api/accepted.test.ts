import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBody } from "../../../src/api/schemas.ts";
import { createClient } from "../../../src/clients/create-client.ts";
import { standalonePorts } from "../../../src/clients/standalone-ports.ts";
import { headerNameProblem } from "../../../src/config/endpoints/headers.ts";
import { CLIENT_TYPES, type JsonObject, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { findEnvironment, listEnvironments } from "../../../src/environments/definition/load.ts";
import { rowOf } from "../../../src/rollouts/rows/row.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import { MAX_R2_KEY_BYTES, MAX_ROW_BYTES } from "../../../src/limits.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { COMMAND_SECRET, CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";
import { completion, ask } from "../../support/clients/scripted-endpoint.ts";
import { RuleRun } from "../../support/run/rule-run.ts";

/** Whatever a creation takes, the engine works with: nothing that was let in fails later for what it is. */

const word = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("constructor", "__proto__", "toString", "..", "a/b", "a\\b", "é", "𝔘", "\u2028", "[/red]", "-1"),
);
const anyJson = fc.oneof({ maxDepth: 3 }, fc.jsonValue({ maxDepth: 3 }), word, fc.double({ noNaN: true, noDefaultInfinity: true }));
const table = fc.dictionary(word, anyJson, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>;
/** Mostly right: a body is taken only when all of it is. */
const mostly = <T, U>(right: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: other });
const whole = (least: number, most: number) =>
  mostly(fc.oneof(fc.integer({ min: least, max: most }), fc.constantFrom(least, most)), fc.constantFrom(least - 1, most + 1, least + 0.5));
const headerName = mostly(
  fc.stringMatching(/^X-[A-Za-z0-9-]{0,20}$/).filter((name) => headerNameProblem(name) === null),
  fc.oneof(word, fc.constantFrom("Host", "Cookie")),
);
const stateKey = fc.oneof(fc.constantFrom("example_id", "prompt", "task", "nothing", "constructor", "toString"), fc.stringMatching(/^[ -~]{1,40}$/));
const linesOf = (value: fc.Arbitrary<string>) => {
  const lines = fc.array(fc.tuple(headerName, mostly(value, word)), { maxLength: 5 });
  return fc.oneof(
    lines.map((pairs) => pairs.map(([name, text]) => `${name}: ${text}`)),
    lines.map((pairs) => Object.fromEntries(pairs.map(([name, text]) => [name, text.trim()] as const))),
  );
};
const headers = linesOf(fc.stringMatching(/^[ -~]{0,40}$/));
const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 2 });
const sampling = fc.record(
  {
    temperature: fc.option(number),
    top_p: fc.option(number),
    max_tokens: fc.option(whole(1, 10_000_000)),
    n: mostly(fc.constantFrom(1, null), fc.constant(2)),
    stop: fc.oneof(word, fc.array(word, { maxLength: 4 })),
    seed: fc.option(fc.maxSafeInteger()),
    stream: fc.boolean(),
    extra_body: mostly(fc.oneof(table, fc.constant({ n: 1 })), fc.constant({ messages: [] })),
    logprobs: fc.oneof(fc.boolean(), fc.constant(null)),
    response_format: anyJson,
  },
  { requiredKeys: [] },
);

/** What bounds a run beside others, at its creation and when it goes on. */
const SHARED = {
  max_concurrent: whole(-1, 1_000_000),
  max_concurrent_generation: whole(-1, 1_000_000),
  max_concurrent_scoring: whole(-1, 1_000_000),
  priority: mostly(fc.double({ noNaN: true, min: 0.01, max: 100 }), fc.constantFrom(0, 101)),
  cache: fc.constantFrom("off", "read", "read-write"),
  limits: fc.array(
    mostly(
      fc.record({ url: fc.webUrl(), concurrent: whole(1, 1_000_000_000_000) }),
      fc.constantFrom(
        { url: "x", concurrent: 1 },
        { url: "https://a.example" },
        { endpoint_id: "none", concurrent: 1 },
        { endpoint_id: "e", url: "https://a.example", concurrent: 1 },
      ),
    ),
    { maxLength: 3 },
  ),
};
/** Much of what else may be drawn stands in its way. */
const seldom = fc.constantFrom(false, false, false, true);
const evalConfig = fc.record(
  {
    env_args: mostly(fc.constantFrom({}, { dataset: `sha256:${"a".repeat(64)}` }), table),
    extra_env_kwargs: mostly(fc.constantFrom({}, { max_turns: 2 }, { env_id: "other" }), table),
    num_examples: whole(-1, 100_000_000),
    rollouts_per_example: whole(1, 1024),
    ...SHARED,
    num_workers: fc.oneof(fc.constant("auto"), whole(1, 250)),
    no_interleave_scoring: fc.boolean(),
    batch: seldom,
    heartbeat_url: fc.webUrl(),
    stall_minutes: whole(1, 1440),
    max_retries: whole(0, 100),
    timeout_minutes: whole(1, 1440),
    sampling_args: mostly(sampling, table),
    headers,
    headers_from_state: linesOf(stateKey),
    state_columns: fc.array(mostly(fc.oneof(stateKey, fc.constantFrom("", "turn", "reward", "é", "\u2028")), word), { maxLength: 6 }),
    independent_scoring: fc.boolean(),
    verbose: fc.boolean(),
    api_client_type: fc.constantFrom(...CLIENT_TYPES),
    api_base_url: fc.oneof(fc.webUrl(), fc.constantFrom("http://127.0.0.1:1/v1", "http://[::1]/v1?a=b#c", "https://exämple.test/ü", "https://h")),
    api_key_var: mostly(fc.constantFrom("MY_API_KEY", "A_KEY"), fc.constant("HF_TOKEN")),
    custom_secrets: fc.constant({}),
    allow_tunnel_access: fc.boolean(),
  },
  { requiredKeys: [] },
);
const body = fc.record(
  {
    environment_ids: fc.array(fc.constantFrom("gsm8k", "reverse-text", "edgewise/reverse-text"), { minLength: 1, maxLength: 2 }),
    inference_model: mostly(fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }), fc.constant("org/model"), fc.constant("..")), word),
    name: fc.option(mostly(fc.string({ unit: "grapheme" }), word)),
    team_id: fc.option(mostly(fc.constant("team"), word)),
    eval_config: evalConfig,
  },
  { requiredKeys: ["environment_ids", "inference_model"] },
);

/** Two keys may go to any host, so that most of what is drawn is taken. */
const keyVars = "*_API_KEY,MY_API_KEY@*,A_KEY@*";
const KEYS = { PRIME_API_KEY: "sk-very-secret-1", MY_API_KEY: "sk-very-secret-2", A_KEY: "sk-very-secret-3", HF_TOKEN: "hf-very-secret" };

/** Creates, and gives the configs of the runs; none when the request was refused. */
async function creation(given: unknown, attended: boolean): Promise<readonly RunConfig[]> {
  const door = openDoor({ baseUrl: "https://api.pinference.ai/api/v1", keyVars }, KEYS, undefined, listEnvironments());
  const response = await door.call("POST", "/hosted-evaluations", JSON.stringify(given), attended ? { "x-edgewise-attended": COMMAND_SECRET } : {});
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  if (response.status !== 200) {
    expect(door.registry.reserved).toEqual([]);
    return [];
  }
  const { evaluation_ids } = JSON.parse(text) as { evaluation_ids: string[] };
  for (const id of evaluation_ids) expect((await door.call("GET", `/evaluations/${id}`)).status).toBe(200);
  return evaluation_ids.map((id) => door.run(id).creations[0]?.config as RunConfig);
}

/** One request of the run's client, as far as the network. */
async function sentRequest(config: RunConfig): Promise<Request> {
  const sent: Request[] = [];
  const client = createClient(
    config.api_client_type,
    {
      base_url: config.base_url,
      api_key: "sk-1",
      api_key_var: config.api_key_var,
      headers: config.headers ?? {},
      headers_from_state: config.headers_from_state ?? {},
    },
    {
      ...standalonePorts(),
      maxRequestRetries: 0,
      ai: {
        run: async (_model, inputs, { extraHeaders }) => {
          sent.push(new Request("https://ai.test", { method: "POST", headers: extraHeaders, body: JSON.stringify(inputs) }));
          return Response.json({ result: { response: "hi" } });
        },
      },
      fetch: async (url, init) => {
        sent.push(new Request(url, init));
        return Response.json(completion("hi"));
      },
    },
  );
  const state = { example_id: 1, prompt: "é\n", task: "t" };
  // What the answer is worth is another test's business.
  await client.getResponse({ ...ask(), model: config.model, sampling_args: config.sampling_args, state: state as never }).catch(() => undefined);
  const [first] = sent;
  if (first === undefined) throw new Error("nothing was sent");
  return first;
}

async function engineTakes(config: RunConfig): Promise<void> {
  expect(JSON.parse(JSON.stringify(config))).toEqual(config);
  expect(new TextEncoder().encode(JSON.stringify(config)).byteLength).toBeLessThan(MAX_ROW_BYTES);
  const key = outputKey(config.env_id, config.model, config.run_id, "results.jsonl");
  expect(key.split("/")).toHaveLength(5);
  expect(new TextEncoder().encode(key).byteLength).toBeLessThanOrEqual(MAX_R2_KEY_BYTES);
  expect(JSON.stringify(config)).not.toContain("very-secret");

  // Of a run with batches units are granted once they have their answers (test/rules/run/batching).
  const { env_args, extra_env_kwargs = {}, independent_scoring, batch, ...direct } = config;
  expect(findEnvironment(config.env_id)?.check({ env_args, extra_env_kwargs, independent_scoring, batch: batch === true }, () => "k")).toBeNull();
  expect(RuleRun.open(1, { ...direct, env_args, extra_env_kwargs, independent_scoring }).grant("a").config).toMatchObject({ run_id: config.run_id });

  const request = await sentRequest(config);
  expect(JSON.parse(await request.text())).toBeTypeOf("object");
  const fromState = new Set(["x-session-id", ...Object.keys(config.headers_from_state ?? {}).map((name) => name.toLowerCase())]);
  for (const [name, value] of Object.entries(config.headers ?? {})) if (!fromState.has(name.toLowerCase())) expect(request.headers.get(name)).toBe(value);

  const client = { type: "test", getResponse: () => Promise.reject(new Error("not called")) };
  const input = { prompt: [{ role: "user", content: "q" }], example_id: 1, task: "t" };
  const state = createState(input as never, { client: client as never, model: config.model, samplingArgs: config.sampling_args, tools: [], now: 1 });
  const { row, line } = rowOf(state, { rolloutIndex: 0, stateColumns: config.state_columns } as never);
  expect(row.error).toBeNull();
  for (const column of config.state_columns) expect(JSON.parse(line)).toHaveProperty([column]);
}

describe("a body that a creation takes", () => {
  it("is one that every part of the engine takes; any other is refused before anything is stored", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), async (given, attended) => {
        const configs = await creation(given, attended);
        for (const config of configs) await engineTakes(config);
        if (configs.length > 0) taken++;
      }),
      { numRuns: 400 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it("is one that the engine takes, where every single field is drawn to be right", async () => {
    const right = body.filter((given) => createBody.safeParse(given).success);
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(right, async (given) => {
        const configs = await creation(given, true);
        for (const config of configs) await engineTakes(config);
        if (configs.length > 0) taken++;
      }),
      { numRuns: 200 },
    );
    expect(taken).toBeGreaterThan(100);
  });
});

const resumeBody = fc.record(
  {
    num_examples: whole(-1, 100_000_000),
    keep_errors: fc.boolean(),
    api_base_url: fc.webUrl(),
    api_key_var: fc.constantFrom("MY_API_KEY", "A_KEY"),
    ...SHARED,
    num_workers: fc.oneof(fc.constant("auto"), whole(1, 250)),
    no_interleave_scoring: fc.boolean(),
    batch: seldom,
    heartbeat_url: fc.webUrl(),
    stall_minutes: whole(1, 1440),
    max_retries: whole(0, 100),
    timeout_minutes: whole(1, 1440),
    headers,
    headers_from_state: linesOf(stateKey),
    verbose: fc.boolean(),
    expect: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.record(
          {
            env_id: fc.constantFrom("gsm8k", "other"),
            env_args: table,
            model: word,
            sampling_args: sampling,
            extra_env_kwargs: table,
            rollouts_per_example: whole(1, 1024),
          },
          { requiredKeys: [] },
        ),
      },
    ),
  },
  { requiredKeys: [] },
);

describe("a body that a resume takes", () => {
  it("is one that the run takes, or refuses by name", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(resumeBody, async (given) => {
        const door = openDoor({ keyVars }, KEYS);
        door.run("0000abcd").state = viewFor(CONFIG);
        const response = await door.call("POST", "/evaluations/0000abcd/resume", JSON.stringify(given));
        expect([200, 422], await response.text()).toContain(response.status);
        const [request] = door.run("0000abcd").resumes;
        if (request === undefined) return;
        const run = RuleRun.open(1);
        run.call("interrupt", null);
        const resumed = run.call("resume", request);
        if (!resumed.ok) expect(resumed.error.code).toBe("resume_mismatch");
        else taken++;
        expect(JSON.parse(JSON.stringify(run.ledger.config()))).toEqual(run.ledger.config());
      }),
      { numRuns: 300 },
    );
    expect(taken).toBeGreaterThan(50);
  });
});
