import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Json, JsonObject } from "../../../src/config/plan/run-config.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

/** Requests that are wrong in one place: the answer names the place, nothing is started, and nothing is a fault of the service. */

const faults = vi.spyOn(console, "error");
beforeAll(() => faults.mockImplementation(() => undefined));
afterAll(() => {
  expect(faults).not.toHaveBeenCalled();
  faults.mockRestore();
});

const LONG = "x".repeat(100_000);
const DEEP = JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`) as Json;

/** Twenty wrong values for each kind of field. */
const WRONG: Readonly<Record<string, readonly Json[]>> = {
  integer: [null, true, false, "", "5", "NaN", "\0", [], [5], {}, { n: 5 }, 1.5, 0.1, -1.5, -2, 1e300, -1e300, 1e16, [null], DEEP],
  boolean: [null, 0, 1, -1, 1.5, 1e300, "", "true", "false", "yes", "no", "\0", [], [true], [null], [[]], {}, { a: true }, LONG, DEEP],
  object: [null, true, false, 0, 1, -1.5, 1e300, "", "{}", "null", "x", "\0", '{"a":1}', LONG, [], [{}], [1], [null], ["a"], DEEP],
  text: [null, true, false, 0, 1, 1.5, -1, 1e300, [], ["a"], [null], {}, { a: 1 }, "a\0b", "a\nb", "\r", "\u007f", "\ud800", LONG, DEEP],
  list: [
    null,
    true,
    0,
    1.5,
    -1,
    "",
    "a",
    "a,b",
    {},
    { a: "b" },
    [1],
    [null],
    [[]],
    [{}],
    [true],
    ["a\0"],
    [LONG],
    ["a", 2],
    Array.from({ length: 65 }, () => "a"),
    DEEP,
  ],
  name: [
    null,
    true,
    false,
    0,
    1.5,
    "",
    " ",
    "nothing",
    "OPENAI",
    "a b",
    "\0",
    "../x",
    LONG,
    [],
    ["openai_chat_completions"],
    [null],
    {},
    { a: 1 },
    1e300,
    DEEP,
  ],
  variable: [
    null,
    true,
    0,
    1.5,
    "",
    " ",
    "lower_key",
    "A KEY",
    "A-KEY",
    "\0_KEY",
    "EDGEWISE_KEY",
    "EDGEWISE_TOKEN",
    "HF_TOKEN",
    "../A_KEY",
    LONG,
    [],
    ["A_KEY"],
    {},
    { a: 1 },
    DEEP,
  ],
  url: [
    null,
    true,
    0,
    "",
    " ",
    "x",
    "//host",
    "ftp://host",
    "file:///etc/passwd",
    "javascript:1",
    "https://",
    "https://a:b@host",
    "https://a@host",
    "host/path",
    `https://h/${LONG}`,
    "\0",
    [],
    ["https://h"],
    {},
    DEEP,
  ],
  headers: [
    null,
    true,
    0,
    "",
    "A: b",
    ["A"],
    [""],
    [": b"],
    ["A b: c"],
    ["A: \0"],
    ["A: é"],
    [1],
    [[]],
    { A: 1 },
    { "": "b" },
    { "A b": "c" },
    { Authorization: "k" },
    ["Cookie: k"],
    ["Host: h"],
    DEEP,
  ],
  sampling: [
    { temperature: "1" },
    { temperature: -1 },
    { temperature: 1e9 },
    { temperature: [1] },
    { top_p: 2 },
    { top_p: true },
    { max_tokens: 0 },
    { max_tokens: 1.5 },
    { max_tokens: "9" },
    { n: 2 },
    { n: "1" },
    { stop: 5 },
    { stop: [1] },
    { extra_body: [] },
    { extra_body: "x" },
    { extra_body: { n: 2 } },
    { messages: [] },
    { model: "m" },
    { seed: 1.5 },
    { extra_headers: {} },
  ],
};

const field = (name: string, kind: string, except: readonly Json[] = []) =>
  WRONG[kind]?.filter((value) => !except.includes(value)).map((value) => [name, value] as const) ?? [];

