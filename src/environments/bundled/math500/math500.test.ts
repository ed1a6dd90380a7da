import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryDatasets } from "../../../../test/support/environments/memory-datasets.ts";
import { testData } from "../../../../test/support/results/test-data.ts";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { math500 } from "./math500.ts";

const FILE = testData("math500", "math500-llmeval.jsonl");

describe("math500", () => {
  const rows = [{ question: "What is one half of one?", answer: "\\frac{1}{2}" }];

  it.each([
    ["So it is \\boxed{0.5}.", 1],
    ["<think>\\boxed{3}</think> \\boxed{\\dfrac12}", 1],
    ["\\boxed{2}", 0],
    ["It is 0.5.", 0],
    ["", 0],
  ])("%j is worth %d", async (text, reward) => {
    const { state, model } = await runExample(testEnvironment(math500, { rows }), { answers: [text] });
    expect(state).toMatchObject({ reward, error: null, metrics: { correct_answer: reward } });
    expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(["system", "user"]);
  });

  it("an answer beyond the bounds of a comparison is a scorer's error, not a wrong answer", async () => {
    const { state } = await runExample(testEnvironment(math500, { rows }), { answers: [`\\boxed{${"1+".repeat(40_000)}1}`] });
    expect(state.error?.code).toBe("scorer_error");
  });

  it.runIf(FILE !== null)("reads a file of problems under other column names", async () => {
    const environment = math500.load(
      { dataset: `sha256:${"0".repeat(64)}`, dataset_columns: { question: "prompt" } },
      { datasets: memoryDatasets(readFileSync(FILE ?? "")) },
    );
    const inputs = await environment.getEvalDataset();
    expect(inputs).toHaveLength(500);
    const { state } = await runExample(environment, { answers: [`\\boxed{${String(inputs[7]?.answer)}}`], example: 7 });
    expect(state.reward).toBe(1);
  });
});
