import { z } from "zod";
import { mix, mixSeed } from "../../../mix.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { XMLParser } from "../../../parsers/xml-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { shuffled } from "../../definition/shuffle.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";
import { similarity } from "../similarity.ts";
import { MOST_NAMES, names, type PersonName } from "./names.ts";

/** Rows of a run that asks for all of them; a larger number asked for is made as well. */
const DEFAULT_ROWS = 1_000;
const TAG = "alphabetical_sorted";

const combined = ({ first, last }: PersonName): string => `${first}${last}`;
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One list to sort; `seed` decides its order and by which name it is sorted. */
function rowOf(people: readonly PersonName[], seed: number): JsonObject {
  const by = mix(seed) % 2 === 0 ? "first" : "last";
  const sorted = [...people].sort((a, b) => order(a[by], b[by])).map(combined);
  const example = sorted.map((_, index) => `Name${index + 1}`).join("\n");
  return {
    question: `Sort these names in alphabetical order by ${by.toUpperCase()} name: ${shuffled(people.map(combined), seed).join(", ")}\n\nUse exactly this format:\n<${TAG}>\n${example}\n</${TAG}>`,
    answer: sorted.join("\n"),
    info: { sort_by: by, names: people.length },
  };
}

function generatedRows(seed: number, min: number, max: number): RowSource {
  return async function* rows(count) {
    const total = count > 0 ? count : DEFAULT_ROWS;
    for (let index = 0; index < total; index++) {
      const own = mix(mixSeed(seed) ^ (index + 1));
      yield rowOf(names(seed, index, min + (own % (max - min + 1))), own);
    }
  };
}

/** Rows of a given data set: a list of names like `Ada Lovelace` in `names`; rows with fewer than `min` names are left out. */
function rowsFrom(source: RowSource, seed: number, min: number, max: number): RowSource {
  return async function* rows() {
    let index = 0;
    // Read to the end if need be: rows may be left out.
    for await (const row of source(-1)) {
      if (!Array.isArray(row.names)) throw new EdgewiseError("dataset_unreadable", `data set row ${index}: it has no list under names`);
      const own = mix(mixSeed(seed) ^ ++index);
      const people = distinct(row.names.map(personOf)).slice(0, min + (own % (max - min + 1)));
      if (people.length >= min) yield rowOf(people, own);
    }
  };
}

/** `AdaLovelace` and `Ada Lovelace` alike: the last name begins with the last word, or with the second capital. */
function personOf(value: unknown): PersonName {
  const text = String(value).trim();
  const cut = text.includes(" ") ? text.lastIndexOf(" ") : (/^.[^\p{Lu}]*/u.exec(text)?.[0].length ?? text.length);
  return { first: text.slice(0, cut).replaceAll(" ", ""), last: text.slice(cut).trim() };
}

const distinct = (people: readonly PersonName[]): PersonName[] => [...new Map(people.map((person) => [combined(person), person])).values()];

const count = z.int().min(1).max(MOST_NAMES);

/** Names to sort, by first or by last name. Needs no file. */
export const alphabetSort = defineEnvironment({
  id: "alphabet-sort",
  version: "1.0.0",
  description: "Sort a list of names by first or last name; the reward is the likeness to the sorted list, to the fourth power.",
  args: z.object({
    seed: z.int().min(0).default(0).describe("which lists"),
    min_names: count.default(2).describe("fewest names in a list"),
    max_names: count.default(6).describe("most names in a list"),
    similarity_power: z.int().min(1).max(20).default(4).describe("the likeness is raised to it: higher is stricter"),
    system_prompt: z.string().nullable().default(null).describe("what stands before every list"),
  }),
  load({ seed, min_names, max_names, similarity_power, system_prompt }, { dataset }) {
    if (min_names > max_names)
      throw new EdgewiseError("invalid_request", `environment alphabet-sort: argument min_names (${min_names}) is above max_names (${max_names})`);
    const parser = new XMLParser([TAG], { answerField: TAG });
    const lines = (text: string): string =>
      text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join("\n");
    const rubric = new Rubric(
      [
        {
          name: "sorted_likeness",
          fn: ({ completion, answer }) => similarity(lines(parser.parseAnswer(completion) ?? ""), String(answer)) ** similarity_power,
        },
        { name: "exactly_sorted", weight: 0, fn: ({ completion, answer }) => lines(parser.parseAnswer(completion) ?? "") === answer },
      ],
      { parser },
    );
    const rows = dataset === null ? generatedRows(seed, min_names, max_names) : rowsFrom(dataset, seed, min_names, max_names);
    return new SingleTurnEnv({ dataset: rows, systemPrompt: system_prompt, parser, rubric });
  },
});
