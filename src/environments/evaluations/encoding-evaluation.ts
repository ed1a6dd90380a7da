import { Rubric } from "../../rubrics/rubric.ts";
import type { Environment } from "../kinds/environment.ts";
import { Evaluation, type EvaluationOptions, onlyScore, ranAs } from "./evaluation.ts";
import { LikelihoodEnv, promptText, scoredOf, theOne } from "./likelihood-env.ts";
import { predictedText, type ScoredText, scoredText } from "./scored-text.ts";

type Prediction = ScoredText & { readonly predicted: string };

/**
 * Evaluation by next-token prediction. A sample is a text; the model's most probable token at each place, from the second token on, makes another text, of which there is one
 * verdict. Needs a server that gives the most probable tokens of a prompt's places.
 */
export abstract class EncodingEvaluation extends Evaluation<string> {
  /** What is compared of what the model predicts. */
  abstract clean(yHat: string): string;

  /** Whether the cleaned prediction is right for the text. */
  abstract check(x: string, yHat: string): boolean;

  /** A score for each sample: 1 or 0 by `check`. Called with one sample at a time. */
  score(xs: readonly string[], yHats: readonly string[]): number[] {
    return xs.map((x, i) => (this.check(x, yHats[i] ?? "") ? 1 : 0));
  }

  override environment(options: EvaluationOptions = {}): Environment {
    const rubric = new Rubric([
      { name: "correct", fn: ({ state }) => onlyScore(this.score([promptText(state)], [this.clean(scoredOf<Prediction>(state).predicted)])) },
    ]);
    const environment = new LikelihoodEnv<Prediction>({
      evalDataset: this.rows((text) => ({ prompt: [{ role: "text", content: text }] }), options),
      rubric,
      texts: (state) => [promptText(state)],
      top: 1,
      read: ([score]) => ({ ...scoredText(theOne(score)), predicted: predictedText(theOne(score)) }),
      said: ({ predicted }) => predicted,
    });
    return ranAs(environment, options);
  }
}
