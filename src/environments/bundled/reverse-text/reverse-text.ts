import { z } from "zod";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { XMLParser } from "../../../parsers/xml-parser.ts";
import type { Completion } from "../../../parsers/parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";
import { similarity } from "../similarity.ts";
import { sentence } from "./word-list.ts";

const SYSTEM_PROMPT = "Reverse the text character by character. Put your answer in <reversed_text> tags.";

/** Rows of a run that asks for all of them; a larger number asked for is made as well. */
const DEFAULT_ROWS = 1_000;

const reversed = (text: string): string => Array.from(text).reverse().join("");

/** The content of the tags; the whole text of a model that leaves them out, which loses nothing by it. */
class ReversedTextParser extends XMLParser {
  constructor() {
    super(["reversed_text"], { answerField: "reversed_text" });
  }

  override parseText(text: string): string {
    return super.parseText(text) ?? text.trim();
  }

  override parseAnswer(completion: Completion): string | null {
    if (completion === null || typeof completion === "string") return super.parseAnswer(completion);
    const tagged = super.parseAnswer(completion);
    if (tagged !== null) return tagged;
    const last = completion.findLast((message) => message.role === "assistant");
    return last === undefined || typeof last.content !== "string" ? null : last.content.trim();
  }
}

/** Row `i` depends on the seed and on `i` alone, so that a longer run begins with the rows of a shorter one. */
function generatedRows(seed: number, minWords: number, maxWords: number): RowSource {
  return async function* rows(count) {
    const total = count > 0 ? count : DEFAULT_ROWS;
    for (let index = 0; index < total; index++) yield rowOf(sentence(seed, index, minWords, maxWords));
  };
}

/** Rows of a given data set: the text is in `text`, `question` or `prompt`. */
function rowsFrom(source: RowSource): RowSource {
  return async function* rows(count) {
    let index = 0;
    for await (const { text, question, prompt, ...rest } of source(count)) {
      const given = [text, question, prompt].find((value) => typeof value === "string");
      if (typeof given !== "string") throw new EdgewiseError("dataset_unreadable", `data set row ${index}: it has no text (under text, question or prompt)`);
      index++;
      yield { ...rest, ...rowOf(given) };
    }
  };
}

const rowOf = (text: string): JsonObject => ({ question: text, answer: reversed(text) });

const words = z.int().min(1).max(1_000);

/** Texts to write backwards; the reward is the likeness of the answer to the reversed text. Needs no file. */
export const reverseText = defineEnvironment({
  id: "reverse-text",
  version: "1.0.0",
  description: "Reverse a text character by character; the reward is the likeness to the reversed text, from 0 to 1.",
  args: z.object({
    seed: z.int().min(0).default(0),
    min_words: words.default(3),
    max_words: words.default(10),
    system_prompt: z.string().default(SYSTEM_PROMPT),
  }),
  load({ seed, min_words, max_words, system_prompt }, { dataset }) {
    if (min_words > max_words)
      throw new EdgewiseError("invalid_request", `environment reverse-text: argument min_words (${min_words}) is above max_words (${max_words})`);
    const parser = new ReversedTextParser();
    const rubric = new Rubric([{ name: "similarity", fn: ({ completion, answer }) => similarity(parser.parseAnswer(completion) ?? "", String(answer)) }], {
      parser,
    });
    const rows = dataset === null ? generatedRows(seed, min_words, max_words) : rowsFrom(dataset);
    return new SingleTurnEnv({ dataset: rows, systemPrompt: system_prompt, parser, rubric });
  },
});
