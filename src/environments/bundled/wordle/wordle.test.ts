import { describe, expect, it } from "vitest";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { judge, WORDS } from "./game.ts";
import { wordle } from "./wordle.ts";

const rows = [{ question: "Find the word.", answer: "crane" }];
const play = async (...answers: string[]) => await runExample(testEnvironment(wordle, { rows }), { answers });
const guess = (word: string): string => `I think it is <guess>${word}</guess>`;

describe("marks", () => {
  it.each([
    ["crane", "crane", "GGGGG"],
    ["nacre", "crane", "YYYYG"],
    ["speed", "erase", "YXYYX"],
    ["eerie", "crane", "XXYXG"],
    ["allay", "llama", "YGYYX"],
  ])("%s for %s: %s", (word, secret, marks) => {
    expect(judge(word, secret)).toBe(marks);
  });
});

describe("wordle", () => {
  it("ends with the word, and is worth more the fewer guesses it took", async () => {
    const { state, model } = await play(guess("trace"), guess("[CRANE]"));
    expect(state).toMatchObject({
      stop_condition: "has_final_env_response",
      error: null,
      metrics: { correct_answer: 1, partial_answer: 0, length_bonus: 0.5 },
    });
    expect(state.reward).toBeCloseTo(1.5 + 0.2 * (state.metrics?.format_reward ?? 0));
    expect(model.requests[1]?.prompt.at(-1)).toEqual({ role: "user", content: "T R A C E\nX G G Y G\nGuesses left: 5" });
    expect(state.completion?.at(-1)?.content).toBe("C R A N E\nG G G G G\nYou have found the word.");
  });

  it("ends after six turns, the last guess judged, with part of the reward", async () => {
    const { state, model } = await play(...Array.from({ length: 6 }, () => guess("trace")));
    expect(model.requests).toHaveLength(6);
    expect(state.metrics).toMatchObject({ correct_answer: 0, length_bonus: 0 });
    expect(state.metrics?.partial_answer).toBeCloseTo(0.2 * 3 + 0.1);
    expect(state.reward).toBeLessThan(1.1);
  });

  it("counts an answer without a guess as a turn, and no more", async () => {
    const { state, model } = await play("hello", guess("cranes"), guess("crane"));
    expect(model.requests[1]?.prompt.at(-1)?.content).toBe("That is no guess of five letters inside <guess> tags.\nGuesses left: 5");
    expect(state.metrics).toMatchObject({ correct_answer: 1, length_bonus: 1 });
  });

  it("draws five-letter words by seed, none of them twice in the list", async () => {
    expect(new Set(WORDS).size).toBe(WORDS.length);
    expect(WORDS.every((word) => /^[a-z]{5}$/.test(word))).toBe(true);
    const inputs = await testEnvironment(wordle).getEvalDataset(30);
    expect(new Set(inputs.map(({ answer }) => answer)).size).toBeGreaterThan(20);
  });
});
