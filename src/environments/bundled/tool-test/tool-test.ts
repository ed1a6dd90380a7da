import { z } from "zod";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { mix, mixSeed } from "../../../mix.ts";
import { shuffled } from "../../definition/shuffle.ts";
import { tool } from "../../kinds/tool.ts";
import { ToolEnv } from "../../kinds/tool-env.ts";
import type { AssistantMessage, Message } from "../../../rollouts/types.ts";

/** Rows of a run that asks for all of them; a larger number asked for is made as well. */
const DEFAULT_ROWS = 100;

const TOOLS = [
  tool({
    name: "tool_A",
    description: "Tool for adding 1 to an integer.",
    parameters: z.object({ x: z.int().describe("The integer to add 1 to.") }),
    run: ({ x }) => x + 1,
  }),
  tool({
    name: "tool_B",
    description: 'Tool for concatenating a string with "2".',
    parameters: z.object({ x: z.string().describe('The string to concatenate with "2".') }),
    run: ({ x }) => `${x}2`,
  }),
  tool({
    name: "tool_C",
    description: "Tool for adding 3.0 to a float.",
    parameters: z.object({ x: z.number().describe("The float to add 3.0 to.") }),
    run: ({ x }) => x + 3,
  }),
  tool({
    name: "tool_D",
    description: "Tool for negating a boolean.",
    parameters: z.object({ x: z.boolean().describe("The boolean to negate.") }),
    run: ({ x }) => !x,
  }),
];
const NAMES = TOOLS.map(({ name }) => name);

function generatedRows(seed: number): RowSource {
  return async function* rows(count) {
    const total = count > 0 ? count : DEFAULT_ROWS;
    for (let index = 0; index < total; index++) {
      const own = mix(mixSeed(seed) ^ (index + 1));
      const tool_names = shuffled(NAMES, own).slice(0, 1 + (mix(own) % NAMES.length));
      yield {
        prompt: [{ role: "user", content: `Call the following tools with arguments of your choice: ${JSON.stringify(tool_names)}` }],
        info: { tool_names },
      } satisfies JsonObject;
    }
  };
}

const calledIn = (message: Message | undefined): string[] =>
  message?.role === "assistant" ? ((message as AssistantMessage).tool_calls ?? []).map(({ name }) => name) : [];

/** Tools to call, several in one message: whether a model, an endpoint and a client get tool calls across. */
export const toolTest = defineEnvironment({
  id: "tool-test",
  version: "1.0.0",
  description: "Call exactly the named tools, all in one message; the reward is 1 when they are the ones that were called.",
  args: z.object({ seed: z.int().min(0).default(42).describe("which tools are asked for") }),
  load({ seed }, { dataset }) {
    const rubric = new Rubric([
      {
        name: "tool_call_reward_func",
        fn: ({ completion, info }) => {
          const wanted = Array.isArray(info.tool_names) ? [...info.tool_names].sort() : [];
          return JSON.stringify(calledIn(completion.at(-1)).sort()) === JSON.stringify(wanted);
        },
      },
    ]);
    return new ToolEnv({ dataset: dataset ?? generatedRows(seed), rubric, tools: TOOLS, maxTurns: 1 });
  },
});
