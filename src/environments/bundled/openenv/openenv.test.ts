import { describe, expect, it } from "vitest";
import { type OpenEnvScript, ScriptedOpenEnv } from "../../../../test/support/clients/scripted-openenv.ts";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { openenv } from "./openenv.ts";

const GUESS = { type: "object", properties: { metadata: { type: "object" }, guess: { type: "string", description: "a place" } }, required: ["guess"] };
const MOVE = {
  type: "object",
  properties: { metadata: { type: "object" }, row: { type: "integer" }, column: { type: "integer" } },
  required: ["row", "column"],
};
const TOOLS = { type: "object", properties: { type: { const: "call_tool" }, tool_name: { type: "string" }, arguments: { type: "object" } } };
const URL = "http://localhost:8000";

function open(script: OpenEnvScript, args: Record<string, unknown> = {}) {
  const server = new ScriptedOpenEnv(script);
  return { server, environment: testEnvironment(openenv, { args: { url: URL, num_examples: 3, ...(args as object) }, openEnv: () => server }) };
}
const firstPrompt = async (script: OpenEnvScript, args?: Record<string, unknown>): Promise<unknown> =>
  (await open(script, args).environment.getEvalDataset(1))[0]?.prompt[0]?.content;

describe("openenv", () => {
  it("has an episode for each seed, as many as it is asked for, and shows how to act", async () => {
    const inputs = await open({ schema: GUESS }, { seed: 4, instruction: "Find the cat." }).environment.getEvalDataset();
    expect(inputs.map(({ info }) => info)).toEqual([{ seed: 4 }, { seed: 5 }, { seed: 6 }]);
    expect(inputs[0]?.prompt).toEqual([
      { role: "user", content: "Find the cat.\n\nYou are in an environment. Each of your answers is one action, as it stands (guess: a place).\n\nstart 4" },
    ]);
    expect(await firstPrompt({ schema: MOVE })).toContain(`a JSON object that follows this schema, and nothing else.\n${JSON.stringify(MOVE)}\n\nstart 0`);
    expect(await firstPrompt({ schema: TOOLS, reset: () => ({}) })).toBe(
      "You are in an environment that you act in by calling the tools. Call no tool when you are done.",
    );
  });

  it("shows the field that is named, the only one, or all", async () => {
    const reset = () => ({ text: "a room", exits: 2 });
    expect(await firstPrompt({ schema: GUESS, reset })).toMatch(/\n\{"text":"a room","exits":2\}$/);
    expect(await firstPrompt({ schema: GUESS, reset }, { observation_field: "text" })).toMatch(/\na room$/);
    expect(await firstPrompt({ schema: GUESS, reset: () => ({ text: "a room" }) })).toMatch(/\na room$/);
  });

  it("sums the rewards of an episode, and tells the model what was no action", async () => {
    const { environment, server } = open({
      schema: MOVE,
      step: ({ row }) => ({ observation: { board: "x" }, reward: row === 2 ? 1 : 0.5, done: row === 2 }),
    });
    const { state } = await runExample(environment, { answers: ["up", '{"row": 1, "column": 1}', '```json\n{"row": 2, "column": 1}\n```'] });
    expect(state).toMatchObject({ error: null, reward: 1.5, stop_condition: "openenv_done", metrics: { sum_step_rewards: 1.5, num_turns: 3 } });
    expect(server.actions).toEqual([
      { row: 1, column: 1 },
      { row: 2, column: 1 },
    ]);
    expect(state.completion?.[1]).toEqual({ role: "user", content: expect.stringMatching(/^Error: the answer is no action/) });
    expect(server.sessions).toEqual({ opened: 2, closed: 2 });
  });

  it("ends an episode that the server does not, after its turns", async () => {
    const { state } = await runExample(open({ schema: GUESS }, { max_turns: 2 }).environment, { answers: ["here", "there"] });
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", reward: 0, error: null });
  });

  it("needs a server, at an address that may be called", () => {
    const problem = (args: object) => openenv.check({ env_args: { ...args } })?.message;
    expect(problem({})).toMatch(/argument url is missing .*eval run \.\/my-openenv-folder/);
    expect(problem({ url: "ftp://x" })).toMatch(/the OpenEnv server "ftp:\/\/x" is no/);
    expect(problem({ url: "http://127.0.0.1:1" })).toBeUndefined();
  });
});
