import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import { environmentDigest, findEnvironment, registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { tool } from "../../../src/environments/kinds/tool.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { JudgeRubric } from "../../../src/rubrics/judge-rubric.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { completionBody } from "../../support/model-server/model-answers.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, metadataOf, rowsOf, viewOf } from "../support/runs.ts";
import { service, setVars, STEADY } from "../support/service.ts";

const sandbox = new ScriptedSandbox({ execute: (command) => `ran ${command}` });
const torn: string[] = [];
const keysSeen: Record<string, string>[] = [];

/** Members of every kind, a judge of the environment's own, and a key that it declares. */
const mixed = defineEnvironment({
  id: "mixed",
  version: "1.0.0",
  description: "Tools, a sandbox and a judge.",
  args: z.object({}),
  keys: ["SEARCH_KEY"],
  load(_args, { keys, client }) {
    keysSeen.push({ ...keys });
    const judgeClient = client({ base_url: "https://judge.example/judge", api_key_var: "JUDGE_KEY" });
    const add = tool({ name: "add", description: "Adds one.", parameters: z.object({ a: z.number() }), run: ({ a }) => a + 1 });
    const rubric = new JudgeRubric(
      [{ name: "approved", fn: async ({ judge, prompt, completion, answer, state }) => (await judge(prompt, completion, answer, state)) === "yes" }],
      { judgeClient, judgeModel: "judge-1" },
    );
    const group = new EnvGroup({
      envs: [
        new ToolEnv({ dataset: [{ question: "tool add" }], tools: [add] }),
        new SandboxEnv({ dataset: [{ question: "tool bash" }], sandbox }),
        new SingleTurnEnv({ dataset: [{ question: "say" }], rubric }),
      ],
      envNames: ["tools", "box", "judged"],
    });
    group.onTeardown("note", () => void torn.push("mixed"));
    return group;
  },
});

const adder = defineEnvironment({
  id: "adder",
  version: "1.0.0",
  description: "One tool, and examples with their own where asked.",
  args: z.object({ own: z.boolean().default(false) }),
  load({ own }) {
    const add = tool({ name: "add", description: "Adds one.", parameters: z.object({ a: z.number() }), run: ({ a }) => a + 1 });
    const mine = { name: "mine", description: "The example's.", parameters: {} };
    return new ToolEnv({ dataset: [{ question: "tool add", ...(own ? { info: { tool_defs: [mine] } } : {}) }], tools: [add] });
  },
});

/** Calls the tool that the question names until it is told a result; says yes as a judge. */
const model = {
  calls: [] as { readonly url: string; readonly key: string | null }[],
  fetch: async (url: string, init: RequestInit): Promise<Response> => {
    model.calls.push({ url, key: new Headers(init.headers).get("authorization") });
    const { messages, model: name } = JSON.parse(String(init.body)) as { messages: { role: string; content: string }[]; model: string };
    const [, wanted] = /^tool (\w+)$/.exec(messages[0]?.content ?? "") ?? [];
    const content = url.includes("/judge/") ? "yes" : `after ${messages.length}`;
    const body = JSON.parse(completionBody({ n: 1, model: name, content, usage: { prompt_tokens: 5, completion_tokens: 2 } }, null)) as {
      choices: { message: Record<string, unknown>; finish_reason: string }[];
    };
    const [choice] = body.choices;
    if (wanted !== undefined && choice !== undefined && messages.filter(({ role }) => role === "tool").length < 2) {
      const args = wanted === "add" ? { a: messages.length } : { command: "ls" };
      choice.message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: `c${messages.length}`, type: "function", function: { name: wanted, arguments: JSON.stringify(args) } }],
      };
      choice.finish_reason = "tool_calls";
    }
    return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  },
};

let fleet: Fleet;
beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model", SEARCH_KEY: "s-search", JUDGE_KEY: "j-judge", KEY_VARS: "*_API_KEY,JUDGE_KEY@judge.example" });
  registerEnvironments([mixed, adder]);
  model.calls.length = 0;
  torn.length = 0;
  keysSeen.length = 0;
  fleet = new Fleet({ model });
});
afterEach(async () => {
  await fleet.close();
  await reset();
});
afterAll(() => registerEnvironments([]));

const allowed = { allow_sandbox_access: true };
const request = { env_id: "mixed", env_version: "1.0.0", num_examples: -1, max_concurrent_scoring: 1, hosted: allowed };

