import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RolloutOutput, parseOutput, writeOutput } from "../../../src/rollouts/rows/output.ts";
import { testData } from "../../support/results/test-data.ts";

const FOLDER = testData("verifiers-outputs");
const folders = FOLDER === null ? [] : readdirSync(FOLDER);

interface Folder {
  readonly lines: readonly string[];
  readonly outputs: readonly RolloutOutput[];
  readonly metadata: Record<string, unknown>;
}
function read(name: string): Folder {
  const file = (path: string): string => readFileSync(join(FOLDER ?? "", name, path), "utf8");
  const lines = file("results.jsonl").trimEnd().split("\n");
  return { lines, outputs: lines.map(parseOutput), metadata: JSON.parse(file("metadata.json")) as Record<string, unknown> };
}

/** Tool calls are JSON inside of JSON: their texts are compared by what they say. */
function opened(row: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(row), (key, value: unknown) =>
    key === "tool_calls" && Array.isArray(value) ? value.map((call: unknown) => (typeof call === "string" ? JSON.parse(call) : call)) : value,
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe.runIf(FOLDER !== null)("rows that the Python library wrote", () => {
  it.each(folders)("of %s come back with everything that was in them", (name) => {
    const { lines, outputs } = read(name);
    expect(lines.length).toBeGreaterThan(0);
    for (const [index, output] of outputs.entries()) {
      const original = JSON.parse(lines[index] ?? "") as Record<string, unknown>;
      // More may be there (the id of the call that a result answers), nothing less and nothing else.
      expect(opened(writeOutput(output))).toMatchObject(opened(original) as object);
      expect(Object.keys(writeOutput(output))).toEqual(Object.keys(original));
      expect(parseOutput(JSON.stringify(writeOutput(output)))).toEqual(output);
    }
  });

  it.each(folders)("of %s are messages with tool calls that can be read, each result beside its call", (name) => {
    for (const { prompt, completion } of read(name).outputs) {
      const known = new Set<string>();
      for (const message of [...(prompt ?? []), ...(completion ?? [])]) {
        expect(["system", "user", "assistant", "tool"]).toContain(message.role);
        if (message.role === "assistant") for (const call of message.tool_calls ?? []) known.add(call.id);
        if (message.role === "assistant") for (const call of message.tool_calls ?? []) expect(JSON.parse(call.arguments)).toBeTypeOf("object");
        if (message.role === "tool") expect(known).toContain(message.tool_call_id);
      }
    }
  });

  it.each(folders)("of %s give the stored averages, but for the stale one", (name) => {
    const { outputs, metadata } = read(name);
    const average = mean(outputs.map(({ reward }) => reward));
    if (name.includes("stale")) expect([average, metadata.avg_reward]).toEqual([1, 0]);
    else expect(average).toBeCloseTo(metadata.avg_reward as number, 14);
    const metrics = { ...(metadata.avg_metrics as Record<string, number> | undefined) };
    for (const [key, value] of Object.entries(metadata))
      if (key.startsWith("avg_") && typeof value === "number" && key !== "avg_reward") metrics[key.slice(4)] = value;
    for (const [metric, stored] of Object.entries(metrics)) expect(mean(outputs.map((output) => Number(output[metric])))).toBeCloseTo(stored, 12);
  });
});

describe("a row", () => {
  const line = (row: object): string => JSON.stringify({ reward: 0, prompt: [], completion: [], ...row });

  it("is refused when it is none", () => {
    expect(() => parseOutput("{")).toThrow(SyntaxError);
    expect(() => parseOutput("[]")).toThrow(/no object/);
    expect(() => parseOutput(line({ reward: "1" }))).toThrow(/reward .* no number/);
    expect(() => parseOutput(line({ completion: 3 }))).toThrow(/completion .* neither/);
    expect(() => parseOutput(line({ example_id: 1.5 }))).toThrow(/example_id/);
  });

  it("may have a text as prompt, and tool calls in either form, as texts or not", () => {
    const calls = ['{"id": "a", "name": "f", "arguments": "{}"}', { id: "b", type: "function", function: { name: "g", arguments: "{}" } }];
    const output = parseOutput(line({ prompt: "2+2=", completion: [{ role: "assistant", content: "", tool_calls: calls }] }));
    expect(output.prompt).toEqual([{ role: "text", content: "2+2=" }]);
    expect(output.completion).toMatchObject([
      {
        tool_calls: [
          { id: "a", name: "f", arguments: "{}" },
          { id: "b", name: "g", arguments: "{}" },
        ],
      },
    ]);
    expect(parseOutput(JSON.stringify(writeOutput(output)))).toEqual(output);
  });
});
