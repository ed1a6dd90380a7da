import { describe, expect, it } from "vitest";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { State } from "../../../src/rollouts/types.ts";
import { Parser } from "../../../src/parsers/parser.ts";
import { MathBoundError } from "../../../src/rubrics/math/budget.ts";
import { sameAnswer } from "../../../src/rubrics/math/same-answer.ts";
import { MathRubric } from "../../../src/rubrics/math-rubric.ts";
import { MATH_CASES } from "../../support/environments/math-cases.ts";

const LIMITS = { maxChars: 50_000, maxSteps: 100_000 };
const now = (): number => 0;

async function scored(completion: string, answer: string | number, rubric = new MathRubric()): Promise<State> {
  const state = createState({ example_id: 0, prompt: [], task: "t", answer }, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  state.completion = [{ role: "assistant", content: completion }];
  await rubric.scoreRollout(state, { now });
  return state;
}

describe("comparing answers", () => {
  it.each(MATH_CASES)("%s and %s: %s", (expected, response, same) => {
    expect(sameAnswer(expected, response, LIMITS)).toBe(same);
  });

  it("says the same of everything that is equal to itself, wrapped or not", () => {
    for (const [answer] of MATH_CASES)
      for (const form of [`${answer} `, `{${answer}}`, `$${answer}$`, `\\[${answer}\\]`])
        expect([form, sameAnswer(answer, form, LIMITS)]).toEqual([form, true]);
  });

  it("has no answer in an empty text", () => {
    expect(sameAnswer("", "", LIMITS)).toBe(false);
    expect(sameAnswer("1", " ", LIMITS)).toBe(false);
  });
});

describe("a comparison that takes too long", () => {
  it.each([
    ["many terms", `1${"+1".repeat(20_000)}`],
    ["a tower of powers", "9^{9^{9}}"],
    ["a factorial beyond all numbers", "(10^6)!"],
    ["a hundred and more brackets", `${"(".repeat(150)}1${")".repeat(150)}`],
    ["a long product of sums", "(x+y)".repeat(5_000)],
    ["more characters than allowed", "1".repeat(60_000)],
  ])("is refused by count, not by clock: %s", (_, response) => {
    expect(() => sameAnswer("5", response, LIMITS)).toThrow(MathBoundError);
  });

  it("is no work for answers of the same text, however long", () => {
    expect(sameAnswer("1".repeat(100_000), "1".repeat(100_000), LIMITS)).toBe(true);
  });

  // Each would run for minutes if any step took the square of its length.
  it.each([
    ["open fractions", "\\frac{".repeat(5_000)],
    ["bars", "|".repeat(5_000)],
    ["braces", "{".repeat(25_000) + "}".repeat(25_000)],
    ["dollar signs", "$".repeat(50_000)],
    ["a bracket and spaces", `\\[ x${" ".repeat(49_000)}.`],
    ["open texts", "\\text{".repeat(5_000)],
    ["a list", "1,".repeat(20_000)],
    ["indices", "a_".repeat(10_000)],
    ["letters", "a ".repeat(20_000)],
    ["words", `${"Abcd ".repeat(9_000)}1`],
    ["thousands", "12,345,".repeat(7_000)],
    ["digits", "9".repeat(49_000)],
    ["signs", "\\pm1".repeat(10_000)],
    ["fractions with \\over", "1\\over ".repeat(7_000)],
    ["colours", "\\color   ".repeat(5_000)],
    ["upright groups", "\\mathbf{".repeat(5_000) + "}".repeat(5_000)],
    ["Greek letters", "α".repeat(49_000)],
    ["sets", "[0,1]\\cap".repeat(5_000)],
    ["grouped digits", "1 000 ".repeat(8_000)],
    ["powers of ten", "1e999".repeat(9_000)],
  ])("ends whatever is repeated: %s", (_, response) => {
    try {
      expect(sameAnswer("5", response, LIMITS)).toBe(false);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(MathBoundError);
    }
  });
});

// Cases of tests/test_math_rubric.py.
describe("the rubric for mathematics", () => {
  it.each([
    ["\\boxed{1}", "1", 1],
    ["\\boxed{x + 1}", "1 + x", 1],
    ["\\boxed{\\frac{1}{2}}", "0.5", 1],
    ["\\boxed{1}", "2", 0],
    ["\\boxed{\\frac{1}{3}}", "0.5", 0],
    ["<think>\\boxed{2}</think> so \\boxed{1}", "1", 1],
    ["<think>it is \\boxed{1}</think> I do not know", "1", 0],
    ["the answer is 1", "1", 0],
    ["\\boxed{}", "1", 0],
    ["\\boxed{\\text{no idea}}", "1", 0],
  ])("%s for %s is worth %d", async (completion, answer, score) => {
    const state = await scored(completion, answer);
    expect(state).toMatchObject({ reward: score, metrics: { correct_answer: score }, error: null });
  });

  it("takes an expected answer that is a number", async () => {
    expect((await scored("\\boxed{0.5}", 0.5)).reward).toBe(1);
  });

  it("appends its function to the given ones, and takes another parser", async () => {
    const rubric = new MathRubric(
      [
        function length({ completion }) {
          return String(completion[0]?.content).length;
        },
      ],
      { weights: [0], parser: new Parser() },
    );
    expect(rubric.metricNames()).toEqual(["length", "correct_answer"]);
    expect(await scored("1/2", "0.5", rubric)).toMatchObject({ reward: 1, metrics: { length: 3, correct_answer: 1 } });
  });

  it("beyond its bounds says so on the row instead of counting 0", async () => {
    const state = await scored("\\boxed{9^{9^{9}}}", "1");
    expect(state).toMatchObject({
      reward: 0,
      metrics: {},
      error: { code: "scorer_error", message: expect.stringContaining("correct_answer: an answer is beyond") },
    });
    const long = await scored(`\\boxed{${"1".repeat(30)}}`, "1", new MathRubric([], { maxVerifyChars: 20 }));
    expect(long.error?.message).toContain("more than 20 characters");
    const slow = await scored("\\boxed{1+2+3+4}", "1", new MathRubric([], { maxVerifySteps: 10 }));
    expect(slow.error?.message).toContain("within 10 steps");
  });
});
