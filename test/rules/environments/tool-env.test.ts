import { describe, expect, it } from "vitest";
import { z } from "zod";
import { StatefulToolEnv } from "../../../src/environments/kinds/stateful-tool-env.ts";
import { tool, toolDef, type ToolFunction } from "../../../src/environments/kinds/tool.ts";
import { isContentParts } from "../../../src/environments/kinds/tool-content.ts";
import { ToolEnv, type ToolOptions } from "../../../src/environments/kinds/tool-env.ts";
import type { Message, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";
import { calls, type Reply, scriptedClient } from "../../support/clients/scripted-client.ts";

const INPUT: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: "Square 4" }], task: "t", answer: "16" };

const square = tool({
  name: "square",
  description: "Squares a number.",
  parameters: z.object({ x: z.number() }),
  run: ({ x }) => x * x,
});
const faulty: ToolFunction = {
  name: "faulty",
  description: "Fails.",
  parameters: { type: "object", properties: {} },
  run: () => {
    throw new RangeError("no luck");
  },
};

const environment = (options: Partial<ToolOptions> = {}): ToolEnv => new ToolEnv({ dataset: [{ question: "q" }], tools: [square], ...options });
const play = (env: ToolEnv, ...replies: Reply[]): Promise<State> => env.runRollout(INPUT, scriptedClient(...replies), "m");
const toolTexts = (state: State): unknown[] => (state.completion ?? []).filter(({ role }) => role === "tool").map(({ content }) => content);

describe("content of a tool's result", () => {
  const url = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  it.each([
    ["text parts", [{ type: "text", text: "hi" }], true],
    ["image parts", [url], true],
    ["a mixture", [{ type: "text", text: "hi" }, url], true],
    ["an empty list", [], true],
    ["another type", [{ type: "audio" }], false],
    ["no type", [{ text: "hi" }], false],
    ["an item that is no object", [{ type: "text", text: "hi" }, "x"], false],
    ["no list", { type: "text", text: "hi" }, false],
    ["a list of numbers", [1, 2], false],
  ])("%s", (_what, result, valid) => {
    expect(isContentParts(result)).toBe(valid);
  });

  it.each([
    ["parts stay parts", [{ type: "text", text: "hi" }], [{ type: "text", text: "hi" }]],
    ["an empty list stays one", [], []],
    ["a text stays a text", "it's", "it's"],
    ["a list that is no parts becomes JSON", [1, "a", null], '[1,"a",null]'],
    ["an object becomes JSON, not Python's form", { found: true, by: null }, '{"found":true,"by":null}'],
    ["nothing becomes null", undefined, "null"],
  ])("%s", async (_what, result, content) => {
    const state = await play(environment({ tools: [{ ...faulty, name: "give", run: async () => result }] }), calls(["give", {}]), "done");
    expect(toolTexts(state)).toEqual([content]);
  });
});

