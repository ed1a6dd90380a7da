import { describe, expect, it } from "vitest";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { toolTest } from "./tool-test.ts";

const rows = [{ prompt: [{ role: "user", content: "Call tool_C and tool_A." }], info: { tool_names: ["tool_C", "tool_A"] } }];
const call = (...names: string[]) => [{ tool_calls: names.map((name) => ({ name, arguments: { x: 1 } })) }];

describe("tool-test", () => {
  it.each([
    ["exactly the named tools, in any order", call("tool_A", "tool_C"), 1],
    ["one of them", call("tool_A"), 0],
    ["one of them twice", call("tool_A", "tool_A", "tool_C"), 0],
    ["none", ["I cannot."], 0],
  ])("%s", async (_, answers, reward) => {
    const { state, model } = await runExample(testEnvironment(toolTest, { rows }), { answers });
    expect(state).toMatchObject({ reward, error: null });
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["tool_A", "tool_B", "tool_C", "tool_D"]);
  });

  it("asks for one to four tools, as a seed decides", async () => {
    const inputs = await testEnvironment(toolTest).getEvalDataset(40);
    expect(new Set(inputs.map(({ info }) => (info?.tool_names as string[] | undefined)?.length))).toEqual(new Set([1, 2, 3, 4]));
    expect(inputs[0]?.prompt[0]?.content).toBe(`Call the following tools with arguments of your choice: ${JSON.stringify(inputs[0]?.info?.tool_names)}`);
  });
});
