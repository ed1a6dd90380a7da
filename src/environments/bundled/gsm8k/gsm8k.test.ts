import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import type { RolloutInput } from "../../../rollouts/types.ts";
import { canonicalNumber, findAnswer, sameAnswer } from "./number-answer.ts";
import { sameAnswer as sameMathematics } from "../../../rubrics/math/same-answer.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { loadEnvironment } from "../../definition/load.ts";
import { memoryDatasets } from "../../../../test/support/environments/memory-datasets.ts";
import { testData } from "../../../../test/support/results/test-data.ts";

const FILE = testData("gsm8k", "test.jsonl");

const LIMITS = { maxChars: 50_000, maxSteps: 100_000 };
const REFERENCE = `sha256:${"0".repeat(64)}`;

/** The one problem of a data set, and what an answer to it is worth. */
async function onlyExample(
  args: JsonObject,
): Promise<{ readonly input: RolloutInput; readonly metrics: readonly string[]; reward(text: string): Promise<number | null> }> {
  const row = { question: "How many?", answer: "9*2=18\n#### 1,018" };
  const environment = await loadEnvironment("gsm8k", { dataset: REFERENCE, ...args }, { datasets: memoryDatasets(JSON.stringify(row)) });
  const [input] = await Array.fromAsync(environment.examples(1));
  expect(environment.parser).toBeInstanceOf(MaybeThinkParser);
  if (input === undefined) throw new Error("the data set is empty");
  const reward = async (text: string): Promise<number | null> => {
    const state = environment.initState(input, { client: null, model: "m", sampling_args: {}, now: 0 });
    state.completion = [{ role: "assistant", content: text }];
    await environment.rubric.scoreGroup([state], { now: () => 0 });
    expect(state.error).toBeNull();
    return state.reward;
  };
  return { input, metrics: environment.metricNames(), reward };
}

describe("finding an answer", () => {
  it.each([
    ["so \\boxed{18}", "18"],
    ["\\boxed{1} no, \\boxed{2}", "2"],
    ["The answer\n#### 1,234\n\nQ: next #### 5", "1,234"],
    ["first \\boxed{7}, #### 8", "7"],
    ["16 - 3 - 4 = 9, and 9 * 2 = $18.", "18"],
    ["It falls to -5 degrees.", "-5"],
    ["10-5", "5"],
    ["half is .5", ".5"],
    ["\\boxed{}", null],
    ["I do not know", null],
    ["", null],
  ])("%j → %j", (text, answer) => {
    expect(findAnswer(text)).toBe(answer);
  });
});

describe("comparing answers", () => {
  it.each([
    ["18", "18"],
    ["18.", "18"],
    ["18.00", "18"],
    ["018", "18"],
    ["$18", "18"],
    ["\\$1,234.50", "1234.5"],
    ["1{,}234", "1,234"],
    ["1\\,234", "1234"],
    ["18 dollars", "18"],
    ["18\\text{ dollars}", "18"],
    ["x = 18", "18"],
    ["20\\%", "20"],
    ["-$5", "-5"],
    ["−5", "-5"],
    ["-0", "0"],
    [".5", "0.50"],
    ["12,345,678", "12345678"],
    ["9007199254740993", "9,007,199,254,740,993.0"],
    ["Paris", " paris."],
    ["x  + 1", "X + 1"],
  ])("%j equals %j", (given, truth) => {
    expect(sameAnswer(given, truth)).toBe(true);
  });

  it.each([
    ["18", "19"],
    ["180", "18"],
    ["1.8", "18"],
    ["-18", "18"],
    ["18 or 19", "18"],
    ["1/2", "0.5"],
    ["eighteen", "18"],
    ["9007199254740993", "9007199254740992"],
    ["Paris", "London"],
  ])("%j differs from %j", (given, truth) => {
    expect(sameAnswer(given, truth)).toBe(false);
  });

  it("reads no number out of a comma list", () => {
    expect(canonicalNumber("1,2,3")).toBeNull();
  });
});