describe("ToolEnv", () => {
  it("calls the tools of a message in order and goes on until none is called", async () => {
    const client = scriptedClient(calls(["square", { x: 4 }], ["square", { x: 5 }]), "It is 16.");
    const state = await environment().runRollout(INPUT, client, "m");
    expect(state).toMatchObject({ stop_condition: "no_tools_called", error: null });
    expect(client.requests[1]?.prompt.slice(1)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "call_0" }, { id: "call_1" }] },
      { role: "tool", tool_call_id: "call_0", content: "16" },
      { role: "tool", tool_call_id: "call_1", content: "25" },
    ]);
    expect(state.metrics).toEqual({ num_turns: 2, total_tool_calls: 2, square_calls: 2 });
    expect(client.requests[0]?.tools.map(({ name }) => name)).toEqual(["square"]);
  });

  it("ends with the first message that calls nothing", async () => {
    expect(await play(environment(), "16")).toMatchObject({ stop_condition: "no_tools_called", metrics: { num_turns: 1, total_tool_calls: 0 } });
  });

  it("does not run the calls of the last turn allowed, and allows ten by default", async () => {
    expect(environment().maxTurns).toBe(10);
    let ran = 0;
    const counting = { ...faulty, name: "count", run: () => ++ran };
    const state = await play(environment({ tools: [counting], maxTurns: 2 }), calls(["count", {}]));
    expect([ran, state.stop_condition]).toEqual([1, "max_turns_reached"]);
  });

  it("tells the model what is wrong with its arguments: no JSON, no object, not what the schema says", async () => {
    const state = await play(environment(), calls(["square", "{x: 4"], ["square", "[4]"], ["square", { x: "4" }]), "sorry");
    const [noJson, noObject, noNumber] = toolTexts(state);
    expect(noJson).toMatch(/JSON/);
    expect(noObject).toBe("Expected the arguments of square to be an object, got an array: [4]");
    expect(noNumber).toMatch(/^square: x: .*number/);
    expect(state.error).toBeNull();
  });

  it("tells the model of an argument that the tool does not have, and runs nothing", async () => {
    const ran: unknown[] = [];
    const note = { ...faulty, run: (args: unknown) => void ran.push(args) };
    const closed: ToolFunction[] = [
      { ...note, name: "plain", parameters: { type: "object", properties: { x: { type: "number" } } } },
      { ...note, name: "strict", parameters: z.strictObject({}) },
    ];
    const open: ToolFunction[] = [
      { ...note, name: "loose", parameters: z.looseObject({}) },
      { ...note, name: "any", parameters: {} },
      { ...note, name: "more", parameters: { type: "object", properties: {}, additionalProperties: true } },
    ];
    const args = { x: 4, y: 5 };
    const env = environment({ tools: [square, ...closed, ...open] });
    const state = await play(env, calls(...["square", "plain", "strict", "loose", "any", "more"].map((name): [string, object] => [name, args])), "sorry");
    expect(toolTexts(state)).toEqual([
      "square() got an unexpected keyword argument 'y'",
      "plain() got an unexpected keyword argument 'y'",
      "strict() got an unexpected keyword argument 'x'",
      "null",
      "null",
      "null",
    ]);
    expect(ran).toEqual([args, args, args]);
  });

  it("tells the model of an unknown tool by its name, as Python's KeyError does", async () => {
    const state = await play(environment(), calls(["nope", {}]), "sorry");
    expect(toolTexts(state)).toEqual(["'nope'"]);
    expect(state.metrics).toMatchObject({ total_tool_calls: 1, square_calls: 0 });
  });

  it("formats errors as it is told to", async () => {
    const env = environment({ tools: [faulty], errorFormatter: (error) => `Error (${error.name}): ${error.message}` });
    expect(toolTexts(await play(env, calls(["faulty", {}]), "sorry"))).toEqual(["Error (RangeError): no luck"]);
  });

  it("ends the rollout for the errors it stops for", async () => {
    const state = await play(environment({ tools: [faulty], stopErrors: [RangeError] }), calls(["faulty", {}]));
    expect(state).toMatchObject({
      stop_condition: "has_error",
      error: { code: "tool_call_error", chain: [{ name: "ToolCallError" }, { name: "RangeError", message: "no luck" }] },
    });
    const unreadable = await play(environment({ stopErrors: [SyntaxError] }), calls(["square", "{"]));
    expect(unreadable.error).toMatchObject({ code: "tool_parse_error", chain: [{ name: "ToolParseError" }, { name: "SyntaxError" }] });
  });

  it("keeps what failed around a tool apart from the tool: such a rollout is run again", async () => {
    let attempts = 0;
    const flaky: ToolFunction = {
      ...faulty,
      name: "flaky",
      run: () => {
        attempts++;
        if (attempts === 1) throw new SandboxError("gone");
        return "back";
      },
    };
    const env = environment({ tools: [flaky], stopErrors: [SandboxError] });
    const once = await env.runRollout(INPUT, scriptedClient(calls(["flaky", {}])), "m");
    expect(once.error).toMatchObject({ code: "sandbox_error", chain: [{ name: "ToolCallError" }, { name: "SandboxError" }] });
    attempts = 0;
    const again = await env.runRollout(INPUT, scriptedClient(calls(["flaky", {}]), calls(["flaky", {}]), "done"), "m", { maxRetries: 1 });
    expect([again.error, attempts]).toEqual([null, 2]);
  });

  it("gains and loses tools with their definitions and metrics", () => {
    const env = environment();
    env.addTool(faulty);
    env.addTool(faulty);
    expect(env.toolDefs.map(({ name }) => name)).toEqual(["square", "faulty"]);
    expect(env.metricNames()).toEqual(["num_turns", "total_tool_calls", "square_calls", "faulty_calls"]);
    env.removeTool(square);
    env.removeTool("nobody");
    expect(env.tools.map(({ name }) => name)).toEqual(["faulty"]);
    expect(env.metricNames()).toEqual(["num_turns", "total_tool_calls", "faulty_calls"]);
  });

  it("gives a tool its state, the id of the call and a signal", async () => {
    const seen: unknown[] = [];
    const spy: ToolFunction = {
      ...faulty,
      name: "spy",
      run: (_args, { state, id, signal }) => {
        seen.push(state.example_id, id, signal instanceof AbortSignal);
      },
    };
    await play(environment({ tools: [spy] }), calls(["spy", {}]), "done");
    expect(seen).toEqual([0, "call_0", true]);
  });

  it("lets an example bring its own definitions", async () => {
    const own = { name: "square", description: "Another text.", parameters: {} };
    const client = scriptedClient("done");
    await environment().runRollout({ ...INPUT, info: { tool_defs: [own] } }, client, "m");
    expect(client.requests[0]?.tools).toEqual([own]);
  });
});

