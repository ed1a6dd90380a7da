import { EdgewiseError } from "../../errors/result.ts";
import { CORPUS_METRICS } from "../../metrics/one-run/corpus.ts";

/** How the scores of samples become one number: their mean (0 of none), their sum, or not at all. */
export const REDUCTIONS = ["mean", "sum", "none"] as const;
export type Reduction = (typeof REDUCTIONS)[number];

/** Throws `invalid_request` for what is none. */
export function checkedReduction(reduce: string): Reduction {
  const found = REDUCTIONS.find((name) => name === reduce);
  if (found === undefined) throw new EdgewiseError("invalid_request", `reduce is ${JSON.stringify(reduce)}; it can be ${REDUCTIONS.join(", ")}`);
  return found;
}

/** Scores of samples in their order, reduced. Throws `invalid_request` for another `reduce`. */
export function reduceScores(scores: readonly number[], reduce: Reduction): number | number[] {
  if (checkedReduction(reduce) === "none") return [...scores];
  const sum = scores.reduce((total, score) => total + score, 0);
  return reduce === "sum" || scores.length === 0 ? sum : sum / scores.length;
}

/**
 * Of texts with their negative log-likelihoods and numbers of tokens: `mean` and `sum` are both the perplexity of the corpus, exp(sum of nll / sum of counts), weighted by
 * tokens and so not the mean of `none`, which is that of each text. A count of 0 is taken as 1.
 */
export function reducePerplexity(nll: readonly number[], counts: readonly number[], reduce: Reduction): number | number[] {
  if (checkedReduction(reduce) === "none") return nll.map((sum, i) => Math.exp(sum / Math.max(counts[i] ?? 0, 1)));
  const add = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return Math.exp(add(nll) / Math.max(add(counts), 1));
}

/** What a reduction needs of a row. */
export interface ScoredRow {
  readonly reward: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Rows of a run of an evaluation, in their order, reduced as their kind is: those of texts to their perplexity, others by their rewards. */
export function reduceRows(rows: readonly ScoredRow[], reduce: Reduction): number | number[] {
  const { nll, tokens, perplexity } = CORPUS_METRICS;
  if (rows.length === 0 || rows.some(({ metrics }) => metrics[nll] === undefined || metrics[tokens] === undefined)) {
    return reduceScores(
      rows.map(({ reward }) => reward),
      reduce,
    );
  }
  // A subclass may score a text otherwise than by its perplexity.
  if (checkedReduction(reduce) === "none" && rows.every(({ metrics }) => metrics[perplexity] !== undefined))
    return rows.map(({ metrics }) => metrics[perplexity] as number);
  return reducePerplexity(
    rows.map(({ metrics }) => metrics[nll] as number),
    rows.map(({ metrics }) => metrics[tokens] as number),
    reduce,
  );
}
