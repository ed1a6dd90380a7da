import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBody } from "../../../../src/api/schemas.ts";
import { admit } from "../../../../src/teams/admission.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { type Outcome, runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd = "";
let service: FakeService;
let created = 0;
/** What the service refuses a creation with. */
let full: { readonly detail: string; readonly code: string; readonly hint: string } | null = null;
beforeEach(async () => {
  created = 0;
  full = null;
  cwd = mkdtempSync(join(tmpdir(), "edgewise-hosted-"));
  service = await startFakeService(({ method, path }, response) => {
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (method === "POST" && full !== null) return sendJson(response, 429, full);
    if (method === "POST") {
      const id = `0000000${++created}`;
      return sendJson(response, 200, { evaluation_id: id, evaluation_ids: [id] });
    }
    if (path.startsWith("/api/v1/endpoints/")) return sendJson(response, 404, { detail: "Not found.", code: "not_found" });
    const id = path.split("/").at(-1) ?? "";
    sendJson(response, 200, { evaluation_id: id, viewer_url: `${service.url}/dashboard/evaluations/${id}`, edgewise: { seq: 0 } });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = { EDGEWISE_URL: service.url }): Promise<Outcome> =>
  runInProcess(["eval", "run", ...args], { cwd, env });
const bodies = (): unknown[] => service.asked.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body) as unknown);

describe("eval run --hosted", () => {
  it("creates the run, prints its id and its link, and returns", async () => {
    const settings = [
      "-m",
      "m",
      "-n",
      "-1",
      "-r",
      "2",
      "--eval-name",
      "mine",
      "--allow-sandbox-access",
      "--timeout-minutes",
      "5",
      "-T",
      "0.5",
      "--custom-secrets",
      '{"A_KEY": "of this run"}',
    ];
    const { code, out } = await run(["owner/gsm8k@1.2", "--hosted", ...settings]);
    expect(out).toEqual(["Evaluation ID: 00000001", `${service.url}/dashboard/evaluations/00000001`, "Follow it: npx edgewise eval logs 00000001 -f"]);
    expect(code).toBe(0);
    const [body] = bodies();
    expect(createBody.safeParse(body).error).toBeUndefined();
    expect(body).toEqual({
      environment_ids: ["owner/gsm8k@1.2"],
      inference_model: "m",
      name: "mine",
      eval_config: {
        num_examples: -1,
        rollouts_per_example: 2,
        allow_sandbox_access: true,
        custom_secrets: { A_KEY: "of this run" },
        timeout_minutes: 5,
        sampling_args: { max_tokens: null, temperature: 0.5 },
      },
    });
  });

  it("has evaluations of one model keep to a common limit together, and gives each other model its part", async () => {
    const limitsOf = async (total: number): Promise<readonly unknown[]> => {
      const before = bodies().length;
      const text = '[[eval]]\nenv_id = "gsm8k"\nmax_concurrent = 2\n[[eval]]\nenv_id = "gsm8k"\n[[eval]]\nenv_id = "gsm8k"\nmodel = "b"\n';
      writeFileSync(join(cwd, "evals.toml"), `model = "a"\nmax_concurrent_total = ${total}\n${text}`);
      expect(await run(["evals.toml", "--hosted"])).toMatchObject({ code: total < 2 ? 2 : 0 });
      const asked = bodies().slice(before) as { readonly eval_config: { readonly max_concurrent: number; readonly common_limit?: object } }[];
      for (const body of asked) expect(createBody.safeParse(body).error).toBeUndefined();
      return asked.map(({ eval_config: { max_concurrent, common_limit } }) => [max_concurrent, common_limit]);
    };
    const common = (concurrent: number) => ({ id: expect.stringMatching(/^[0-9a-f]{16}-1$/), concurrent });
    expect(await limitsOf(10)).toEqual([
      [2, common(6)],
      [6, common(6)],
      [4, undefined],
    ]);
    // More evaluations than places begin all the same.
    expect(await limitsOf(2)).toEqual([
      [1, common(1)],
      [1, common(1)],
      [1, undefined],
    ]);
    expect(await limitsOf(1)).toEqual([]);
    expect((await run(["evals.toml", "--hosted"])).err).toContain(
      "error: evals.toml: max_concurrent_total must be at least 2: so many endpoints, keys and models do the evaluations call, and each has its part of it",
    );
  });

  it("creates one run for each environment, and for each evaluation of a config file, over which flags win", async () => {
    expect((await run(["gsm8k,reverse-text", "--hosted"])).out).toContain("Evaluation ID: 00000002");
    writeFileSync(join(cwd, "evals.toml"), 'model = "a"\nname = "of the file"\n[[eval]]\nenv_id = "gsm8k"\n[[eval]]\nenv_id = "reverse-text"\nmodel = "b"\n');
    const { code, err } = await run(["evals.toml", "--hosted", "-m", "c", "-n", "7"]);
    expect([code, err]).toEqual([0, ""]);
    expect(bodies().slice(2)).toMatchObject([
      { environment_ids: ["gsm8k"], inference_model: "c", name: "of the file", eval_config: { num_examples: 7 } },
      { environment_ids: ["reverse-text"], inference_model: "c", name: "of the file", eval_config: { num_examples: 7 } },
    ]);
  });

  it("of a run that a limit of the team leaves no room for says what is in use and what to type, and makes nothing", async () => {
    const refused = admit({ wanted: [32], team: "acme", limits: { runs: 2 }, use: { runs: 2, rollouts: 64 }, token: null });
    if (refused.ok) throw new Error("there is room");
    const { message: detail, hint = "", code } = refused.error;
    full = { detail, code, hint };
    const outcome = await run(["gsm8k", "--hosted", "-m", "m"]);
    expect(outcome.code).toBe(1);
    expect(outcome.err).toContain('The limit of runs at once of the team "acme" is 2, of which 2 are in use');
    expect(outcome.err).toContain("npx edgewise eval stop RUN");
    expect(service.asked.filter(({ path }) => path.endsWith("/hosted-evaluations"))).toHaveLength(1);
  });

  it.each([
    [["--hosted"], {}, /--hosted needs a service, and EDGEWISE_URL does not name one\n {2}export EDGEWISE_URL=/],
    [["--follow"], null, /--follow applies only to runs of a service elsewhere\n {2}Add --hosted/],
    [["--poll-interval", "3"], null, /--poll-interval applies only to/],
    [["--allow-tunnel-access"], null, /--allow-tunnel-access applies only to/],
    [["--hosted", "-R"], null, /-R\/--resume makes no new run, and --hosted does/],
    [["--hosted", "-o", "x"], null, /-o\/--output-dir has no effect on a run that is not followed\n {2}Add --follow/],
    [["--hosted", "--poll-interval", "3"], null, /--poll-interval has no effect/],
    [["--hosted", "--follow", "--poll-interval", "0"], null, /--poll-interval: /],
    [["--hosted", "--custom-secrets", '{"A_KEY": 1}'], null, /--custom-secrets: /],
    [["--hosted", "--timeout-minutes", "1441"], null, /--timeout-minutes: /],
    [["--hosted", "--header", "no colon"], null, /--header: /],
    [["--hosted", "-S", "[1]"], null, /-S\/--sampling-args: /],
    [["--hosted", "-r", "0"], null, /-r\/--rollouts-per-example: /],
    [["--hosted", "-n", "-2"], null, /-n\/--num-examples: /],
  ] as const)("refuses %j before any request", async (args, env, message) => {
    expect(await run(["gsm8k", ...args], env ?? undefined)).toMatchObject({ code: 2, out: [], err: expect.stringMatching(message) });
    expect(service.asked).toEqual([]);
  });

  it("follows one run, not several, and makes none of a file that asks to go on with one", async () => {
    expect(await run(["gsm8k,reverse-text", "--hosted", "--follow"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--follow follows one run, and this asks for 2"),
    });
    writeFileSync(join(cwd, "evals.toml"), 'resume = true\n[[eval]]\nenv_id = "gsm8k"\n');
    expect(await run(["evals.toml", "--hosted"])).toMatchObject({ code: 2, err: expect.stringContaining("[[eval]] #1: resume makes no new run") });
    expect(service.asked).toEqual([]);
  });
});
