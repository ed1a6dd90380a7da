import { CORPUS_METRICS } from "../../metrics/one-run/corpus.ts";
import type { RewardContext } from "../../rubrics/reward-function.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import type { Environment } from "../kinds/environment.ts";
import { Evaluation, type EvaluationOptions, onlyScore, ranAs } from "./evaluation.ts";
import { LikelihoodEnv, promptText, scoredOf, theOne } from "./likelihood-env.ts";
import { reducePerplexity } from "./reduce.ts";
import { type ScoredText, scoredText } from "./scored-text.ts";

/** A mean log-probability per token that no model goes below: of a token that it thinks impossible. */
const LEAST_LOGPROB = -50;

/**
 * Evaluation by the likelihood of texts. A sample is a text; all its tokens but the first are scored. The number of the whole is the perplexity of the corpus, weighted by tokens
 * (lower is better), which the report and `metadata.json` have beside bits per byte. The reward of a text, higher is better, is its mean log-probability
 * per token; the mean of rewards weighs every text alike and is not the corpus's.
 */
export abstract class PerplexityEvaluation extends Evaluation<string> {
  /** The perplexity of each text, exp(nll / max(count, 1)). Called with one text at a time. */
  score(nll: readonly number[], counts: readonly number[]): number[] {
    return reducePerplexity(nll, counts, "none") as number[];
  }

  override environment(options: EvaluationOptions = {}): Environment {
    const of = ({ state }: RewardContext): ScoredText => scored(scoredOf<ScoredText>(state));
    const rubric = new Rubric(
      [
        { name: "mean_logprob", fn: (context) => -of(context).nll / of(context).count },
        { name: CORPUS_METRICS.perplexity, weight: 0, fn: (context) => onlyScore(this.score([of(context).nll], [of(context).count])) },
        { name: CORPUS_METRICS.nll, weight: 0, fn: (context) => of(context).nll },
        { name: CORPUS_METRICS.tokens, weight: 0, fn: (context) => of(context).count },
        { name: CORPUS_METRICS.bytes, weight: 0, fn: (context) => of(context).bytes },
      ],
      { rewardRange: [LEAST_LOGPROB, 0] },
    );
    const environment = new LikelihoodEnv<ScoredText>({
      evalDataset: this.rows((text) => ({ prompt: [{ role: "text", content: text }] }), options),
      rubric,
      texts: (state) => [promptText(state)],
      read: ([score]) => scoredText(theOne(score)),
    });
    return ranAs(environment, options);
  }
}

/** Throws a `RangeError` for a text that has no token to score: it has no perplexity. */
function scored(text: ScoredText): ScoredText {
  if (text.count === 0) throw new RangeError("the text has one token, and nothing before it: there is nothing to score");
  return text;
}