describe("an environment of tools, a sandbox and a judge, in the engine", () => {
  it("is played and scored by its members, with its own key and a judge whose key it never sees", async () => {
    const config = await createRun(request);
    await fleet.settled(config.run_id);
    const rows = await rowsOf(config);
    expect(rows.map(({ task, stop_condition, metrics, error }) => [task, stop_condition, metrics, error])).toEqual([
      ["tools", "no_tools_called", { num_turns: 3, total_tool_calls: 2, add_calls: 2 }, null],
      [
        "box",
        "no_tools_called",
        { num_turns: 3, total_tool_calls: 2, bash_calls: 2, sandbox_ready_wait_time: expect.any(Number), sandbox_command_execution_time: expect.any(Number) },
        null,
      ],
      ["judged", "max_turns_reached", { approved: 1, num_turns: 1 }, null],
    ]);
    expect(JSON.stringify(rows[0]?.completion)).toContain('"content":"2"');
    expect(JSON.stringify(rows[1]?.completion)).toContain("ran ls");
    expect(sandbox.running).toEqual([]);
    expect(keysSeen.length).toBeGreaterThan(0);
    expect(keysSeen.every((keys) => JSON.stringify(keys) === '{"SEARCH_KEY":"s-search"}')).toBe(true);
    expect(new Set(model.calls.map(({ url, key }) => `${new URL(url).pathname.split("/")[1]} ${key}`))).toEqual(
      new Set(["v1 Bearer sk-model", "judge Bearer j-judge"]),
    );
    expect(await metadataOf(config)).toMatchObject({ tools: null });
    // Let go of after preparing and after the units.
    expect(torn.length).toBe(keysSeen.length);
    const stored = JSON.stringify([await metadataOf(config), rows, await viewOf(config.run_id)]);
    for (const secret of ["sk-model", "s-search", "j-judge"]) expect(stored).not.toContain(secret);
  });

  it("names in its metadata the tools that all rows share", async () => {
    const shared = await createRun({ env_id: "adder", env_version: "1.0.0", num_examples: -1 });
    await fleet.settled(shared.run_id);
    expect(await metadataOf(shared)).toMatchObject({ tools: [{ name: "add", description: "Adds one.", parameters: { title: "add_args" } }] });
    const own = await createRun({ env_id: "adder", env_version: "1.0.0", num_examples: -1, env_args: { own: true } });
    await fleet.settled(own.run_id);
    expect(await metadataOf(own)).toMatchObject({ tools: null });
    expect((await rowsOf(own))[0]?.tool_defs).toMatchObject([{ name: "mine" }]);
  });

  it("takes options set after loading, which are part of its digest", async () => {
    const config = await createRun({ ...request, extra_env_kwargs: { max_turns: 1 } });
    await fleet.settled(config.run_id);
    expect((await rowsOf(config)).map(({ stop_condition }) => stop_condition)).toEqual(["max_turns_reached", "max_turns_reached", "max_turns_reached"]);
    const definition = findEnvironment("mixed");
    if (definition === null) throw new Error("mixed is not registered");
    expect((await metadataOf(config)).edgewise).toMatchObject({ env_digest: await environmentDigest(definition, {}, { max_turns: 1 }) });
  });

  it("ends its run by name when a key has gone since, before any call", async () => {
    Object.assign(service, { SEARCH_KEY: "" });
    const config = await createRun(request);
    expect(await fleet.settled(config.run_id)).toMatchObject({
      status: "FAILED",
      failure: { code: "missing_key", message: expect.stringContaining("SEARCH_KEY") },
    });
    expect(model.calls).toEqual([]);
  });

  it("ends its run before any call where the run does not allow it a sandbox, and names the flag", async () => {
    const made = sandbox.created.length;
    for (const hosted of [{}, { allow_sandbox_access: false, allow_instances_access: true }] as JsonObject[]) {
      const config = await createRun({ ...request, hosted });
      expect(await fleet.settled(config.run_id)).toMatchObject({
        status: "FAILED",
        failure: {
          code: "access_not_allowed",
          message: expect.stringContaining("asks for a sandbox, and the run does not allow it: set allow_sandbox_access"),
        },
      });
    }
    expect([model.calls, sandbox.created.length]).toEqual([[], made]);
  });

  it("does not get the model's key, though it declares one of that name", async () => {
    const config = await createRun({ ...request, api_key_var: "SEARCH_KEY" });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "FAILED", failure: { code: "missing_key" } });
    expect(keysSeen).toEqual([]);
  });
});
