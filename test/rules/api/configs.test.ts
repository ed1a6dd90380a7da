import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/config/plan/run-config.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const post = (door: Door, body: JsonObject, headers?: Record<string, string>) => door.call("POST", "/evaluation-configs", body, headers);

async function created(
  door: Door,
  body: JsonObject,
  headers?: Record<string, string>,
): Promise<{ ids: readonly string[]; labels: readonly string[]; warnings: readonly string[] }> {
  const response = await post(door, body, headers);
  const answer = (await response.json()) as { evaluations: { evaluation_id: string; label: string }[]; warnings: string[] };
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return { ids: answer.evaluations.map(({ evaluation_id }) => evaluation_id), labels: answer.evaluations.map(({ label }) => label), warnings: answer.warnings };
}

/** Status and the whole refusal as text. */
async function refusal(door: Door, body: JsonObject): Promise<string> {
  const response = await post(door, body);
  expect(door.runs.size).toBe(0);
  return `${response.status} ${await response.text()}`;
}

const many = (count: number): number[] => Array.from({ length: count }, (_, index) => index / count);
const nested = (levels: number): Json => (levels === 0 ? 0 : [nested(levels - 1)]);

describe("a config file in one request", () => {
  it("makes a run of each evaluation and each combination, in the order of the file", async () => {
    const door = openDoor();
    const { ids, labels, warnings } = await created(door, {
      model: "m",
      num_examples: 7,
      disable_env_server: true,
      eval: [{ id: "reverse-text", max_tokens: 9 }],
      ablation: [{ env_id: "gsm8k", sweep: { temperature: [0, 1], rollouts_per_example: [1, 2] } }],
    });
    expect(labels).toEqual([
      "reverse-text",
      "gsm8k rollouts_per_example=1 temperature=0",
      "gsm8k rollouts_per_example=2 temperature=0",
      "gsm8k rollouts_per_example=1 temperature=1",
      "gsm8k rollouts_per_example=2 temperature=1",
    ]);
    expect(warnings).toEqual([expect.stringContaining("disable_env_server has no effect")]);
    const configs = ids.map((id) => door.run(id).creations[0]?.config);
    expect(configs.map((config) => [config?.env_id, config?.model, config?.num_examples, config?.rollouts_per_example, config?.sampling_args])).toEqual([
      ["reverse-text", "m", 7, expect.any(Number), { max_tokens: 9 }],
      ["gsm8k", "m", 7, 1, { max_tokens: null, temperature: 0 }],
      ["gsm8k", "m", 7, 2, { max_tokens: null, temperature: 0 }],
      ["gsm8k", "m", 7, 1, { max_tokens: null, temperature: 1 }],
      ["gsm8k", "m", 7, 2, { max_tokens: null, temperature: 1 }],
    ]);
  });

  it("makes them once for one idempotency key", async () => {
    const door = openDoor();
    const body = { eval: [{ env_id: "gsm8k" }, { env_id: "reverse-text" }] };
    const first = await created(door, body, { "idempotency-key": "k" });
    expect((await created(door, body, { "idempotency-key": "k" })).ids).toEqual(first.ids);
    expect((await post(door, { eval: [{ env_id: "gsm8k" }] }, { "idempotency-key": "k" })).status).toBe(409);
  });

  it("gives evaluations that meet at one Limiter a common limit, and divides it among those that do not", async () => {
    const door = openDoor();
    const body: JsonObject = {
      model: "m",
      max_concurrent_total: 10,
      eval: [{ env_id: "gsm8k", max_concurrent: 2 }, { env_id: "gsm8k" }, { env_id: "gsm8k", model: "o" }],
    };
    const { ids } = await created(door, body, { "idempotency-key": "k" });
    const configs = ids.map((id) => door.run(id).creations[0]?.config);
    const common_limit = { id: `${ids[0]}-1`, concurrent: 6 };
    expect(configs.map((config) => [config?.max_concurrent, config?.common_limit])).toEqual([
      [2, common_limit],
      [6, common_limit],
      [4, undefined],
    ]);
    expect((await created(door, body, { "idempotency-key": "k" })).ids).toEqual(ids);
  });

  it("lets more evaluations begin than a common limit has places, where they meet at one Limiter", async () => {
    const door = openDoor();
    const { ids } = await created(door, { max_concurrent_total: 1, eval: [{ env_id: "gsm8k" }, { env_id: "gsm8k" }] });
    for (const id of ids) expect(door.run(id).creations[0]?.config).toMatchObject({ max_concurrent: 1, common_limit: { id: `${ids[0]}-1`, concurrent: 1 } });
  });

  it("may bring a registry, with replicas", async () => {
    const door = openDoor({ keyVars: "MODEL_KEY@models.example" }, { MODEL_KEY: "sk-model" });
    const entry = (host: string) => ({ endpoint_id: "pair", model: "m", url: `https://${host}/v1`, key: "MODEL_KEY" });
    const { ids } = await created(door, { endpoint: [entry("models.example"), entry("models.example")], eval: [{ env_id: "gsm8k", endpoint_id: "pair" }] });
    expect(door.run(ids[0] ?? "").creations[0]?.config).toMatchObject({
      model: "m",
      replicas: [{ base_url: "https://models.example/v1" }, { base_url: "https://models.example/v1" }],
    });
  });

  it("may bring limits, for all evaluations and for one", async () => {
    const door = openDoor();
    const url = "https://models.example/v1";
    const { ids } = await created(door, {
      limit: [{ url, requests_per_minute: 100 }],
      eval: [{ env_id: "gsm8k" }, { env_id: "gsm8k", limits: [{ url, concurrent: 2 }] }],
    });
    expect(ids.map((id) => door.run(id).creations[0]?.config.limits)).toEqual([
      [{ base_url: url, limits: { requests: 100 } }],
      [
        { base_url: url, limits: { requests: 100 } },
        { base_url: url, limits: { concurrent: 2 } },
      ],
    ]);
  });

  it.each([
    ["a limit that is wrong", { limit: [{ url: "x", concurrent: 1 }], eval: [{ env_id: "gsm8k" }] }, "body: [[limit]] #1: url must be an http or https URL"],
    ["no evaluation", {}, "has no [[eval]] and no [[ablation]]"],
    ["an unknown key", { eval: [{ env_id: "gsm8k", nope: 1 }] }, '{"loc":["body","[[eval]] #1","nope"],"msg":"Invalid field"}'],
    [
      "a wrong value",
      { eval: [{ env_id: "gsm8k" }, { env_id: "gsm8k", num_examples: "5" }] },
      '{"loc":["body","[[eval]] #2","num_examples"],"msg":"invalid input',
    ],
    ["what a command line is for", { eval: [{ env_id: "gsm8k", output_dir: "x" }] }, "body: [[eval]] #1: output_dir belongs to a command line"],
    [
      "an endpoint that is not there",
      { eval: [{ env_id: "gsm8k", endpoint_id: "x" }] },
      '"eval_config","endpoint_id"],"msg":"\\"x\\" is no endpoint of this team',
    ],
    [
      "a registry that is wrong",
      { endpoint: [{ endpoint_id: "e" }], eval: [{ env_id: "gsm8k" }] },
      "body: [[endpoint]] #1 (e): model and url and key are missing",
    ],
    [
      "a common limit that is too small",
      { max_concurrent_total: 1, eval: [{ env_id: "gsm8k" }, { env_id: "gsm8k", model: "other" }] },
      "max_concurrent_total must be at least 2: so many endpoints, keys and models do the evaluations call",
    ],
    ["a sweep of nothing", { ablation: [{ env_id: "gsm8k", sweep: { temperature: [] } }] }, "asks for no evaluation"],
    [
      "too many",
      { ablation: [{ env_id: "gsm8k", sweep: { num_examples: Array.from({ length: 33 }, (_, i) => i + 1) } }] },
      "comes to 33 evaluations; beside the rest of the file 32 are possible",
    ],
    [
      "more combinations than anybody could make",
      { ablation: [{ env_id: "gsm8k", sweep: { temperature: many(2_000), max_tokens: many(2_000), env_args: { a: many(2_000), b: many(2_000) } } }] },
      "comes to 16000000000000 evaluations",
    ],
    [
      "an empty list after long ones",
      { ablation: [{ env_id: "gsm8k", sweep: { temperature: many(9_000), env_args: { a: many(9_000), b: [] } } }] },
      "asks for no evaluation",
    ],
    ["too many tables", { eval: Array.from({ length: 33 }, () => ({ env_id: "gsm8k" })) }, "asks for 33 evaluations; at most 32 are possible"],
    ["more unknown keys than are told", { eval: [Object.fromEntries(many(5_000).map((key) => [`k${key}`, 1]))] }, "Invalid field"],
    ["a key of half a megabyte", { eval: [{ ["x".repeat(500_000)]: 1 }] }, "Invalid field"],
    ["a value that is nested too deeply", { eval: [{ env_id: "gsm8k", env_args: { a: nested(64) } }] }, "Nested deeper than 64 levels"],
  ])("is refused whole for %s", async (_, body, message) => {
    const text = await refusal(openDoor(), body as JsonObject);
    expect(text).toMatch(/^422 /);
    expect(text).toContain(message);
  });

  it("names all that is wrong, each at its table and key", async () => {
    const text = await refusal(openDoor(), {
      modle: "m",
      eval: [
        { env_id: "gsm8k", num_examples: "5" },
        { env_id: "gsm8k", max_concurent: 1 },
      ],
    });
    expect(JSON.parse(text.slice(4))).toEqual({
      code: "invalid_request",
      detail: [
        { loc: ["body", "global settings", "modle"], msg: "Invalid global field (did you mean model?)" },
        { loc: ["body", "[[eval]] #2", "max_concurent"], msg: "Invalid field (did you mean max_concurrent?)" },
        { loc: ["body", "[[eval]] #1", "num_examples"], msg: expect.stringContaining("expected number") },
      ],
    });
  });

  it("is refused whole for an environment that is not there", async () => {
    expect(await refusal(openDoor(), { eval: [{ env_id: "gsm8k" }, { env_id: "nope" }] })).toMatch(
      /^404 .*\[\[eval\]\] #2: environment_ids\.0: There is no environment/,
    );
  });
});
