import { z } from "zod";
import type { JsonObject } from "../../../config/run-config.ts";
import { extractHashAnswer } from "../../../parsers/extract.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition.ts";
import type { RowSource } from "../../examples.ts";
import { SingleTurnEnv } from "../../single-turn-env.ts";
import { findAnswer, sameAnswer } from "./number-answer.ts";

const SYSTEM_PROMPT = "Solve the problem step by step. Then give the final answer, a number, within \\boxed{}.";

/** The marked answer of each solution; a row without the mark is taken to hold the bare answer. */
function withBareAnswers(source: RowSource): RowSource {
  return async function* rows(count) {
    for await (const row of source(count))
      yield typeof row.answer === "string" ? ({ ...row, answer: extractHashAnswer(row.answer) } satisfies JsonObject) : row;
  };
}

/** Word problems of primary school; the rule by which answers are found and compared is in `number-answer.ts`. */
export const gsm8k = defineEnvironment({
  id: "gsm8k",
  version: "1.0.0",
  description: "Grade-school word problems; the reward is 1 for the right number. Rows: question, answer ending in `#### N`.",
  args: z.object({ system_prompt: z.string().default(SYSTEM_PROMPT) }),
  dataset: { dataset: "openai/gsm8k", config: "main", split: "test" },
  load({ system_prompt }, { dataset }) {
    const parser = new MaybeThinkParser((text) => findAnswer(text) ?? "");
    const rubric = new Rubric([
      {
        name: "correct_answer",
        fn: ({ completion, answer }) => {
          const given = parser.parseAnswer(completion) ?? "";
          return given !== "" && sameAnswer(given, String(answer));
        },
      },
    ]);
    return new SingleTurnEnv({ dataset: withBareAnswers(dataset), systemPrompt: system_prompt, parser, rubric });
  },
});
