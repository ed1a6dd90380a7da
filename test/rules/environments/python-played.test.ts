import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWalled, walledEnvironment } from "../../../src/walled/walled-environment.ts";
import { httpOpener } from "../../../src/environment-http/http-opener.ts";
import { readFacts } from "../../../src/environments/definition/read-facts.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { repairGroup } from "../../../src/environments/unit/repair-group.ts";
import { runUnit, type UnitOptions } from "../../../src/environments/unit/run-unit.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { rawFields } from "../../../src/rollouts/rows/raw-fields.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { completion, json, type Play, refuses, type ScriptedEndpoint, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";
import { streams } from "../../support/clients/client-plays.ts";
import { unitOptions } from "../../support/walled/units.ts";

/** A Python with `verifiers`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const PACKAGE = join(import.meta.dirname, "../../../python");
/** Starting it imports a library that takes seconds, and more where others are at work. */
const PATIENCE_MS = 120_000;

function whyNot(): string | null {
  if (PYTHON === "") return "EDGEWISE_TEST_PYTHON is not set";
  try {
    execFileSync(PYTHON, ["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('verifiers') is None)"], { stdio: "ignore" });
    return null;
  } catch {
    return `${PYTHON} has no verifiers`;
  }
}

const reason = whyNot();
if (reason !== null) console.log(`skipped: ${reason} (rollouts of Python environments, with the engine's own clients)`);

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Served {
  readonly hosted: HostedEnvironment;
  readonly examples: readonly RolloutInput[];
}

/** The environment of that name in python/tests/environments, in a process of its own. */
async function serve(name: string): Promise<Served> {
  const environments = join(PACKAGE, "tests/environments");
  const token = "a token of the test";
  const child = spawn(PYTHON, ["-m", "edgewise_env", name, "--env-dir", environments, "--with-parent"], {
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, PYTHONPATH: `${PACKAGE}:${environments}`, EDGEWISE_ENV_TOKEN: token },
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const opener = httpOpener({ url, token }, { fetch: (input, init) => fetch(input, init) });
  const said = await describeWalled(opener, { openingMs: PATIENCE_MS });
  const facts = { ...readFacts(said, "the environment server"), source: said.source };
  const offered = walledEnvironment({ ...facts, id: name }, opener, { openingMs: PATIENCE_MS, silenceMs: PATIENCE_MS });
  const hosted = await offered.load({}, { datasets: memoryDatasets("") });
  const examples: RolloutInput[] = [];
  for await (const example of hosted.examples(-1)) examples.push(example);
  return { hosted, examples };
}

const lastOf = (body: JsonObject | undefined): { role: string; content: string } =>
  ((body?.messages ?? []) as { role: string; content: string }[]).at(-1) ?? { role: "", content: "" };
const answers: Play = (response, request, body) =>
  json(200, completion(`An answer to ${lastOf(body).content}`, { object: "chat.completion" }))(response, request, body);

interface Row {
  readonly reward: number;
  readonly rollout_index: number;
  readonly stop_condition: string;
  readonly is_truncated: boolean;
  readonly token_usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly error: { readonly error: string; readonly error_chain_str: string; readonly code: string } | null;
  readonly [column: string]: unknown;
}

describe.skipIf(reason !== null)("rollouts that Python's library plays, with the engine's own client", { timeout: 2 * PATIENCE_MS }, () => {
  let plain: Served;
  let ranked: Served;
  let agent: Served;
  beforeAll(async () => {
    [plain, ranked, agent] = await Promise.all([serve("single-turn"), serve("ranked"), serve("agent")]);
  }, 3 * PATIENCE_MS);

  async function played({ hosted, examples }: Served, count: number, plays: readonly Play[], fields: Partial<UnitOptions> = {}, run: typeof runUnit = runUnit) {
    await using server: ScriptedEndpoint = await scriptedEndpoint(...plays);
    const { client, retries, gate } = testClient(server.url, { permits: 2, ports: { maxRequestRetries: 2 } });
    const [example] = examples;
    if (example === undefined) throw new Error("no example");
    const outcome = await run(hosted, example, unitOptions(client, count, { deadlineMs: PATIENCE_MS, ...fields }));
    expect(gate.inFlight).toBe(0);
    return { ...outcome, rows: outcome.lines.map((line) => JSON.parse(line) as Row), retries, seen: server.seen, load: server.load, client };
  }

  it("are asked for by the library's own requests, under the engine's permits, for the run's model", async () => {
    const { rows, seen, load, summaries } = await played(plain, 6, [(...call) => void setTimeout(() => answers(...call), 50)]);
    expect(rows.map(({ rollout_index, error }) => [rollout_index, error])).toEqual([0, 1, 2, 3, 4, 5].map((index) => [index, null]));
    expect([seen.length, load.most]).toEqual([6, 2]);
    expect(seen[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-very-secret-1234", "x-session-id": "0" },
      body: { model: "m", temperature: 0.5 },
    });
    expect(summaries[0]).toMatchObject({ error: null, input_tokens: 10, output_tokens: 3, truncated: false });
  });

  it("have the library's rows: its keys, its numbers, and ours after them", async () => {
    const [line = ""] = (await played(plain, 1, [answers])).lines;
    const fields = rawFields(line);
    expect(fields.map(([name]) => name).slice(0, 3)).toEqual(["example_id", "prompt", "completion"]);
    expect(fields.at(-1)).toEqual(["rollout_index", "0"]);
    expect(new Map(fields).get("reward")).toBe("1.0");
    expect(new Map(fields).get("info")).toContain("1152921504606846977");
  });

  it("are tried again by the engine alone, and end in its error where that is of no use", async () => {
    const busy = await played(plain, 1, [refuses(429), refuses(500), answers]);
    expect([busy.rows[0]?.error, busy.seen.length, busy.retries.length]).toEqual([null, 3, 2]);
    const down = await played(plain, 1, [refuses(503)]);
    expect(down.seen).toHaveLength(3);
    expect(down.rows[0]).toMatchObject({ reward: 0, error: { error: "ModelError", code: "provider_error" }, stop_condition: "has_error" });
    expect(down.summaries[0]).toMatchObject({ error: "provider_error" });
    const bad = await played(plain, 1, [refuses(422, { message: "temperature" })]);
    expect([bad.seen.length, bad.rows[0]?.error?.code]).toEqual([1, "bad_request"]);
  });

  it("that are refused for good end the run, in the server's words", async () => {
    const { fatal, lines } = await played(plain, 2, [refuses(401, { message: "no such key" })]);
    expect([fatal?.code, lines]).toEqual(["auth_failed", []]);
    expect(fatal?.message).toContain("no such key");
  });

  it("whose prompt is too long end as the library ends them", async () => {
    const { rows } = await played(plain, 1, [refuses(400, { message: "This model's maximum context length is 10 tokens" })]);
    expect(rows[0]).toMatchObject({ error: null, is_truncated: true, stop_condition: "prompt_too_long" });
  });

  it("are judged together, those that are drawn again beside rows that are there", async () => {
    const said = (text: string): Play => json(200, completion(text, { object: "chat.completion" }));
    const first = await played(ranked, 2, [said("short"), refuses(503)], { rollouts: [0, 1] });
    const at = first.rows.findIndex(({ error }) => error === null);
    expect(first.rows.map(({ error }) => error?.code ?? null).sort()).toEqual([null, "provider_error"].sort());
    const kept = [{ index: at, line: first.lines[at] ?? "", summary: first.summaries[at] as RolloutSummary }];
    const { rows, lines, seen } = await played(ranked, 2, [said("much longer")], { kept, rollouts: [1 - at], scoredAnew: true }, repairGroup);
    expect([seen.length, rows[at]?.reward, rows[1 - at]?.reward]).toEqual([1, 0, 1]);
    expect(rows.map(({ error, scored_anew }) => [error, scored_anew])).toEqual([
      [null, true],
      [null, true],
    ]);
    const [before, after] = [kept[0]?.line ?? "", lines[at] ?? ""].map((line) => new Map(rawFields(line)));
    for (const field of ["prompt", "completion", "token_usage", "tool_defs", "stop_condition"]) expect(after?.get(field), field).toBe(before?.get(field));
  });

  it("reach the model by a stream, a raw response and a process of their own", async () => {
    const both: Play = (response, request, body) =>
      body?.stream === true
        ? streams([
            {
              id: "c",
              object: "chat.completion.chunk",
              created: 1,
              model: "m",
              choices: [{ index: 0, delta: { role: "assistant", content: "in " }, finish_reason: null }],
            },
            { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "pieces" }, finish_reason: "stop" }] },
          ])(response, request, body)
        : answers(response, request, body);
    const { rows, seen } = await played(agent, 1, [both], { stateColumns: ["streamed", "raw", "program", "variables"] });
    expect(rows[0]).toMatchObject({
      error: null,
      streamed: "in pieces",
      raw: [200, "An answer to raw"],
      program: ["m", "An answer to from a process"],
      variables: [],
    });
    expect(seen).toHaveLength(4);
    for (const { body, headers } of seen) expect([body.model, headers.authorization]).toEqual(["m", "Bearer sk-very-secret-1234"]);
  });

  it("are cut off with their unit, and leave no request", async () => {
    const end = new AbortController();
    await using server = await scriptedEndpoint(() => end.abort(new Error("stopped")));
    const { client, gate } = testClient(server.url);
    const [example] = plain.examples;
    if (example === undefined) throw new Error("no example");
    const outcome = await runUnit(plain.hosted, example, unitOptions(client, 2, { signal: end.signal }));
    expect(outcome).toMatchObject({ aborted: true, lines: [] });
    await expect.poll(() => gate.inFlight).toBe(0);
    expect((await played(plain, 1, [answers])).rows[0]?.error).toBeNull();
  });
});