describe("the environment", () => {
  it("says what is wrong with its arguments where they are checked, and reads the Hub's test set when they name none", async () => {
    const { gsm8k } = await import("./gsm8k.ts");
    expect(await gsm8k.checkArgs({})).toBeNull();
    const asked: string[] = [];
    const fetchNothing = async (url: string): Promise<Response> => {
      asked.push(url);
      return new Response("{}", { status: 404 });
    };
    const environment = await loadEnvironment("gsm8k", {}, { datasets: { ...memoryDatasets(), fetch: fetchNothing } });
    await expect(Array.fromAsync(environment.examples(1))).rejects.toMatchObject({ code: "dataset_unreadable", message: /openai\/gsm8k/ });
    expect(asked[0]).toBe("https://datasets-server.huggingface.co/parquet?dataset=openai%2Fgsm8k");
    expect(await gsm8k.checkArgs({ dataset: "test.jsonl" })).toMatch(/dataset: "test.jsonl" is no reference/);
    expect(await gsm8k.checkArgs({ dataset: REFERENCE, seed: 1 })).toMatch(
      /unknown argument seed \(it takes system_prompt, num_eval_examples, reading, dataset, dataset_config, dataset_split, dataset_revision, dataset_columns\)/,
    );
    expect(await gsm8k.checkArgs({ dataset: REFERENCE, reading: "first" })).toMatch(/reading.*boxed.*last_number/);
    expect(await gsm8k.checkArgs({ dataset: REFERENCE, num_eval_examples: -2 })).toMatch(/num_eval_examples/);
    expect(await gsm8k.checkArgs({ dataset: REFERENCE })).toBeNull();
    expect(gsm8k.defaults).toEqual({ num_examples: 20, rollouts_per_example: 5 });
  });

  it("asks with the reference's system prompt and keeps the bare answer", async () => {
    const { input } = await onlyExample({});
    expect(input).toMatchObject({ answer: "1,018", task: "gsm8k", example_id: 0 });
    expect(input.prompt).toEqual([
      { role: "system", content: "Please reason step by step, and put your final answer within \\boxed{}." },
      { role: "user", content: "How many?" },
    ]);
  });

  it("compares what is boxed behind the thinking, as mathematics: what was cut off before has no answer", async () => {
    const { reward, metrics } = await onlyExample({});
    expect(await reward("<think>\\boxed{7}</think> It is \\boxed{1018}.")).toBe(1);
    expect(await reward("\\boxed{\\$1{,}018.00}")).toBe(1);
    expect(await reward("\\boxed{2036/2}")).toBe(1);
    expect(await reward("9*2=18, so there are 1018")).toBe(0);
    expect(await reward("#### 1018")).toBe(0);
    expect(await reward("<think>\\boxed{1018}</think> It is 7.")).toBe(0);
    expect(await reward("")).toBe(0);
    expect(metrics).toEqual(["correct_answer", "num_turns"]);
  });

  it('with `reading: "last_number"` takes the last number of any answer', async () => {
    const { reward, metrics } = await onlyExample({ reading: "last_number" });
    expect(await reward("<think>\\boxed{7}</think> It is \\boxed{1018}.")).toBe(1);
    expect(await reward("#### $1018")).toBe(1);
    expect(await reward("9*2=18, so there are 1018")).toBe(1);
    expect(await reward("<think>1018</think> It is 7.")).toBe(0);
    expect(await reward("")).toBe(0);
    expect(metrics).toEqual(["correct_answer", "num_turns"]);
  });

  it.each([
    [-1, 3],
    [2, 2],
    [9, 3],
  ])("num_eval_examples of %d leaves %d of three problems", async (num_eval_examples, left) => {
    const rows = ["1", "2", "3"].map((answer) => JSON.stringify({ question: "How many?", answer })).join("\n");
    const environment = await loadEnvironment("gsm8k", { dataset: REFERENCE, num_eval_examples }, { datasets: memoryDatasets(rows) });
    expect(await Array.fromAsync(environment.examples(-1))).toHaveLength(left);
    expect(await Array.fromAsync(environment.examples(1))).toHaveLength(1);
  });

  it.runIf(FILE !== null)("reads the real test set: every solution scores 1, every other answer 0", async () => {
    const environment = await loadEnvironment("gsm8k", { dataset: REFERENCE }, { datasets: memoryDatasets(readFileSync(FILE ?? "")) });
    const inputs = await Array.fromAsync(environment.examples(-1));
    expect(inputs).toHaveLength(1_319);
    expect(inputs.filter(({ answer }) => canonicalNumber(String(answer)) === null)).toEqual([]);
    expect(inputs.filter(({ answer }) => String(answer).includes(",")).length).toBe(14);
    for (const { answer } of inputs) {
      const truth = String(answer);
      for (const text of [`#### ${truth}`, `\\boxed{${truth.replaceAll(",", "")}.00}`, `The answer is $${truth}.`])
        expect([text, sameAnswer(findAnswer(text) ?? "", truth)]).toEqual([text, true]);
      expect(sameAnswer(`${truth}1`, truth)).toBe(false);
      for (const boxed of [truth, truth.replaceAll(",", ""), `${truth}.00`, `\\$${truth}`, `${truth}\\text{ dollars}`])
        expect([boxed, sameMathematics(truth, boxed, LIMITS)]).toEqual([boxed, true]);
      expect(sameMathematics(truth, `${truth}1`, LIMITS)).toBe(false);
    }
    expect(await Array.fromAsync(environment.examples(3))).toHaveLength(3);
  });
});
