import { z } from "zod";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { didYouMean } from "../../../config/nearest.ts";
import { mix, mixSeed } from "../../../mix.ts";
import { shuffled } from "../../definition/shuffle.ts";
import type { RowSource } from "../../definition/examples.ts";
import { defineEvaluation } from "../../evaluations/define-evaluation.ts";
import { type Comparison, type Normalisation, NORMALISATIONS, PerplexityComparisonEvaluation } from "../../evaluations/perplexity-comparison.ts";
import { BLIMP_PARTS } from "./blimp-parts.ts";
import { STREAMED, textIn } from "./streamed.ts";

const HUB = "nyu-mll/blimp";
/** Of the order of the two sentences, so that neither gains by being the first of equal ones. */
const SEED = 7;

interface Part {
  readonly name: string | null;
  readonly rows: RowSource;
}

/** Pairs of sentences that differ in one thing, which makes one of them ungrammatical. The prefix is empty. */
class Blimp extends PerplexityComparisonEvaluation {
  readonly name = "blimp";
  override readonly reward: Normalisation;
  readonly #parts: readonly Part[];
  readonly #pairs: number;
  readonly #wanted: ReadonlySet<string>;
  readonly #partOf = new WeakMap<Comparison, string>();

  /** `pairs` of each part, -1 = all. `parts` without a name have a column `UID` that says it. */
  constructor(parts: readonly Part[], wanted: ReadonlySet<string>, pairs: number, reward: Normalisation) {
    super();
    this.#parts = parts;
    this.#wanted = wanted;
    this.#pairs = pairs;
    this.reward = reward;
  }

  override get length(): number {
    return STREAMED();
  }

  override get(): Comparison {
    return STREAMED();
  }

  override async *samples(): AsyncGenerator<Comparison> {
    const taken = new Map<string, number>();
    for (const { name, rows } of this.#parts) {
      let index = 0;
      for await (const row of rows(-1)) {
        const part = name ?? textIn(row, "UID", index);
        const count = taken.get(part) ?? 0;
        if (this.#wanted.has(part) && (this.#pairs < 0 || count < this.#pairs)) {
          taken.set(part, count + 1);
          yield this.#pair(row, index, part);
        } else if (name !== null) break;
        index++;
      }
    }
  }

  protected override infoOf(sample: Comparison): JsonObject {
    return { part: this.#partOf.get(sample) ?? "" };
  }

  #pair(row: JsonObject, index: number, part: string): Comparison {
    const good = textIn(row, "sentence_good", index);
    const sentences = shuffled([good, textIn(row, "sentence_bad", index)], mix(mixSeed(SEED) ^ (index + 1)));
    const sample: Comparison = ["", sentences, sentences.indexOf(good)];
    this.#partOf.set(sample, part);
    return sample;
  }
}

/** No list of what is allowed: it would fill the screen wherever arguments are listed. */
const part = z.string().superRefine((name, context) => {
  if (BLIMP_PARTS.includes(name)) return;
  const rest = `as ${BLIMP_PARTS.slice(0, 3).join(", ")}, …`;
  context.addIssue({
    code: "custom",
    message: `there is no part ${JSON.stringify(name)}${didYouMean(name, BLIMP_PARTS)}; there are ${BLIMP_PARTS.length}, ${rest}`,
  });
});

export const blimp = defineEvaluation({
  id: "blimp",
  version: "1.0.0",
  description: "BLiMP: which of two sentences is grammatical, by their likelihood; 67 phenomena. The reward is 1 for the right one.",
  args: z.object({
    part: part.optional().describe("one of the 67 parts"),
    parts: z.array(part).min(1).optional().describe("several of them; neither = all"),
    per_part: z.int().min(-1).default(100).describe("pairs of each part, from its front; -1 for all 1,000"),
    reward: z
      .enum(Object.keys(NORMALISATIONS) as [Normalisation, ...Normalisation[]])
      .default("acc_token")
      .describe("likelihood per token, of the whole sentence (acc), or per byte"),
  }),
  load({ part: one, parts = one === undefined ? BLIMP_PARTS : [one], per_part, reward }, { dataset, rows }) {
    const wanted = new Set<string>(one === undefined ? parts : [...parts, one]);
    const read =
      dataset === null ? [...wanted].map((name) => ({ name, rows: rows({ dataset: HUB, config: name, split: "train" }) })) : [{ name: null, rows: dataset }];
    return new Blimp(read, wanted, per_part, reward);
  },
});
