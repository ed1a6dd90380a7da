import { describe, expect, it } from "vitest";
import type { RunView } from "../../../durable-objects/run/control.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { fail } from "../../../src/errors/result.ts";
import { COMMAND_SECRET, CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";
import { DIGEST_OF_CODE } from "../../support/door/fake-environments.ts";

const ID = CONFIG.run_id;

function doorWith(changes: Partial<RunView> = {}, config: Partial<RunConfig> = {}, secrets?: Record<string, string>): Door {
  const door = openDoor({}, secrets);
  door.run(ID).state = viewFor({ ...CONFIG, ...config }, changes);
  return door;
}
const settled: Partial<RunView> = {
  status: "COMPLETED",
  phase: "settled",
  units: { total: 2, done: 2, open: 0, pending: 0 },
  ended_at: CONFIG.created_at + 5000,
};

describe("an evaluation", () => {
  it("has what the prime client reads, and our own object inside", async () => {
    const totals = {
      rollouts: 4,
      reward_sum: 3,
      reward_sum_without_errors: 3,
      input_tokens: 40,
      output_tokens: 8,
      truncated: 3,
      errors: { rate_limited: 1 },
      metrics: { correct: { sum: 3, count: 3 } },
    };
    const door = doorWith({ ...settled, totals, seq: 7 }, { hosted: { team_id: "t", allow_tunnel_access: true } });
    const response = await door.call("GET", `/evaluations/${ID}`);
    const body = (await response.json()) as Record<string, Record<string, unknown>>;
    expect(body).toMatchObject({
      evaluation_id: ID,
      name: "gsm8k-openai/gpt-4.1-mini",
      model_name: "openai/gpt-4.1-mini",
      status: "COMPLETED",
      error_message: null,
      environment_names: ["gsm8k"],
      is_hosted: true,
      team_id: "t",
      total_samples: 4,
      metadata: { env_id: "gsm8k", num_examples: 2, rollouts_per_example: 2, base_url: CONFIG.base_url },
      metrics: { reward: 0.75, metrics: { correct: 1 }, error: 0.25 },
      created_at: new Date(CONFIG.created_at).toISOString(),
      finalized_at: new Date(CONFIG.created_at + 5000).toISOString(),
      edgewise: {
        run_id: ID,
        phase: "settled",
        settled: true,
        suspended: false,
        done_units: 2,
        total_units: 2,
        done_rollouts: 4,
        total_rollouts: 4,
        owed_rollouts: 0,
        reward: 0.75,
        errors: { rate_limited: 1 },
        truncated_rollouts: 3,
        tokens: { input: 40, output: 8 },
        seq: 7,
        env_version: "0.1.0",
      },
    });
    expect(body.eval_config).toMatchObject({ num_examples: 2, allow_tunnel_access: true, api_key_var: "PRIME_API_KEY" });
    expect(body.eval_config).not.toHaveProperty("team_id");
    expect(body.edgewise).not.toHaveProperty("failure");
  });

  it("that failed says why", async () => {
    const failure = { code: "auth_failed", message: "The key was refused.", hint: "Check it." } as const;
    const body = (await (await doorWith({ ...settled, status: "FAILED", failure }).call("GET", `/evaluations/${ID}`)).json()) as Record<string, unknown>;
    expect(body).toMatchObject({ status: "FAILED", error_message: "auth_failed: The key was refused. Check it.", edgewise: { failure } });
  });

  it("links to its page on the service that was asked", async () => {
    const { viewer_url: url } = (await (await doorWith().call("GET", `/evaluations/${ID}`)).json()) as { viewer_url: string };
    expect(url).toBe(`http://127.0.0.1/dashboard/evaluations/${ID}`);
    expect((await doorWith().call("GET", `/${new URL(url).pathname}`)).status).toBe(200);
  });

  it("tells errors in one line without what a terminal or the client's markup would act on", async () => {
    const failure = { code: "auth_failed", message: "HTTP 401:\n\u001b[2J[/red] :boom: done", hint: "See [link=x]here[/link]." } as const;
    const body = (await (await doorWith({ ...settled, failure }, { model: "m[/x]" }).call("GET", `/evaluations/${ID}`)).json()) as Record<string, string>;
    // Zero width non-joiners: what is seen is what was written.
    expect(body.error_message?.replaceAll("\u200c", "")).toBe("auth_failed: HTTP 401:\\n[/red] :boom: done. See [link=x]here[/link].");
    for (const text of [body.error_message, body.model_name]) expect(text).not.toMatch(/\[[a-z#/@]|:boom:/);
    expect(body.metadata).toMatchObject({ model: "m[/x]" });
  });

  it("without a finished rollout has no averages, and shows the requested number until the inputs are pinned", async () => {
    const door = doorWith({ units: { total: 0, done: 0, open: 0, pending: 0 }, dataset_digest: null }, { num_examples: 50 });
    expect(await (await door.call("GET", `/evaluations/${ID}`)).json()).toMatchObject({
      metrics: {},
      metadata: { num_examples: 50 },
      edgewise: { reward: null },
    });
  });

  it.each(["0000ABCD", "abc", "0000abcde", "..%2f..%2fx", "zzzzzzzz"])("with the id %s does not exist, and no object is asked", async (id) => {
    const door = openDoor();
    for (const [method, path] of [
      ["GET", `/evaluations/${id}`],
      ["GET", `/evaluations/${id}/rows`],
      ["GET", `/evaluations/${id}/files/results.jsonl`],
      ["DELETE", `/evaluations/${id}`],
      ["PATCH", `/hosted-evaluations/${id}/cancel`],
    ] as const) {
      const response = await door.call(method, path);
      expect(response.status, path).toBe(404);
      expect(await response.json()).toEqual({ detail: "Evaluation not found.", code: "not_found" });
    }
    expect(door.runs.size).toBe(0);
  });

  it("that was never created does not exist either", async () => {
    for (const path of ["", "/events", "/rows", "/files/results.jsonl", "/files/metadata.json", "/files/eval.log"]) {
      expect((await openDoor().call("GET", `/evaluations/11112222${path}`)).status, path).toBe(404);
    }
    expect((await openDoor().call("POST", "/evaluations/11112222/resume", {})).status).toBe(404);
  });
});

describe("the list", () => {
  it("passes paging and filter on, with the client's own limits", async () => {
    const door = openDoor();
    const body = await (await door.call("GET", "/evaluations/?skip=20&limit=500&environment_name=gsm8k&team_id=t")).json();
    expect(door.registry.queries).toEqual([{ skip: 20, limit: 500, environment_name: "gsm8k" }]);
    expect(body).toEqual({ evaluations: [], total: 0, skip: 20, limit: 500 });
    expect((await door.call("GET", "/evaluations")).status).toBe(200);
  });

  it("asks the Registry for what is looked for, and for another order only where there is one", async () => {
    const door = openDoor();
    await door.call("GET", "/evaluations/?search=two%20words&status=RUNNING,FAILED&model=m%2F1&sort=reward&order=asc");
    await door.call("GET", "/evaluations/?sort=created&order=desc");
    expect(door.registry.queries).toEqual([
      { skip: 0, limit: 50, environment_name: null, search: "two words", statuses: ["RUNNING", "FAILED"], model: "m/1", sort: "reward", order: "asc" },
      { skip: 0, limit: 50, environment_name: null },
    ]);
  });

  it.each([
    ["status=RUNNING,DONE", "status"],
    ["sort=age", "sort"],
    ["order=up", "order"],
    ["serach=x", "serach"],
  ])("refuses %s by its name", async (query, field) => {
    const response = await openDoor().call("GET", `/evaluations/?${query}`);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain(field);
  });

  it("shows rows the client's table can print", async () => {
    const door = openDoor();
    door.registry.projections = [
      {
        run_id: ID,
        version: 2,
        env_id: "gsm8k",
        model: "m",
        name: null,
        status: "RUNNING",
        active: true,
        settled: false,
        num_examples: 5,
        rollouts_per_example: 3,
        total_rollouts: 15,
        done_rollouts: 3,
        avg_reward: 0.5,
        error_message: null,
        created_at: 0,
        updated_at: 1,
      },
    ];
    const { evaluations } = (await (await door.call("GET", "/evaluations/")).json()) as { evaluations: unknown[] };
    expect(evaluations).toEqual([
      expect.objectContaining({
        evaluation_id: ID,
        status: "RUNNING",
        is_hosted: true,
        environment_names: ["gsm8k"],
        metadata: expect.objectContaining({ num_examples: 5, rollouts_per_example: 3 }),
        edgewise: expect.objectContaining({ settled: false, suspended: false, done_rollouts: 3 }),
      }),
    ]);
  });

  it.each(["limit=0", "limit=1001", "limit=ten", "skip=-1", "skip=1.5", "limt=5"])("refuses ?%s", async (query) => {
    const response = await openDoor().call("GET", `/evaluations/?${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["query", query.split("=")[0]] }] });
  });
});

describe("stopping a run", () => {
  it("by cancel, with the empty JSON body of the prime client or none", async () => {
    const door = doorWith();
    const response = await door.call("PATCH", `/hosted-evaluations/${ID}/cancel`, undefined, { "content-type": "application/json", "content-length": "0" });
    expect(await response.json()).toEqual({ message: expect.stringContaining("cancelled") });
    expect(door.run(ID).cancels).toBe(1);
  });

  it("by interrupt, with or without a body", async () => {
    const door = doorWith();
    expect((await door.call("POST", `/evaluations/${ID}/interrupt`)).status).toBe(200);
    expect((await door.call("POST", `/evaluations/${ID}/interrupt`, {})).status).toBe(200);
    expect((await door.call("POST", `/evaluations/${ID}/interrupt`, { now: true })).status).toBe(422);
    expect(door.run(ID).interrupts).toBe(2);
  });

  it("that the Run refuses, with the Run's code", async () => {
    const door = doorWith();
    door.run(ID).cancel = async () => fail("illegal_transition", "The run has already ended: COMPLETED.");
    const response = await door.call("PATCH", `/hosted-evaluations/${ID}/cancel`);
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ detail: "The run has already ended: COMPLETED.", code: "illegal_transition" });
  });

  it("for good, by deleting it", async () => {
    const door = doorWith(settled);
    expect((await door.call("DELETE", `/evaluations/${ID}`)).status).toBe(200);
    expect((await door.call("GET", `/evaluations/${ID}`)).status).toBe(404);
  });
});

describe("a resume", () => {
  it("passes on what was given, and the environment's version of today", async () => {
    const door = doorWith();
    const body = {
      num_examples: 10,
      keep_errors: true,
      max_concurrent: 4,
      accept_code_change: true,
      expect: { env_id: "gsm8k", rollouts_per_example: 2, base_url: "http://localhost:1/v1" },
    };
    const response = await door.call("POST", `/evaluations/${ID}/resume`, body, { "x-edgewise-attended": COMMAND_SECRET });
    expect(await response.json()).toEqual({ evaluation_id: ID, owed_rollouts: 3, owed_scores: 0, warnings: ["careful"] });
    expect(door.run(ID).resumes).toEqual([
      {
        boot: "boot-1",
        cache: null,
        cache_days: null,
        attended: true,
        num_examples: 10,
        keep_errors: true,
        expect: { env_version: expect.any(String), ...body.expect },
        base_url: "http://localhost:1/v1",
        api_key_var: null,
        max_concurrent: 4,
        max_concurrent_generation: null,
        max_concurrent_scoring: null,
        priority: null,
        limits: null,
        common_limit: null,
        max_cost: null,
        budgets: [],
        batch: null,
        num_workers: null,
        secrets: null,
        no_interleave_scoring: null,
        sandbox: null,
        heartbeat_url: null,
        stall_minutes: null,
        headers: null,
        headers_from_state: null,
        verbose: null,
        max_retries: null,
        stop_when: null,
        timeout_minutes: null,
        dataset_name: null,
        env_digest: DIGEST_OF_CODE,
        accept_code_change: true,
      },
    ]);
  });

  it("may have no body", async () => {
    const door = doorWith();
    expect((await door.call("POST", `/evaluations/${ID}/resume`)).status).toBe(200);
    expect(door.run(ID).resumes[0]).toMatchObject({ attended: false, num_examples: null, expect: {} });
  });

  it("refuses what it does not know", async () => {
    const response = await doorWith().call("POST", `/evaluations/${ID}/resume`, { expect: { modle: "x" }, rollouts_per_example: 3 });
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", "expect", "modle"] }, { loc: ["body", "rollouts_per_example"] }] });
  });

  const remote = { base_url: "https://models.example/v1" };
  it("needs the key as a creation does", async () => {
    const door = doorWith(settled, remote, {});
    const grown = await door.call("POST", `/evaluations/${ID}/resume`, { num_examples: 3 });
    expect([grown.status, ((await grown.json()) as { code: string }).code]).toEqual([422, "missing_key"]);
    expect((await door.call("POST", `/evaluations/${ID}/resume`, { num_examples: 3, api_base_url: "http://localhost:1/v1" })).status).toBe(200);
  });

  it("needs no key when no call can follow", async () => {
    expect((await doorWith(settled, remote, {}).call("POST", `/evaluations/${ID}/resume`, { num_examples: 2 })).status).toBe(200);
    const withErrors = { ...settled, totals: { ...viewFor(CONFIG).totals, rollouts: 4, errors: { rate_limited: 1 } } };
    expect((await doorWith(withErrors, remote, {}).call("POST", `/evaluations/${ID}/resume`, {})).status).toBe(422);
    expect((await doorWith(withErrors, remote, {}).call("POST", `/evaluations/${ID}/resume`, { keep_errors: true })).status).toBe(200);
  });
});

describe("the settings of a creation", () => {
  const creation = { environment_ids: ["gsm8k"], inference_model: "m", eval_config: { num_examples: 7, sampling_args: { temperature: 1 } } };

  it("are those that its run has then, and asking for them creates nothing", async () => {
    const door = openDoor();
    const asked = await (await door.call("POST", "/evaluation-settings", creation)).json();
    expect(door.runs.size).toBe(0);
    expect(asked).toMatchObject({
      evaluations: [{ num_examples: 7, settings: { model: "m", base_url: "https://models.example/v1", headers: {}, shuffle_seed: null } }],
    });
    const { evaluation_id } = (await (await door.call("POST", "/hosted-evaluations", creation)).json()) as { evaluation_id: string };
    const run = (await (await door.call("GET", `/evaluations/${evaluation_id}`)).json()) as { edgewise: { settings: unknown } };
    expect((asked as { evaluations: { settings: unknown }[] }).evaluations[0]?.settings).toEqual(run.edgewise.settings);
  });

  it("are refused as the creation would be", async () => {
    const door = openDoor();
    const answer = await door.call("POST", "/evaluation-settings", { ...creation, environment_ids: ["nope"] });
    expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ code: "environment_not_found" })]);
  });
});
