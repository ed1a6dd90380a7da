import { z } from "zod";
import type { DatasetDefaults } from "../../../datasets/spec.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import type { EnvironmentDefinition } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { defineEvaluation } from "../../evaluations/define-evaluation.ts";
import { PerplexityEvaluation } from "../../evaluations/perplexity-evaluation.ts";
import { samplesOf, STREAMED, textIn } from "./streamed.ts";

/** The texts of a column. Empty ones have no token to score and are left out. */
class ColumnPerplexity extends PerplexityEvaluation {
  readonly name: string;
  readonly #rows: RowSource;
  readonly #column: string;
  readonly #most: number;

  /** `most`: characters of a text, from its front. */
  constructor(name: string, rows: RowSource, column: string, most: number) {
    super();
    this.name = name;
    this.#rows = rows;
    this.#column = column;
    this.#most = most;
  }

  override get length(): number {
    return STREAMED();
  }

  override get(): string {
    return STREAMED();
  }

  override async *samples(): AsyncGenerator<string> {
    for await (const text of samplesOf(this.#rows, (row, index) => textIn(row, this.#column, index)))
      if (text.trim() !== "") yield firstCharacters(text, this.#most);
  }
}

/** Never half of a character. */
function firstCharacters(text: string, most: number): string {
  const cut = text.slice(0, most);
  return /[\uD800-\uDBFF]$/.test(cut) && cut.length < text.length ? cut.slice(0, -1) : cut;
}

const args = z.object({
  column: z.string().min(1).default("text").describe("column that has the texts"),
  max_chars: z.int().min(2).max(1_000_000).default(8_000).describe("characters of a text that are scored, from its front"),
});

function perplexity(id: string, description: string, dataset?: DatasetDefaults): EnvironmentDefinition {
  return defineEvaluation({
    id,
    version: "1.0.0",
    description: `${description} The reward is the mean log-probability per token; the report has the corpus's perplexity and bits per byte.`,
    args,
    ...(dataset === undefined ? {} : { dataset }),
    load({ column, max_chars }, { dataset: rows }) {
      if (rows === null) {
        throw new EdgewiseError("invalid_request", `environment ${id}: which texts? Name a data set`, {
          hint: `-a '{"dataset": "texts.jsonl", "column": "text"}' (a file, or an id of the Hugging Face Hub)`,
        });
      }
      return new ColumnPerplexity(id, rows, column, max_chars);
    },
  });
}

/** Perplexity of corpora: a few by name, and of any column of texts. */
export const PERPLEXITIES: readonly EnvironmentDefinition[] = [
  perplexity("perplexity", "Perplexity of any column of texts."),
  perplexity("tinystories_ppl", "Perplexity of short stories for children.", { dataset: "roneneldan/TinyStories", split: "validation" }),
  // The Hub converts no set that is made by a script: its files are read as they are.
  perplexity("pes2o_ppl", "Perplexity of scientific papers.", { dataset: "allenai/peS2o", config: "v2", split: "validation", revision: "main" }),
];