describe("what the model is told of a tool", () => {
  const shape = (parameters: z.ZodObject) => toolDef({ name: "f", description: "d", parameters, run: () => null }).parameters;

  it("comes from a zod schema", () => {
    expect(toolDef(square)).toEqual({
      name: "square",
      description: "Squares a number.",
      parameters: { title: "square_args", additionalProperties: false, type: "object", properties: { x: { type: "number" } }, required: ["x"] },
    });
  });

  it("says which parameters have a default, which may be null, what lists hold and what a parameter is for", () => {
    expect(
      shape(
        z.object({
          count: z.int().default(3),
          note: z.string().nullable(),
          tags: z.array(z.string()),
          anything: z.any().describe("whatever you like"),
        }),
      ),
    ).toMatchObject({
      properties: {
        count: { type: "integer", default: 3 },
        note: { type: ["string", "null"] },
        tags: { type: "array", items: { type: "string" } },
        anything: { description: "whatever you like" },
      },
      required: ["note", "tags", "anything"],
    });
  });

  it("bounds a whole number only where its schema does", () => {
    const { properties } = shape(z.object({ any: z.int(), list: z.array(z.int()), some: z.int().min(0).max(10), small: z.int32() }));
    expect(properties).toEqual({
      any: { type: "integer" },
      list: { type: "array", items: { type: "integer" } },
      some: { type: "integer", minimum: 0, maximum: 10 },
      small: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
    });
  });

  it("may be a JSON Schema, which is taken as it is", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } }, additionalProperties: true };
    expect(toolDef({ name: "f", description: "d", parameters, strict: true, run: () => null })).toEqual({
      name: "f",
      description: "d",
      parameters: { title: "f_args", ...parameters },
      strict: true,
    });
  });
});

describe("StatefulToolEnv", () => {
  const Offset = z.object({ by: z.number() }).meta({ id: "Offset" });
  const shifted = tool({
    name: "shifted",
    description: "Adds an offset of the environment's.",
    parameters: z.object({ x: z.number(), offset: Offset }),
    run: ({ x, offset }) => x + offset.by,
  });

  class Shifting extends StatefulToolEnv {
    constructor(options: Partial<ToolOptions> = {}) {
      super({ dataset: [{ question: "q" }], ...options });
      this.addTool(shifted, ["offset"]);
    }
    override updateToolArgs(name: string, args: Record<string, unknown>, messages: readonly Message[], state: State): Record<string, unknown> {
      if (args.x === 13) throw new Error("not that one");
      state.last_tool = `${name} after ${messages.length} messages`;
      return { ...args, offset: { by: 100 } };
    }
  }

  it("hides arguments from the model, with the definitions that only they used, and leaves the tool as it is", () => {
    expect(new Shifting().toolDefs[0]?.parameters).toEqual({
      title: "shifted_args",
      additionalProperties: false,
      type: "object",
      properties: { x: { type: "number" } },
      required: ["x"],
    });
    expect(JSON.stringify(toolDef(shifted).parameters)).toContain("$defs");
  });

  it("fills them in before each call, and may change the state", async () => {
    const state = await play(new Shifting(), calls(["shifted", { x: 1 }]), "done");
    expect(toolTexts(state)).toEqual(["101"]);
    expect(state.last_tool).toBe("shifted after 2 messages");
  });

  it("tells the model of arguments that are no object, without asking for the hidden ones", async () => {
    const state = await play(new Shifting(), calls(["shifted", "7"], ["shifted", "{"]), "done");
    expect(toolTexts(state)).toEqual(["Expected the arguments of shifted to be an object, got a number: 7", expect.stringMatching(/JSON/)]);
    expect(state.last_tool).toBeUndefined();
  });

  it("makes what fails there the environment's own error", async () => {
    const state = await play(new Shifting(), calls(["shifted", { x: 13 }]));
    expect(state.error).toMatchObject({ code: "environment_error", message: "not that one (in Shifting.updateToolArgs)" });
  });
});