/** Fields by their path in the body of a creation. */
const CREATION: readonly (readonly [string, Json])[] = [
  ...field("environment_ids", "list"),
  ...[
    "",
    " ",
    "..",
    "../gsm8k",
    "gsm8k/../x",
    "a/b/c",
    "gsm8k\0",
    "gsm8k%00",
    "/gsm8k",
    "gsm8k/",
    "gsm8k@",
    "@1",
    "a b",
    ".gsm8k",
    "\\",
    "a\\b",
    "gsm8k\n",
    "é",
    "a?b",
    "a#b",
  ].map((id) => ["environment_ids", [id] as Json] as const),
  ...field("inference_model", "text"),
  ...["", " ", "a\\b"].map((model) => ["inference_model", model] as const),
  // Null is as good as none: clients send it.
  ...field("name", "text", [null]),
  ...field("team_id", "text", [null]),
  ...field("eval_config", "object"),
  ...field("resume_from", "object"),
  ...[
    "num_examples",
    "max_concurrent",
    "max_concurrent_generation",
    "max_concurrent_scoring",
    "rollouts_per_example",
    "max_retries",
    "timeout_minutes",
  ].flatMap((name) => field(`eval_config.${name}`, "integer")),
  ...["rollouts_per_example", "timeout_minutes", "num_workers", "stall_minutes"].map((name) => [`eval_config.${name}`, 0] as const),
  ...["many", 0, 1.5, 1_000_001, null].map((total) => ["max_concurrent_total", total] as const),
  ...["a/b", "", "a b", "x".repeat(65), 5].map((id) => ["eval_config.common_limit", { id, concurrent: 1 }] as const),
  ...[0, 1.5, null, "1"].map((concurrent) => ["eval_config.common_limit", { id: "a", concurrent }] as const),
  ...["high", 0, 0.009, 100.1, null].map((priority) => ["eval_config.priority", priority] as const),
  ...["much", 0, -1, 1e-7, 1_000_001, null].map((dollars) => ["eval_config.max_cost", dollars] as const),
  ...["x", null, {}, 1].map((limits) => ["eval_config.limits", limits] as const),
  ...["on", true, null, "readwrite"].map((cache) => ["eval_config.cache", cache] as const),
  ...[0, 366, 1.5, null, "7"].map((days) => ["eval_config.cache_days", days] as const),
  ...["many", 251, 1.5, null].map((workers) => ["eval_config.num_workers", workers] as const),
  ...["ftp://a/b", "a/b", "", 5].map((url) => ["eval_config.heartbeat_url", url] as const),
  ...["independent_scoring", "no_interleave_scoring", "verbose", "allow_sandbox_access", "allow_instances_access", "allow_tunnel_access"].flatMap((name) =>
    field(`eval_config.${name}`, "boolean"),
  ),
  ...["env_args", "extra_env_kwargs", "sampling_args", "custom_secrets"].flatMap((name) => field(`eval_config.${name}`, "object")),
  ...field("eval_config.sampling_args", "sampling"),
  ...field("eval_config.state_columns", "list"),
  ...field("eval_config.headers", "headers"),
  ...field("eval_config.headers_from_state", "headers", ["A: é"]).filter(([, value]) => JSON.stringify(value) !== '["A: é"]'),
  ...field("eval_config.api_base_url", "url"),
  ...field("eval_config.api_key_var", "variable"),
  ...field("eval_config.api_client_type", "name"),
];

const place = (path: string, value: Json): JsonObject => path.split(".").reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject;

async function refusal(response: Response, root: string, path: string): Promise<void> {
  const { code, detail } = (await response.json()) as { code: string; detail: { loc: (string | number)[]; msg: string }[] };
  expect([response.status, code]).toEqual([422, "invalid_request"]);
  const wanted = [root, ...path.split(".")];
  for (const { loc, msg } of detail) {
    expect(loc.slice(0, wanted.length)).toEqual(wanted);
    expect(msg.length).toBeGreaterThan(5);
  }
  expect(detail.length).toBeGreaterThan(0);
}

