import { z } from "zod";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { extractBoxedAnswer } from "../../../parsers/extract.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { mix, mixSeed } from "../../../mix.ts";
import { shuffled } from "../../definition/shuffle.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";

const SYSTEM_PROMPT = "Answer the question. Give the letter of your answer within \\boxed{}.";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

interface Question {
  readonly question: string;
  readonly right: string;
  readonly wrong: readonly string[];
}

/** A row of the Hub's `multiple_choice` configuration (`mc1_targets`: one right choice), or of the authors' CSV file. */
function questionOf(row: JsonObject, index: number): Question {
  const targets = row.mc1_targets as { choices?: unknown; labels?: unknown } | undefined;
  if (typeof row.question === "string" && Array.isArray(targets?.choices) && Array.isArray(targets.labels)) {
    const choices = targets.choices.map(String);
    const at = targets.labels.indexOf(1);
    const right = choices[at];
    if (right !== undefined) return { question: row.question, right, wrong: choices.filter((_, choice) => choice !== at) };
  }
  const { Question: question, "Best Answer": best, "Incorrect Answers": incorrect } = row;
  if (typeof question === "string" && typeof best === "string" && typeof incorrect === "string") {
    const wrong = incorrect
      .split(";")
      .map((text) => text.trim())
      .filter((text) => text !== "" && text !== best.trim());
    return { question, right: best.trim(), wrong: [...new Set(wrong)] };
  }
  throw new EdgewiseError(
    "dataset_unreadable",
    `data set row ${index}: it has neither question and mc1_targets nor Question, Best Answer and Incorrect Answers`,
  );
}

/** The choices stand in an order of their own for every row: the right one is the first of them in the data. */
function choiceRows(source: RowSource, seed: number): RowSource {
  return async function* rows(count) {
    let index = 0;
    for await (const row of source(count)) {
      const { question, right, wrong } = questionOf(row, index);
      const choices = shuffled([right, ...wrong].slice(0, LETTERS.length), mix(mixSeed(seed) ^ ++index));
      yield {
        question: `${question}\n\n${choices.map((choice, at) => `${LETTERS[at]}. ${choice}`).join("\n")}`,
        answer: LETTERS[choices.indexOf(right)] ?? "",
        info: { choices: choices.length },
      };
    }
  };
}

/** The letter in the box, else the last letter that stands alone. */
const letterOf = (text: string): string => {
  const boxed = extractBoxedAnswer(text, { strict: true });
  return (/\b([A-Z])\b/.exec(boxed) ?? /(?:^|[^\w'])([A-Z])(?![\w'])(?!.*(?:^|[^\w'])[A-Z](?![\w']))/s.exec(text))?.[1] ?? "";
};

/** Questions that many people answer wrongly, with one right choice each. */
export const truthfulqaMc = defineEnvironment({
  id: "truthfulqa-mc",
  version: "1.0.0",
  description: "TruthfulQA with one right choice per question, in a shuffled order; the reward is 1 for its letter.",
  args: z.object({
    seed: z.int().min(0).default(0).describe("order of the choices"),
    system_prompt: z.string().default(SYSTEM_PROMPT).describe("what stands before every question"),
  }),
  dataset: { dataset: "truthfulqa/truthful_qa", config: "multiple_choice", split: "validation" },
  load({ seed, system_prompt }, { dataset }) {
    const parser = new MaybeThinkParser(letterOf);
    const rubric = new Rubric(
      [
        { name: "correct_choice", fn: ({ completion, answer }) => parser.parseAnswer(completion) === answer },
        { name: "gave_a_letter", weight: 0, fn: ({ completion }) => parser.parseAnswer(completion) !== "" },
      ],
      { parser },
    );
    return new SingleTurnEnv({ dataset: choiceRows(dataset, seed), systemPrompt: system_prompt, parser, rubric });
  },
});
