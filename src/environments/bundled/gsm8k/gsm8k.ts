import { z } from "zod";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { extractHashAnswer } from "../../../parsers/extract.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { boxedAnswerParser, MathRubric } from "../../../rubrics/math-rubric.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";
import { findAnswer, sameAnswer } from "./number-answer.ts";

const SYSTEM_PROMPT = "Please reason step by step, and put your final answer within \\boxed{}.";

/** The first `limit` rows (-1: all) with the marked answer of each solution; a row without the mark is taken to hold the bare answer. */
function withBareAnswers(source: RowSource, limit: number): RowSource {
  return async function* rows(count) {
    let left = limit < 0 ? Number.POSITIVE_INFINITY : limit;
    if (left === 0) return;
    for await (const row of source(count)) {
      yield typeof row.answer === "string" ? ({ ...row, answer: extractHashAnswer(row.answer) } satisfies JsonObject) : row;
      if (--left === 0) return;
    }
  };
}

/** Finds the last number of a text, marked or not, so that an answer that was cut off may have one (`number-answer.ts`). */
const lastNumberParser = (): MaybeThinkParser => new MaybeThinkParser((text) => findAnswer(text) ?? "");

/** 1 for the expected number, found by the parser and compared as in `number-answer.ts`. */
const numberRubric = (parser: MaybeThinkParser): Rubric =>
  new Rubric(
    [
      {
        name: "correct_answer",
        fn: ({ completion, answer }) => {
          const given = parser.parseAnswer(completion) ?? "";
          return given !== "" && sameAnswer(given, String(answer));
        },
      },
    ],
    { parser },
  );

/** Word problems of primary school, asked and scored as in verifiers 0.1.14's `gsm8k`. */
export const gsm8k = defineEnvironment({
  id: "gsm8k",
  version: "2.0.0",
  description: "Grade-school word problems; the reward is 1 for the right number in \\boxed{}. Rows: question, answer ending in `#### N`.",
  args: z.object({
    system_prompt: z.string().default(SYSTEM_PROMPT).describe("what stands before every problem"),
    num_eval_examples: z.int().min(-1).default(-1).describe("problems from the front of the data set; -1 for all"),
    reading: z.enum(["boxed", "last_number"]).default("boxed").describe("what of a response counts as its answer"),
  }),
  dataset: { dataset: "openai/gsm8k", config: "main", split: "test" },
  defaults: { num_examples: 20, rollouts_per_example: 5 },
  load({ system_prompt, num_eval_examples, reading }, { dataset }) {
    const parser = reading === "boxed" ? boxedAnswerParser() : lastNumberParser();
    const rubric = reading === "boxed" ? new MathRubric([], { parser }) : numberRubric(parser);
    return new SingleTurnEnv({ dataset: withBareAnswers(dataset, num_eval_examples), systemPrompt: system_prompt, parser, rubric });
  },
});