const shown = (value: Json): string => JSON.stringify(value).slice(0, 40);

describe("a creation with one field wrong", () => {
  const door = openDoor();
  afterAll(() => {
    expect(door.registry.reserved).toEqual([]);
    expect(door.store.objects.size).toBe(0);
  });

  it.each(CREATION.map(([path, value]) => [path, shown(value), value] as const))("%s: %s", async (path, _, value) => {
    const { eval_config, ...top } = place(path, value);
    const body = { environment_ids: ["gsm8k"], inference_model: "m", ...top, ...(eval_config === undefined ? {} : { eval_config }) };
    await refusal(await door.call("POST", "/hosted-evaluations", body), "body", path);
  });

  it.each(["", "{", "[", "nul", "{'a':1}", '{"a":1,}', "\0", '"text"', "5", "null", "[]", "[{}]", '{"environment_ids"', "\ufeff{", "<html>", "a=1&b=2"])(
    "broken JSON %j",
    async (text) => {
      const response = await door.call("POST", "/hosted-evaluations", text);
      expect(response.status).toBe(422);
    },
  );

  it("that is no UTF-8, 12 MB, or nested a million deep", async () => {
    const sent = async (body: Uint8Array | string) => {
      const response = await door.call("POST", "/hosted-evaluations", body);
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    expect(await sent(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))).toEqual([422, "invalid_request"]);
    expect(await sent(JSON.stringify({ eval_config: { env_args: { x: "x".repeat(12_000_000) } } }))).toEqual([413, "body_too_large"]);
    expect(await sent(`{"eval_config":${"[".repeat(500_000)}`)).toEqual([422, "invalid_request"]);
  });

  it("names at most fifty wrong fields, shortened", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${"u".repeat(500)}${n}`, 1]));
    const response = await door.call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m", ...unknown });
    const text = await response.text();
    expect([response.status, (JSON.parse(text) as { detail: unknown[] }).detail.length]).toEqual([422, 51]);
    expect(text.length).toBeLessThan(12_000);
  });
});

describe("a resume with one field wrong", () => {
  const door = openDoor();
  door.run("0000abcd").state = viewFor(CONFIG);
  afterAll(() => expect(door.run("0000abcd").resumes).toEqual([]));

  const RESUME: readonly (readonly [string, Json])[] = [
    ...["num_examples", "max_concurrent", "max_concurrent_scoring", "max_retries", "timeout_minutes"].flatMap((name) => field(name, "integer")),
    ...["high", 0, 101, null].map((priority) => ["priority", priority] as const),
    ...["much", 0, 1_000_001, null].map((dollars) => ["max_cost", dollars] as const),
    ...["x", null, {}, 1].map((limits) => ["limits", limits] as const),
    ...["on", true, null].map((cache) => ["cache", cache] as const),
    ...[0, 366, null, 7].map((days) => ["cache_days", days] as const),
    ...["keep_errors", "verbose"].flatMap((name) => field(name, "boolean")),
    ...field("headers", "headers"),
    ...field("api_base_url", "url"),
    ...field("api_key_var", "variable"),
    ...["expect", "expect.env_args", "expect.sampling_args", "expect.extra_env_kwargs"].flatMap((name) => field(name, "object")),
    ...["expect.env_id", "expect.env_version", "expect.model"].flatMap((name) => field(name, "text")),
    ...[1.5, "3", null, true, -1, 0, [], {}].map((value) => ["expect.rollouts_per_example", value as Json] as const),
    ["unknown", 1] as const,
    ["expect.unknown", 1] as const,
  ];
  it.each(RESUME.map(([path, value]) => [path, shown(value), value] as const))("%s: %s", async (path, _, value) => {
    await refusal(await door.call("POST", "/evaluations/0000abcd/resume", place(path, value)), "body", path);
  });
});

describe("a query with one part wrong", () => {
  const door: Door = openDoor();
  door.run("0000abcd").state = viewFor(CONFIG);
  const numbers = [
    "",
    " ",
    "x",
    "-1",
    "1.5",
    "1e3",
    "0x1",
    "+1",
    "NaN",
    "Infinity",
    "%00",
    "1%00",
    "..%2F",
    "1;1",
    "9".repeat(16),
    "9".repeat(5000),
    "null",
    "true",
    "%F0%9F%92%A9",
    "１",
  ];
  const texts = ["%00", "a%00b", "a%0Ab", "%7F", "x".repeat(201)];
  const cases = [
    ...["skip", "limit"].flatMap((name) => numbers.map((value) => ["/evaluations/", name, value] as const)),
    ...["after", "limit_bytes"].flatMap((name) => numbers.map((value) => ["/evaluations/0000abcd/rows", name, value] as const)),
    ...["page", "limit"].flatMap((name) => numbers.map((value) => ["/evaluations/0000abcd/samples", name, value] as const)),
    ...numbers.map((value) => ["/evaluations/0000abcd/events", "after", value] as const),
    ...["environment_name", "suite_id", "team_id"].flatMap((name) => texts.map((value) => ["/evaluations/", name, value] as const)),
    ...["limit=0", "limit=1001", "unknown=1", "__proto__=1"].map((text) => ["/evaluations/", ...(text.split("=") as [string, string])] as const),
  ];
  it.each(cases.map(([path, name, value]) => [path, name, value.slice(0, 30), value] as const))("%s?%s=%s", async (path, name, _, value) => {
    await refusal(await door.call("GET", `${path}?${name}=${value}`), "query", name);
  });
});

describe("an id in the path", () => {
  const door = openDoor();
  const ids = [
    "0",
    "0000ABCD",
    "0000abcde",
    "..",
    "%2E%2E",
    "..%2F..%2Fruns",
    "%00",
    "0000abcd%00",
    "0000abcd%2F",
    "0000%61bcd%20",
    "%",
    "%FF",
    "%zz",
    "' OR 1=1",
    "0000abc\u00e9",
    "\\",
    "x".repeat(5000),
  ];
  const routes: readonly (readonly [string, (id: string) => string])[] = [
    ["GET", (id) => `/evaluations/${id}`],
    ["GET", (id) => `/evaluations/${id}/rows`],
    ["GET", (id) => `/evaluations/${id}/samples`],
    ["GET", (id) => `/evaluations/${id}/events`],
    ["GET", (id) => `/evaluations/${id}/files/results.jsonl`],
    ["GET", (id) => `/hosted-evaluations/${id}/logs`],
    ["PATCH", (id) => `/hosted-evaluations/${id}/cancel`],
    ["POST", (id) => `/evaluations/${id}/interrupt`],
    ["POST", (id) => `/evaluations/${id}/resume`],
    ["DELETE", (id) => `/evaluations/${id}`],
    ["GET", (id) => `/datasets/${id}`],
    ["PUT", (id) => `/datasets/${id}`],
    ["GET", (id) => `/environmentshub/${id}/${id}/@latest`],
    ["GET", (id) => `/evaluations/0000abcd/files/${id}`],
  ];
  it.each(ids.map((id) => [id.slice(0, 30), id] as const))("%s is a 4xx that touches no run and no stored object", async (_, id) => {
    for (const [method, path] of routes) {
      const response = await door.call(method, path(id), method === "PUT" ? "x" : undefined);
      expect([response.status, path(id).slice(0, 60)]).toEqual([response.status === 422 ? 422 : 404, path(id).slice(0, 60)]);
    }
    expect([...door.runs.keys()].filter((known) => known !== "0000abcd")).toEqual([]);
    expect(door.store.reads).toEqual([]);
  });
});

describe("the idempotency key", () => {
  it.each(["", "é", "k".repeat(256)])("%j is refused by name", async (key) => {
    const response = await openDoor().call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m" }, { "idempotency-key": key });
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["header", "Idempotency-Key"] }] });
  });
});
