import { describe, expect, it } from "vitest";
import { OpenEnvEnv, type OpenEnvOptions } from "../../../src/environments/openenv/openenv-env.ts";
import { readAction, readBuild } from "../../../src/environments/openenv/openenv-server.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { calls, scriptedClient } from "../../support/clients/scripted-client.ts";
import { type OpenEnvScript, ScriptedOpenEnv } from "../../support/clients/scripted-openenv.ts";

const GUESS = { type: "object", properties: { guess: { type: "string" } }, required: ["guess"] };
const MCP = { type: "object", properties: { tool_name: { type: "string" }, arguments: { type: "object" } } };
const BUILD = { image: "game:1", start_command: "serve", contract: "gym" };
const INPUT: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: "start 3" }], task: "t", info: { seed: 3 } };
const now = async (): Promise<void> => undefined;

function open(script: OpenEnvScript, options: Partial<OpenEnvOptions> = {}) {
  const sandbox = new ScriptedSandbox();
  const server = new ScriptedOpenEnv(script);
  const urls: string[] = [];
  const env = new OpenEnvEnv({
    build: BUILD,
    sandbox,
    connect: (url) => {
      urls.push(url);
      return server;
    },
    promptRenderer: (observation, { context }) => [{ role: "user", content: `${context}: ${JSON.stringify(observation)}` }],
    sleep: now,
    ...options,
  });
  return { env, sandbox, server, urls };
}

describe("OpenEnvEnv", () => {
  it("has examples out of resets with ascending seeds, those for evaluation after those for training; one that fails is made again in another session", async () => {
    const { env, sandbox, server } = open({ schema: GUESS, failingResets: 4 }, { numTrainExamples: 3, numEvalExamples: 2, seed: 10 });
    const rows = (await env.getDataset()).map(({ prompt, info }) => [prompt[0]?.content, info]);
    expect(rows).toEqual([10, 11, 12].map((seed) => [`reset: "start ${seed}"`, { seed }]));
    expect((await env.getEvalDataset(1)).map(({ info }) => info)).toEqual([{ seed: 13 }]);
    expect([sandbox.running, server.sessions]).toEqual([[], { opened: 6, closed: 6 }]);
  });

  it("plays a gym: the model's text is the action, steps give rewards, the game says when it is over", async () => {
    const results = [
      { observation: "colder", reward: 0.25, done: false },
      { observation: "found", reward: 1, done: true },
    ];
    const { env, server, sandbox, urls } = open({ schema: GUESS, unhealthy: 2, step: () => results.shift() ?? new Error("over") });
    const state = await env.runRollout(INPUT, scriptedClient("the attic", '```json\n{"guess": "the cellar"}\n```'), "m");
    expect(state.error).toBeNull();
    expect(server.actions).toEqual([{ guess: "the attic" }, { guess: "the cellar" }]);
    expect(state).toMatchObject({ stop_condition: "openenv_done", reward: 1.25, metrics: { sum_step_rewards: 1.25 } });
    expect(state.trajectory.map(({ reward }) => reward)).toEqual([0.25, 1]);
    expect(state.completion?.map(({ content }) => content)).toEqual(["the attic", 'step: "colder"', expect.stringMatching(/cellar/), 'step: "found"']);
    expect(sandbox.created[0]?.spec).toMatchObject({ docker_image: "game:1", start_command: "serve", cpu_cores: 2, memory_gb: 4 });
    expect(urls).toEqual(["http://openenv-env-0.sandbox:8000"]);
    expect([sandbox.running, server.sessions]).toEqual([[], { opened: 1, closed: 1 }]);
  });

  it("offers the tools of an MCP server, and sums the rewards of a turn's calls", async () => {
    const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object", properties: { at: { type: "string" } } } }];
    const { env } = open(
      {
        schema: MCP,
        tools,
        step: ({ arguments: args }) =>
          (args as { at?: string }).at === "nowhere"
            ? new Error("nothing there")
            : { observation: { result: { data: { seen: 2 } } }, reward: 0.5, done: false },
      },
      { build: { ...BUILD, contract: "mcp" } },
    );
    const client = scriptedClient(calls(["look", { at: "door" }], ["look", { at: "nowhere" }], ["look", "[]"]), "done");
    const state = await env.runRollout(INPUT, client, "m");
    expect(client.requests[0]?.tools).toEqual([{ name: "look", description: "Looks.", parameters: tools[0]?.inputSchema }]);
    expect((state.completion ?? []).filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      '{"seen":2}',
      "Error: nothing there",
      "Error: tool arguments must be an object",
    ]);
    expect(state).toMatchObject({ stop_condition: "mcp_no_tool_calls", error: null, trajectory: [{ reward: 0.5 }, {}] });
  });

  it("refuses a contract that the server does not keep, a server that does not start, and a renderer that says nothing", async () => {
    const mismatch = open({ schema: MCP });
    expect((await mismatch.env.runRollout(INPUT, scriptedClient("x"), "m")).error).toMatchObject({
      code: "sandbox_error",
      message: expect.stringMatching(/contract is gym/),
    });
    const dead = open({ schema: GUESS, unhealthy: 99 });
    expect((await dead.env.runRollout(INPUT, scriptedClient("x"), "m")).error?.chain[0]?.name).toBe("SandboxNotReadyError");
    expect([mismatch.sandbox.running, dead.sandbox.running]).toEqual([[], []]);
    const mute = open({ schema: GUESS }, { promptRenderer: () => [] });
    await expect(mute.env.getDataset(1)).rejects.toThrow(/at least one message/);
  });
});

it("a build manifest is complete, or refused by the name of what is not", () => {
  expect(readBuild(BUILD)).toEqual({ image: "game:1", port: 8000, start_command: "serve", contract: "gym" });
  for (const [field, value] of [
    ["image", " "],
    ["port", "x"],
    ["start_command", undefined],
    ["contract", "rest"],
  ] as const)
    expect(() => readBuild({ ...BUILD, [field]: value })).toThrow(new RegExp(`\\.build\\.json: ${field}`));
  expect(() => readBuild([])).toThrow(/no object/);
});

it("a text is an action only where the schema has one text to fill", () => {
  const two = { properties: { a: { type: "string" }, b: { type: "string" } } };
  expect(readAction("go", { properties: { a: { type: "string" } } })).toEqual({ a: "go" });
  expect(readAction('{"b": "x"}', two)).toEqual({ b: "x" });
  expect(() => readAction("go", two)).toThrow(/no action/);
  expect(() => readAction("go", { properties: { a: { type: "integer" } } })).toThrow(/no action/);
});
