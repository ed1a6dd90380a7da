import { z } from "zod";
import { EdgewiseError } from "../../../errors/result.ts";
import { mix, mixSeed } from "../../../mix.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";
import type { Operation, Problem } from "./held-out.ts";
import { answerOf, DIFFICULTIES, type Difficulty, heldOutProblems, OPERATIONS, questionOf } from "./problems.ts";

const SYSTEM_PROMPT = "Give the answer alone.";

/** Rows of a run that asks for all of them; more are made when a larger number is asked for, as far as there are problems. */
const DEFAULT_ROWS = 1_000;

/** The problems of the operations in turn; one that has none left is passed over. */
function* inTurn(operations: readonly Operation[], difficulty: Difficulty, seed: number): Generator<Problem> {
  let streams = operations.map((operation) => heldOutProblems(operation, difficulty, seed));
  while (streams.length > 0) {
    const going: typeof streams = [];
    for (const stream of streams) {
      const next = stream.next();
      if (next.done === true) continue;
      yield next.value;
      going.push(stream);
    }
    streams = going;
  }
}

/** Row `i` depends on the arguments and on `i` alone, so that a longer run begins with the rows of a shorter one. */
function generatedRows(operations: readonly Operation[], difficulty: Difficulty, seed: number): RowSource {
  return async function* rows(count) {
    const total = count > 0 ? count : DEFAULT_ROWS;
    const wording = mixSeed(seed);
    let index = 0;
    for (const problem of inTurn(operations, difficulty, seed)) {
      yield { question: questionOf(problem, mix(wording ^ index)), answer: answerOf(problem), info: { operation: problem.operation, difficulty } };
      if (++index === total) return;
    }
    if (count > 0) {
      throw new EdgewiseError(
        "invalid_request",
        `environment arithmetic: there are ${index} different problems of ${operations.join(", ")} at level ${difficulty}, ${count} were asked for`,
        {
          hint: `ask for at most ${index}, or for another difficulty or operation`,
        },
      );
    }
  };
}

/** The text without outer spaces and a closing period. */
const answerIn = (text: string): string => text.trim().replace(/\.$/, "");

const WELL_FORMED = /^(?:-?\d+|[a-z]+)$/;

/** Sums, differences, products, letters to reverse or to sort: what the embedded model learned, with problems it never saw. */
export const arithmetic = defineEnvironment({
  id: "arithmetic",
  version: "1.0.0",
  description: "Small sums, differences, products and letters to reverse or sort, in three levels; the reward is 1 for the exact answer.",
  // Enough for an interval that says something, in a few seconds with the embedded model.
  defaults: { num_examples: 50, rollouts_per_example: 4 },
  args: z.object({
    difficulty: z.enum(DIFFICULTIES).default("medium"),
    operation: z.enum(["all", ...OPERATIONS]).default("all"),
    seed: z.int().min(0).default(0),
    system_prompt: z.string().default(SYSTEM_PROMPT),
  }),
  load({ difficulty, operation, seed, system_prompt }, { dataset }) {
    const parser = new MaybeThinkParser(answerIn);
    const rubric = new Rubric(
      [
        { name: "correct_answer", fn: ({ completion, answer }) => parser.parseAnswer(completion) === String(answer) },
        { name: "well_formed", weight: 0, fn: ({ completion }) => WELL_FORMED.test(parser.parseAnswer(completion) ?? "") },
      ],
      { parser },
    );
    const operations = operation === "all" ? OPERATIONS : [operation];
    return new SingleTurnEnv({ dataset: dataset ?? generatedRows(operations, difficulty, seed), systemPrompt: system_prompt, parser, rubric });
  },
});
