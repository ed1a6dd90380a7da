import type { JsonObject } from "../../config/plan/run-config.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import type { State } from "../../rollouts/types.ts";
import type { Environment } from "../kinds/environment.ts";
import { Evaluation, type EvaluationOptions, onlyScore, ranAs } from "./evaluation.ts";
import { LikelihoodEnv, promptText, scoredOf } from "./likelihood-env.ts";
import { type ScoredText, scoredText } from "./scored-text.ts";

/** A prefix, texts of which one goes on with it, and which of these it is, from 0. */
export type Comparison = readonly [prefix: string, continuations: readonly string[], correct: number];

/**
 * What is compared of a continuation's negative log-likelihood: its mean over tokens, as the seed's `PerplexityComparisonEvaluation` says it, its sum, or its mean over bytes,
 * which compares continuations of different lengths and does not depend on the tokenizer.
 */
export const NORMALISATIONS = {
  acc_token: ({ nll, count }: ScoredText) => nll / count,
  acc: ({ nll }: ScoredText) => nll,
  acc_bytes: ({ nll, bytes }: ScoredText) => nll / bytes,
};
export type Normalisation = keyof typeof NORMALISATIONS;

/**
 * Multiple choice by likelihood. The continuation that the model finds most likely after the prefix is its choice; of equal ones the first. Prefix and continuation are scored
 * as one text, and what counts are the tokens that reach beyond the prefix. A sample that lacks a continuation is skipped, and counted in the log.
 */
export abstract class PerplexityComparisonEvaluation extends Evaluation<Comparison> {
  /** Which of the accuracies is the reward; the others are metrics. */
  readonly reward: Normalisation = "acc_token";

  /** A score for each sample, given 1 where the choice is right and 0 where not. Called with one sample at a time. */
  score(correct: readonly number[]): number[] {
    return [...correct];
  }

  /** What else rows say of a sample, as the group that it belongs to. */
  protected infoOf(_sample: Comparison): JsonObject {
    return {};
  }

  override environment(options: EvaluationOptions = {}): Environment {
    const { reward } = this;
    const correctOf = (state: State, by: Normalisation): number => {
      return choiceOf(scoredOf<readonly ScoredText[]>(state), by) === state.info?.correct ? 1 : 0;
    };
    const names = [reward, ...(Object.keys(NORMALISATIONS) as Normalisation[]).filter((name) => name !== reward)];
    const rubric = new Rubric([
      ...names.map((name) => ({
        name,
        weight: name === reward ? 1 : 0,
        fn: ({ state }: { state: State }) => (name === reward ? onlyScore(this.score([correctOf(state, name)])) : correctOf(state, name)),
      })),
      { name: "straddled", weight: 0, fn: ({ state }) => scoredOf<readonly ScoredText[]>(state).some(({ straddles }) => straddles) },
    ]);
    const environment = new LikelihoodEnv<readonly ScoredText[]>({
      evalDataset: this.rows((sample, index) => rowOf(this.name, sample, index, this.infoOf(sample)), options),
      rubric,
      texts: (state) => continuationsOf(state).map((continuation) => `${promptText(state)}${continuation}`),
      read: (scores, state) => scores.map((score) => scoredText(score, promptText(state).length)),
      said: (scored, state) => continuationsOf(state)[choiceOf(scored, reward)] ?? "",
    });
    return ranAs(environment, options);
  }
}

const continuationsOf = ({ info }: State): readonly string[] => (info?.continuations as readonly string[] | undefined) ?? [];

/** The index of the least; the first of equal ones. Throws a `RangeError` where a continuation has no token to score. */
export function choiceOf(scored: readonly ScoredText[], by: Normalisation): number {
  const empty = scored.findIndex(({ count }) => count === 0);
  if (empty >= 0) throw new RangeError(`continuation ${empty} has no token with a log-probability: with an empty prefix the first token has none`);
  const costs = scored.map(NORMALISATIONS[by]);
  return costs.indexOf(Math.min(...costs));
}

/** Null for a sample that lacks a continuation. Throws a `RangeError` for one that says another is right than there are. */
function rowOf(name: string, [prefix, continuations, correct]: Comparison, index: number, more: JsonObject): JsonObject | null {
  if (continuations.length === 0 || continuations.some((continuation) => continuation === "")) return null;
  const answer = continuations[correct];
  if (answer === undefined) throw new RangeError(`evaluation ${name}: sample ${index} says that continuation ${correct} of ${continuations.length} is right`);
  return { prompt: [{ role: "text", content: prefix }], answer, info: { ...more, continuations: [...continuations], correct } };
}
