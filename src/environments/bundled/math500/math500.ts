import { z } from "zod";
import { boxedAnswerParser, MathRubric } from "../../../rubrics/math-rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";

const SYSTEM_PROMPT = "Please reason step by step, and put your final answer within \\boxed{}.";

/** Competition problems whose answers are compared as mathematics, not as text. */
export const math500 = defineEnvironment({
  id: "math500",
  version: "1.0.0",
  description:
    "500 problems of the MATH test set; the reward is 1 for an answer in \\boxed{} that equals the expected one as mathematics. Rows: question, answer.",
  args: z.object({ system_prompt: z.string().default(SYSTEM_PROMPT).describe("what stands before every problem") }),
  dataset: { dataset: "HuggingFaceH4/MATH-500", split: "test", columns: { question: "problem" } },
  load({ system_prompt }, { dataset }) {
    const parser = boxedAnswerParser();
    return new SingleTurnEnv({ dataset, systemPrompt: system_prompt, parser, rubric: new MathRubric([], { parser }) });
  },
});
