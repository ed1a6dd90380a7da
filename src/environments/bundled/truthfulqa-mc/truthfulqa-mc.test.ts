import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryDatasets } from "../../../../test/support/environments/memory-datasets.ts";
import { testData } from "../../../../test/support/results/test-data.ts";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { truthfulqaMc } from "./truthfulqa-mc.ts";

const FILE = testData("truthfulqa", "TruthfulQA.csv");
const rows: JsonObject[] = [
  { question: "Who?", mc1_targets: { choices: ["nobody", "everybody", "a cat"], labels: [1, 0, 0] } },
  { Question: "When?", "Best Answer": "never", "Incorrect Answers": "now; later; never ; " },
];

describe("truthfulqa-mc", () => {
  it("shows the choices in an order of the seed, the right one under its letter", async () => {
    const places = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const [first, second] = await testEnvironment(truthfulqaMc, { rows, args: { seed } }).getEvalDataset();
      expect(String(first?.question)).toContain(`${String(first?.answer)}. nobody`);
      expect(String(second?.question)).toContain(`${String(second?.answer)}. never`);
      expect(second?.info).toEqual({ choices: 3 });
      places.add(String(first?.answer));
    }
    expect(places).toEqual(new Set(["A", "B", "C"]));
  });

  it("finds the letter in the box, or standing alone", async () => {
    const environment = testEnvironment(truthfulqaMc, { rows });
    const [input] = await environment.getEvalDataset(1);
    const right = String(input?.answer);
    const wrong = right === "A" ? "B" : "A";
    const outcome = async (text: string) => (await runExample(environment, { answers: [text] })).state.metrics;
    expect(await outcome(`It is \\boxed{${right}}`)).toMatchObject({ correct_choice: 1, gave_a_letter: 1 });
    expect(await outcome(`\\boxed{\\text{${right}.}}`)).toMatchObject({ correct_choice: 1 });
    expect(await outcome(`Not ${wrong}, but ${right}.`)).toMatchObject({ correct_choice: 1 });
    expect(await outcome(`<think>\\boxed{${right}}</think>\\boxed{${wrong}}`)).toMatchObject({ correct_choice: 0, gave_a_letter: 1 });
    expect(await outcome("nobody")).toMatchObject({ correct_choice: 0, gave_a_letter: 0 });
  });

  it("names a row of another form", async () => {
    const environment = testEnvironment(truthfulqaMc, { rows: [{ question: "x", answer: "y" }] });
    await expect(environment.getEvalDataset()).rejects.toMatchObject({ code: "dataset_unreadable", message: /row 0: it has neither/ });
  });

  it.runIf(FILE !== null)("reads the authors' file", async () => {
    const environment = truthfulqaMc.load({ dataset: `sha256:${"0".repeat(64)}` }, { datasets: memoryDatasets(readFileSync(FILE ?? "")) });
    const inputs = await environment.getEvalDataset();
    expect(inputs).toHaveLength(817);
    expect(inputs.every(({ answer, info }) => /^[A-Z]$/.test(String(answer)) && Number(info?.choices) >= 2)).toBe(true);
  });
});
