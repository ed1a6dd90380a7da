import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeRequest, type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const ID = "1a2b3c4d";
let cwd = "";
let service: FakeService | null = null;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-runs-"));
});
afterEach(async () => {
  await service?.close();
  service = null;
  rmSync(cwd, { recursive: true, force: true });
});

interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly frames?: readonly string[];
}

/** Answers `METHOD path` (without `/api/v1`) from a table, and anything else as the service answers an unknown id. */
async function serve(answers: Readonly<Record<string, Answer | ((request: FakeRequest) => Answer)>>): Promise<void> {
  service = await startFakeService((request, response) => {
    if (request.path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    const found = answers[`${request.method} ${request.path.replace("/api/v1", "")}`];
    if (found === undefined) return sendJson(response, 404, { detail: "Evaluation not found.", code: "not_found" });
    const { status = 200, json, frames } = typeof found === "function" ? found(request) : found;
    if (frames === undefined) return sendJson(response, status, json);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(frames.join(""));
  });
}

const run = (...args: readonly string[]) => runInProcess(["eval", ...args], { cwd, env: { EDGEWISE_URL: service?.url ?? "", EDGEWISE_TOKEN: "secret" } });
const asked = (): readonly string[] =>
  (service?.asked ?? []).map(({ method, path, query }) => `${method} ${path}${query.size > 0 ? `?${query}` : ""}`).slice(1);

const listed = (id: string, change: object = {}) => ({
  evaluation_id: id,
  status: "COMPLETED",
  created_at: new Date(Date.now() - 3 * 3_600_000 - 5000).toISOString(),
  metadata: { env_id: "reverse-text", model: "openai/gpt-4.1-mini" },
  edgewise: { settled: true, active: false, suspended: false, done_rollouts: 60, total_rollouts: 60, reward: 0.8571 },
  ...change,
});

const state = { run_id: ID, phase: "settled", settled: true, suspended: false, done_rollouts: 5, total_rollouts: 6, tokens: { input: 1200, output: 600 } };
const evaluation = {
  evaluation_id: ID,
  name: "a\u001b[31m name",
  status: "FAILED",
  error_message: "no\nluck",
  eval_config: { api_key_var: "MY_KEY" },
  metadata: {
    env_id: "gsm8k",
    model: "m",
    env_args: { dataset: `sha256:${"a".repeat(64)}` },
    extra_env_kwargs: { max_turns: 5 },
    base_url: "https://x/v1",
    num_examples: 3,
    rollouts_per_example: 2,
    sampling_args: { n: 1 },
  },
  metrics: { reward: 0.5, metrics: { correct: 0.25 }, error: 0 },
  created_at: "2026-11-21T10:00:00.000Z",
  started_at: "2026-11-21T10:00:01.000Z",
  finalized_at: "2026-11-21T10:02:03.000Z",
  edgewise: {
    ...state,
    vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
    errors: { rate_limited: 1 },
    env_version: "2",
    dataset_name: "test.jsonl",
    dataset_digest: "d".repeat(64),
  },
};
const metadata = { pass_at_k: { 1: 0.5, 2: 0.75 }, pass_all_k: { 1: 0.5, 2: 0.25 }, edgewise: { reward_ci95: [0.25, 0.75], n_clusters: 3 } };

describe("eval list", () => {
  it("has the data set, options, interval, pass@k, errors and folder of each where there is room, and all of them as JSON", async () => {
    const facts = { dataset_name: "test.jsonl", errored_rollouts: 2, reward_ci95: [0.81, 0.9], pass_at_k: { 1: 0.8571, 4: 0.95 } };
    const { metadata, edgewise } = listed("00000001");
    const whole = listed("00000001", { metadata: { ...metadata, extra_env_kwargs: { max_turns: 5 } }, edgewise: { ...edgewise, ...facts } });
    await serve({ "GET /evaluations/": { json: { evaluations: [whole, listed("00000002")], total: 2, skip: 0, limit: 20 } } });
    const env = { EDGEWISE_URL: service?.url ?? "", EDGEWISE_TOKEN: "secret" };
    const linesAt = async (columns: number) => (await runInProcess(["eval", "list"], { cwd, env, columns })).out;
    const wide = await linesAt(200);
    expect(wide[0]).toMatch(/95% INTERVAL +ERRORS +PASS@K +DATASET +OPTIONS$/);
    expect(wide[1]).toMatch(/0\.810 to 0\.900 +2 +4=0\.950 +test\.jsonl +\{"max_turns":5\}$/);
    expect(wide[2]).toMatch(/3h +- +- +- +- +-$/);
    expect((await linesAt(110))[0]).toMatch(/AGE +95% INTERVAL/);
    for (const line of await linesAt(80)) expect(line.length).toBeLessThanOrEqual(80);
    expect(JSON.parse((await run("list", "-o", "json")).out.join("\n"))).toMatchObject({ evaluations: [{ edgewise: facts }, {}] });
  });

  it("tells the runs of a sweep apart by what varies, and others by their names", async () => {
    const named = (id: string, name: string) => listed(id, { name });
    const runs = [
      named("00000001", "reverse-text temperature=0.5"),
      named("00000002", "reverse-text temperature=1"),
      named("00000003", "nightly"),
      listed("00000004", { name: "reverse-text-openai/gpt-4.1-mini" }),
    ];
    await serve({ "GET /evaluations/": { json: { evaluations: runs, total: 4, skip: 0, limit: 20 } } });
    const { out } = await run("list");
    expect(out.slice(0, 4).map((line) => line.split(/ {2,}/)[2])).toEqual(["NAME", "temperature=0.5", "temperature=1", "nightly"]);
    for (const line of out) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("says of a run that has just begun, here or by a clock that is ahead, that it is 0s old", async () => {
    const at = (ms: number) => ({ created_at: new Date(Date.now() + ms).toISOString() });
    await serve({ "GET /evaluations/": { json: { evaluations: [listed(ID, at(0)), listed("00000002", at(3_600_000))], total: 2, skip: 0, limit: 20 } } });
    expect((await run("list")).out.slice(1).map((line) => line.split(/ +/).at(-1))).toEqual(["0s", "0s"]);
  });

  it("shows no reward of a run of which every rollout ended in an error", async () => {
    const { edgewise } = listed(ID);
    const failed = listed(ID, { edgewise: { ...edgewise, reward: 0, errored_rollouts: 60 } });
    await serve({ "GET /evaluations/": { json: { evaluations: [failed], total: 1, skip: 0, limit: 20 } } });
    expect((await run("list")).out[1]).toMatch(/60\/60 +- +3h/);
  });

  it("shows runs as columns, says what is on further pages, and asks for the page and the environment", async () => {
    const runs = [
      listed(ID),
      listed("00000002", { status: "RUNNING", edgewise: { ...listed(ID).edgewise, suspended: true, total_rollouts: 0, reward: null } }),
    ];
    await serve({ "GET /evaluations/": { json: { evaluations: runs, total: 45, skip: 20, limit: 20 } } });
    const { code, out, err } = await run("list", "-p", "2", "-e", "owner/reverse-text");
    expect(code).toBe(0);
    expect(out).toEqual([
      "RUN       ENVIRONMENT   MODEL                STATUS     ROLLOUTS  REWARD  AGE",
      "1a2b3c4d  reverse-text  openai/gpt-4.1-mini  COMPLETED     60/60   0.857   3h",
      "00000002  reverse-text  openai/gpt-4.1-mini  SUSPENDED         -       -   3h",
    ]);
    expect(err).toBe("Page 2 of 3 (45 runs of owner/reverse-text). The next one: -p 3");
    expect(asked()).toEqual(["GET /api/v1/evaluations/?skip=20&limit=20&environment_name=owner%2Freverse-text"]);
    expect(service?.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer secret", "Bearer secret"]);
  });

  it("prints the service's answer and nothing else with -o json", async () => {
    const answer = { evaluations: [listed(ID, { metadata: { env_id: "e", model: "\u009b31mred" } })], total: 1, skip: 0, limit: 7 };
    await serve({ "GET /evaluations/": { json: answer } });
    const { code, out, err } = await run("ls", "-o", "json", "-n", "7");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out.join("\n"))).toEqual(answer);
    expect(out.join("")).toContain("\\u009b31mred");
  });

  it("says that there is nothing, or nothing more", async () => {
    await serve({ "GET /evaluations/": ({ query }) => ({ json: { evaluations: [], total: query.get("skip") === "0" ? 0 : 3 } }) });
    expect(await run("list")).toEqual({ code: 0, out: [], err: "There are no runs." });
    expect((await run("list", "-p", "9")).err).toBe("There are 3 runs; page 9 lies behind the last one.");
  });
});

describe("eval get", () => {
  it("shows one run as names and values, one line each", async () => {
    await serve({ [`GET /evaluations/${ID}`]: { json: evaluation }, [`GET /evaluations/${ID}/files/metadata.json`]: { json: metadata } });
    const { code, out } = await run("get", ID);
    expect(code).toBe(0);
    expect(out).toEqual([
      "Run          1a2b3c4d",
      "Name         a name",
      "Status       FAILED",
      "Error        no\\nluck",
      "Environment  gsm8k (version 2)",
      "Dataset      test.jsonl (rows dddddddddddd)",
      'Arguments    {"dataset":"test.jsonl"}',
      'Options      {"max_turns":5}',
      "Model        m",
      "Endpoint     https://x/v1 (key in MY_KEY)",
      'Sampling     {"n":1}',
      "Examples     3",
      "Rollouts     5 of 6 (2 per example)",
      "Reward       0.500",
      "Interval     95 % from 0.250 to 0.750 over 3 examples",
      "pass@k       1 0.500, 2 0.750",
      "pass^k       1 0.500, 2 0.250",
      "Metrics      correct 0.250",
      "Errors       rate_limited 1",
      "Tokens       1,200 input, 600 output",
      "Created      2026-11-21 10:00:00 UTC",
      "Started      2026-11-21 10:00:01 UTC",
      "Ended        2026-11-21 10:02:03 UTC",
      "Took         2m 2s",
      "Resume       npx edgewise eval run gsm8k -R 1a2b3c4d (1 rollout that infrastructure ended runs again)",
    ]);
    expect(JSON.parse((await run("get", ID, "-o", "json")).out.join("\n"))).toEqual(evaluation);
  });

  it("says which limit its requests wait for", async () => {
    const limited = { bound: { kind: "requests", limit: 500, source: "told" }, base_url: "https://api.openai.com/v1" };
    const vitals = { in_flight: 8, retries: 0, waiting: 12, paused_until: null, limited };
    await serve({
      [`GET /evaluations/${ID}`]: { json: { ...evaluation, edgewise: { ...evaluation.edgewise, vitals } } },
      [`GET /evaluations/${ID}/files/metadata.json`]: { json: metadata },
    });
    expect((await run("get", ID)).out).toContain("Waiting      12 requests for OpenAI's 500 requests a minute");
  });

  it("says what intervals are over, and leads with the range of what the reward may be beyond 5 % of rollouts without a score", async () => {
    const sure = {
      reward_ci95: [0.25, 0.75],
      n_clusters: 3,
      cluster_by: "passage",
      metric_estimates: { correct: { n: 3, mean: 0.25, stderr: 0.1, ci95: [0.1, 0.4] } },
      pass_at_k_ci95: { 1: null, 2: [0.5, 0.9] },
    };
    const told = async (error_bounds: object) => {
      await serve({
        [`GET /evaluations/${ID}`]: { json: evaluation },
        [`GET /evaluations/${ID}/files/metadata.json`]: { json: { ...metadata, edgewise: { ...sure, error_bounds } } },
      });
      const { out } = await run("get", ID);
      await service?.close();
      return out.filter((line) => /^(Reward|Between|Interval|.* 95%) /.test(line)).map((line) => line.replace(/ {2,}/, " | "));
    };
    expect(await told({ answered: 0.51, worst: 0.49, best: 0.53, unresolved: 0.04 })).toEqual([
      "Reward | 0.500",
      "Between | 0.490 to 0.530, as 4.0 % of the rollouts have no score (0.510 over the others)",
      "Interval | 95 % from 0.250 to 0.750 over 3 values of passage",
      "pass@k 95% | 2: 0.500 to 0.900",
      "Metrics 95% | correct: 0.100 to 0.400",
    ]);
    expect((await told({ answered: 0.6, worst: 0.5, best: 0.7, unresolved: 0.2 })).slice(0, 2)).toEqual([
      "Reward | 0.500 to 0.700, as 20.0 % of the rollouts have no score (0.600 over the others)",
      "Interval | 95 % from 0.250 to 0.750 over 3 values of passage",
    ]);
  });
});

describe("eval get of a run that is pushed to the Hub", () => {
  const pushed = async (hub_push: object): Promise<string> => {
    const one = { ...evaluation, edgewise: { ...evaluation.edgewise, hub_push } };
    await serve({ [`GET /evaluations/${ID}`]: { json: one }, [`GET /evaluations/${ID}/files/metadata.json`]: { json: metadata } });
    return (await run("get", ID)).out.find((line) => line.startsWith("Push")) ?? "";
  };

  it("says how far that is, of services of before too, and what to type where it failed", async () => {
    const url = "https://hub.example/datasets/me/rows";
    const failure = { code: "hub_refused", message: "no\nluck" };
    expect(await pushed({ status: "pushing", dataset: "me/rows" })).toMatch(/^Push +waiting to be pushed to me\/rows$/);
    expect(await pushed({ status: "pushing", dataset: "me/rows", failure, retry_at: Date.UTC(2026, 0, 1) })).toMatch(
      /the last attempt failed: no\\nluck; tried again at 2026-01-01 00:00:00 UTC at the latest$/,
    );
    expect(await pushed({ status: "pushed", dataset: "me/rows", url, commit: "0123456789abcdef" })).toMatch(/^Push +https:\S+, commit 0123456789ab$/);
    expect(await pushed({ status: "pushed", url })).toMatch(/^Push +https:\S+rows$/);
    expect(await pushed({ status: "failed", dataset: "me/rows", failure })).toMatch(/Then type: npx edgewise push 1a2b3c4d --to hf:me\/rows$/);
    expect(await pushed({ status: "failed", failure })).toMatch(/^Push +failed: no\\nluck$/);
  });
});

describe("eval samples", () => {
  const sample = (example_id: number, change: object = {}) => ({
    example_id,
    rollout_index: 0,
    reward: 1,
    error: null,
    prompt: [
      { role: "system", content: "Reverse." },
      { role: "user", content: "one\ntwo" },
    ],
    completion: [{ role: "assistant", content: "owt\u001b]0;gone\u0007 eno" }],
    ...change,
  });

  it("shows a row per line: the last question, and what came of it", async () => {
    const samples = [sample(0), sample(1, { reward: 0, error: { error: "ModelError", code: "rate_limited" }, completion: [] })];
    await serve({ [`GET /evaluations/${ID}/samples`]: { json: { samples, total: 45, page: 1, limit: 2, has_more: true } } });
    const { code, out, err } = await run("samples", ID, "-n", "2");
    expect(code).toBe(0);
    expect(out).toEqual([
      "EXAMPLE  ROLLOUT  REWARD  ERROR         PROMPT          COMPLETION",
      "      0        0   1.000                user: one\\ntwo  assistant: owt eno",
      "      1        0   0.000  rate_limited  user: one\\ntwo",
    ]);
    expect(err).toBe("Page 1 of 23 (45 rows). The next one: -p 2");
    expect(asked()).toEqual([`GET /api/v1/evaluations/${ID}/samples?page=1&limit=2&open=true`]);
  });

  it("prints whole rows with -o json", async () => {
    const answer = { samples: [sample(0)], total: 1, page: 3, limit: 100, has_more: false };
    await serve({ [`GET /evaluations/${ID}/samples`]: { json: answer } });
    const { out } = await run("samples", ID, "-o", "json", "-p", "3");
    expect(JSON.parse(out.join("\n"))).toEqual(answer);
    expect(asked()).toEqual([`GET /api/v1/evaluations/${ID}/samples?page=3&limit=100`]);
  });
});

const log = (seq: number, message: string): string =>
  `id: ${seq}\nevent: log\ndata: ${JSON.stringify({ seq, time: Date.UTC(2026, 10, 21, 10, 0, seq), level: "INFO", message })}\n\n`;
const progress = (change: object = {}): string => `event: progress\ndata: ${JSON.stringify({ ...state, settled: false, phase: "open", ...change })}\n\n`;
const end = `event: end\ndata: ${JSON.stringify(state)}\n\n`;

describe("eval logs", () => {
  it("shows the last lines as eval.log has them, and does not wait for more", async () => {
    await serve({
      [`GET /evaluations/${ID}`]: { json: evaluation },
      [`GET /evaluations/${ID}/events`]: { frames: [log(1, "one"), log(2, "two\u001b[2J\nlines"), log(3, "three"), progress(), log(4, "later")] },
    });
    const { code, out, err } = await run("logs", ID, "-n", "2");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toEqual(["2026-11-21 10:00:02 - edgewise.run - INFO - two\\nlines", "2026-11-21 10:00:03 - edgewise.run - INFO - three"]);
    expect((await run("logs", ID, "-o", "json", "-n", "1")).out.map((line) => JSON.parse(line))).toEqual([
      { time: "2026-11-21T10:00:03.000Z", level: "INFO", message: "three" },
    ]);
  });

  it("goes on with -f over broken connections until the run ends, and its code says how", async () => {
    const streams = [
      [log(1, "one"), progress(), log(2, "two")],
      [log(2, "two"), log(3, "three"), end],
    ];
    await serve({
      [`GET /evaluations/${ID}`]: { json: evaluation },
      [`GET /evaluations/${ID}/events`]: () => ({ frames: streams.shift() ?? [end] }),
    });
    const { code, out, err } = await run("logs", ID, "-f");
    expect(out.map((line) => line.split(" - ").at(-1))).toEqual(["one", "two", "three"]);
    expect(err).toBe(`Run ${ID}: FAILED.\nIt goes on (1 rollout that infrastructure ended runs again) with: npx edgewise eval run gsm8k -R ${ID}`);
    expect(code).toBe(1);
  });
});

describe("eval stop", () => {
  it("cancels, and says whether the run still ends or has ended", async () => {
    let settled = false;
    await serve({
      [`GET /evaluations/${ID}`]: () => ({ json: { ...evaluation, edgewise: { ...state, settled } } }),
      [`PATCH /hosted-evaluations/${ID}/cancel`]: { json: { message: "Evaluation cancelled." } },
    });
    expect(await run("stop", ID)).toEqual({ code: 0, out: [`Run ${ID} is cancelled: what is in progress is finished, nothing new is begun.`], err: "" });
    settled = true;
    expect((await run("stop", ID)).out).toEqual([`Run ${ID} is cancelled.`]);
    expect(JSON.parse((await run("stop", ID, "-o", "json")).out.join("\n"))).toEqual({ message: "Evaluation cancelled." });
  });

  it("of a run that has ended says so, and what shows it", async () => {
    const refusal = { detail: "The run has already ended: COMPLETED.", code: "illegal_transition" };
    await serve({ [`PATCH /hosted-evaluations/${ID}/cancel`]: { status: 409, json: refusal } });
    expect(await run("stop", ID)).toMatchObject({
      code: 1,
      err: `error: The run has already ended: COMPLETED.\n  See what it left: npx edgewise eval get ${ID}`,
    });
  });
});

describe("a run whose time is nearly over", () => {
  it("is kept by eval keep, and let go by --undo", async () => {
    const asked: string[] = [];
    const answer = (method: string) => () => {
      asked.push(method);
      return { json: { message: `${method} is done.` } };
    };
    await serve({ [`PUT /evaluations/${ID}/keep`]: answer("PUT"), [`DELETE /evaluations/${ID}/keep`]: answer("DELETE") });
    expect(await run("keep", ID)).toEqual({ code: 0, out: ["PUT is done."], err: "" });
    expect((await run("keep", ID, "--undo")).out).toEqual(["DELETE is done."]);
    expect(JSON.parse((await run("keep", ID, "-o", "json")).out.join(""))).toEqual({ message: "PUT is done." });
    expect(asked).toEqual(["PUT", "DELETE", "PUT"]);
  });

  it("says when it is removed and what keeps it", async () => {
    const edgewise = { ...evaluation.edgewise, removal_at: "2026-12-24T10:00:00.000Z" };
    await serve({ [`GET /evaluations/${ID}`]: { json: { ...evaluation, edgewise } }, [`GET /evaluations/${ID}/files/metadata.json`]: { json: metadata } });
    expect((await run("get", ID)).out.join("\n")).toMatch(new RegExp(`Removal +2026-12-24 10:00:00 UTC; npx edgewise eval keep ${ID} keeps it`));
  });
});

describe("a question about runs", () => {
  it("about an unknown run says where it was looked for; what is no id, no number or no form is refused at once", async () => {
    await serve({});
    for (const command of ["get", "samples", "logs", "stop", "keep"]) {
      expect(await run(command, ID)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^error: the service knows no run 1a2b3c4d\n {2}The service is http:.*\n.*eval list$/),
      });
      expect(await run(command, "../x")).toMatchObject({ code: 2, err: expect.stringContaining("is not a run id") });
      expect(await run(command, ID, "-o", "yaml")).toMatchObject({ code: 2, err: expect.stringContaining("table, json") });
    }
    expect(await run("list", "-n", "0")).toMatchObject({ code: 2, err: expect.stringContaining('-n/--num: must be a whole number from 1 on, not "0"') });
    expect(await run("samples", ID, "-p", "x")).toMatchObject({ code: 2, err: expect.stringContaining("-p/--page") });
  });

  it("leaves no state folder where there was none, and says where to go", async () => {
    const { code, err } = await runInProcess(["eval", "list"], { cwd });
    expect(code).toBe(1);
    expect(err).toMatch(/no run was ever made here: there is no state folder .*\.edgewise\n.*EDGEWISE_STATE_DIR.*\n.*EDGEWISE_URL/);
    expect(existsSync(join(cwd, ".edgewise"))).toBe(false);
  });
});
