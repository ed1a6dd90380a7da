import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const user = (run_id: string | null, more: object = {}) => ({
  run_id,
  team: run_id === null ? null : "default",
  kind: "model",
  priority: 1,
  in_flight: 0,
  waiting: 0,
  accepted: 0,
  ...more,
});
const BUSY = {
  limiter_id: "0000000a",
  api_base_url: "https://api.openai.com/v1",
  api_key_var: "OPENAI_API_KEY",
  model_class: "gpt-4.1-mini",
  seen_at: "2026-11-22T10:00:00.000Z",
  given: ["ours"],
  state: {
    mode: "limited",
    limits: [
      { kind: "requests_per_minute", limit: 500, source: "told" },
      { kind: "concurrent", limit: 12.4, source: "found" },
      { kind: "tokens_per_minute", limit: 200_000, source: "given" },
    ],
    bound: { kind: "requests_per_minute", limit: 500, source: "told" },
    paused_until: null,
    down_since: null,
    in_flight: 12,
    waiting: 30,
    minute: { sent: 400, accepted: 398, refused: 2, refused_share: 0.005, input_tokens: 1, output_tokens: 2 },
    latency_ms: { p50: 512, p95: 12_400, p99: 20_000 },
    users: [
      user("0000abce", { team: "acme", kind: "judges", priority: 2.5, in_flight: 4 }),
      user("0000abcd", { in_flight: 8, waiting: 30 }),
      user(null, { in_flight: 1 }),
    ],
  },
};
const IDLE = {
  ...BUSY,
  ...{ limiter_id: "0000000b", api_base_url: "http://gpu-1:8000/v1", api_key_var: "VLLM_API_KEY\u001b[31m", model_class: "qwen3", given: [] },
  state: {
    ...{ mode: "open", limits: [], bound: null, paused_until: "2026-11-22T10:00:05.000Z", down_since: "2026-11-22T10:00:01.000Z", in_flight: 0, waiting: 0 },
    ...{ minute: { sent: 0, accepted: 0, refused: 0, refused_share: null, input_tokens: 0, output_tokens: 0 }, latency_ms: null, users: [] },
  },
};
const UNKNOWN = { ...IDLE, limiter_id: "0000000c", api_key_var: "OTHER_KEY", state: null };
const GIVEN = {
  name: "ours",
  limits: [
    { api_base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY", model: "gpt-*", requests_per_minute: 500, concurrent: 1 },
    { api_base_url: "https://other.example", tokens_per_minute: 200_000 },
  ],
  created_at: "2026-11-22T10:00:00.000Z",
  updated_at: "2026-11-22T10:00:00.000Z",
  updated_by: "ada",
};

let cwd = "";
let service: FakeService;
let limiters: readonly object[] = [];
let total = 0;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-limits-"));
  limiters = [BUSY, IDLE, UNKNOWN];
  total = 3;
  service = await startFakeService((request, response) => {
    const path = request.path.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path === "/limits") return sendJson(response, 200, { data: limiters, total, skip: 0, limit: 100 });
    if (path === "/limits/given") return sendJson(response, 200, { data: [GIVEN] });
    if (path === "/limits/given/ours") return sendJson(response, 200, request.method === "DELETE" ? { message: "Limit cleared." } : { data: GIVEN });
    if (path === "/limits/0000000a") return sendJson(response, 200, { data: BUSY });
    if (path === "/limits/0000000a/forget") return sendJson(response, 200, { message: "Forgotten." });
    return sendJson(response, 404, { detail: "Limiter not found.", code: "not_found" });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = async (args: readonly string[], columns = 120) => {
  const { code, out, err } = await runInProcess(args, { cwd, columns, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  return { code, lines: out, stderr: err };
};
const asked = () =>
  service.asked
    .filter(({ path }) => path !== "/health")
    .map(({ method, path, query, body }) => [
      `${method} ${path.replace("/api/v1", "")}${query.size > 0 ? `?${query}` : ""}`,
      body === "" ? null : (JSON.parse(body) as unknown),
    ]);

/** The time of day on this machine, as the display of a run has it. */
const clock = (iso: string): string => new Date(iso).toTimeString().slice(0, 8);

describe("edgewise limits", () => {
  it("shows at a glance what each endpoint bears for each key, what is in flight and waits, and who uses it", async () => {
    const { code, lines } = await run(["limits"]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      "ENDPOINT    KEY             MODEL         OPEN  WAIT   429   P50  P95  LIMITER",
      "OpenAI      OPENAI_API_KEY  gpt-4.1-mini    12    30  0.5%  0.5s  12s  0000000a",
      "  limit    500 requests a minute (told), about 12 requests at once (found), 200,000 tokens a minute (given: ours)",
      "  waiting  for OpenAI's 500 requests a minute",
      "  used by  0000abcd 8 open, 30 waiting · acme/0000abce (judges, priority 2.5) 4 open · other teams 1 open",
      // What would act on a terminal goes.
      "gpu-1:8000  VLLM_API_KEY    qwen3            0     0     -     -    -  0000000b",
      "  limit    none known",
      `  down     since ${clock("2026-11-22T10:00:01.000Z")}`,
      `  paused   until ${clock("2026-11-22T10:00:05.000Z")}`,
      "gpu-1:8000  OTHER_KEY       qwen3            -     -     -     -    -  0000000c",
      "  limit    none known: nobody calls it now, or its limiter does not answer",
    ]);
    expect(asked()).toEqual([["GET /limits?limit=100", null]]);
  });

  it("keeps its numbers in the columns of a narrow terminal", async () => {
    const { lines } = await run(["limits", "list"], 80);
    const table = lines.filter((line) => !line.startsWith("  "));
    expect(table.every((line) => line.length <= 80)).toBe(true);
    expect(table[1]).toMatch(/ 12 +30 +0\.5% +0\.5s +12s +0000000a$/);
  });

  it("is the service's answer as JSON, of another team where that is asked for", async () => {
    const { lines } = await run(["limits", "-o", "json", "--team", "acme"]);
    expect(JSON.parse(lines.join("\n"))).toEqual({ data: limiters, total: 3, skip: 0, limit: 100 });
    expect(asked()).toEqual([["GET /limits?team_id=acme&limit=100", null]]);
  });

  it("says where nothing was called, and where not all are shown", async () => {
    total = 200;
    expect((await run(["limits"])).stderr).toContain("The newest 3 of 200 are shown.");
    [limiters, total] = [[], 0];
    expect(await run(["limits", "ls"])).toMatchObject({ code: 0, lines: [], stderr: expect.stringContaining("No endpoint has been called yet") });
  });

  it("get shows one of them, with its address", async () => {
    const { lines } = await run(["limits", "get", "0000000a"]);
    expect([lines[0], lines[2]]).toEqual(["Address  https://api.openai.com/v1", expect.stringContaining("OPENAI_API_KEY")]);
    expect(await run(["limits", "get", "0000000f"])).toMatchObject({ code: 1, stderr: expect.stringContaining("Limiter not found") });
  });

  it("given shows what is given, place by place", async () => {
    const { lines } = await run(["limits", "given"], 200);
    expect(lines).toEqual([
      "NAME  ENDPOINT                   KEY             MODEL  LIMIT                                     BY",
      "ours  https://api.openai.com/v1  OPENAI_API_KEY  gpt-*  1 request at once, 500 requests a minute  ada",
      "      https://other.example      any             any    200,000 tokens a minute",
    ]);
    expect(JSON.parse((await run(["limits", "given", "-o", "json"])).lines.join("\n"))).toEqual({ data: [GIVEN] });
  });

  it("set, clear and forget ask for just that", async () => {
    const place = ["-b", "https://api.openai.com/v1", "-k", "OPENAI_API_KEY", "-m", "gpt-*"];
    const amounts = [
      "--requests-per-minute",
      "500",
      "--tokens-per-minute",
      "9",
      "--input-tokens-per-minute",
      "8",
      "--output-tokens-per-minute",
      "7",
      "--concurrent",
      "6",
    ];
    expect((await run(["limits", "set", "ours", ...place, ...amounts, "--team", "acme"])).code).toBe(0);
    expect((await run(["limits", "set", "ours", "--endpoint-id", "fast", "--concurrent", "4"])).code).toBe(0);
    expect((await run(["limits", "clear", "ours"])).lines).toEqual(["Limit cleared."]);
    expect((await run(["limits", "forget", "0000000a", "-o", "json"])).lines.join("\n")).toContain('"message": "Forgotten."');
    expect(asked()).toEqual([
      [
        "PUT /limits/given/ours?team_id=acme",
        {
          ...{ api_base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY", model: "gpt-*" },
          ...{ requests_per_minute: 500, tokens_per_minute: 9, input_tokens_per_minute: 8, output_tokens_per_minute: 7, concurrent: 6 },
        },
      ],
      ["PUT /limits/given/ours", { endpoint_id: "fast", concurrent: 4 }],
      ["DELETE /limits/given/ours", null],
      ["POST /limits/0000000a/forget", {}],
    ]);
  });

  it.each([
    [["set", "ours", "--concurrent", "4"], "limits set: --endpoint-id is missing"],
    [["set", "ours", "-b", "https://a.example"], "give at least one of concurrent, requests_per_minute"],
    [["set", "ours", "-b", "a.example", "--concurrent", "4"], "--api-base-url must be an http or https URL"],
    [["set", "ours", "-b", "https://a.example", "-k", "sk-123", "--concurrent", "4"], "--api-key-var must be the name of a variable that holds a key"],
    [
      ["set", "ours", "-b", "https://a.example", "--endpoint-id", "fast", "--concurrent", "4"],
      "--api-base-url is given beside endpoint_id, which names a place already",
    ],
    [["set", "ours", "-b", "https://a.example", "--concurrent", "0"], "--concurrent must be at least 1"],
    [["set", "ours", "-b", "https://a.example", "--concurrent", "many"], '--concurrent: must be a whole number, not "many"'],
    [["set", "a b", "-b", "https://a.example", "--concurrent", "4"], '"a b" is no name of a limit'],
    [["clear", "a b"], '"a b" is no name of a limit'],
    [["forget", "ours"], '"ours" is no limiter'],
    [["get", "ours"], '"ours" is no limiter'],
    [["lst"], 'limits "lst": there is no such command'],
    [["lst"], "One of list, get, given, set, clear, forget;"],
  ])("%j is refused by name before anything is asked", async (args, words) => {
    expect(await run(["limits", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    expect(asked()).toEqual([]);
  });
});
