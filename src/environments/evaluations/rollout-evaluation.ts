import { contentText } from "../../rollouts/messages.ts";
import type { Message } from "../../rollouts/types.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import type { Environment } from "../kinds/environment.ts";
import { Evaluation, type EvaluationOptions, onlyScore, ranAs } from "./evaluation.ts";
import { GeneratedEnv } from "./generated-env.ts";

export interface RolloutEvaluationOptions extends EvaluationOptions {
  /** Default 0: greedy. */
  readonly temperature?: number;
  /** Default 1. */
  readonly topP?: number;
}

/**
 * Evaluation by generation. A sample is a prompt and what is expected; it is scored by what the model writes after the prompt. Several answers to each prompt are rollouts of
 * one example (`-r`), next to each other in the results: p0s0, p0s1, …, p1s0.
 */
export abstract class RolloutEvaluation extends Evaluation<readonly [prompt: string, expected: string]> {
  /** What is compared of what the model wrote. */
  abstract clean(yHat: string): string;

  /** Whether the cleaned output is what is expected. */
  abstract check(y: string, yHat: string): boolean;

  /** Tokens an answer may have. Subclasses must say it: the room of a prompt is what is left of the model's context. */
  maxNewTokens(): number {
    throw new TypeError(`evaluation ${this.name} has no maxNewTokens: say how many tokens an answer may have`);
  }

  /** A score for each sample: 1 or 0 by `check`. Called with one sample at a time. */
  score(ys: readonly string[], yHats: readonly string[]): number[] {
    return ys.map((y, i) => (this.check(y, yHats[i] ?? "") ? 1 : 0));
  }

  override environment(options: RolloutEvaluationOptions = {}): Environment {
    const { temperature = 0, topP = 1 } = options;
    const written = (completion: readonly Message[]): string => completion.map(({ content }) => contentText(content)).join("");
    const rubric = new Rubric([
      { name: "correct", fn: ({ completion, answer }) => onlyScore(this.score([String(answer)], [this.clean(written(completion))])) },
    ]);
    const evalDataset = this.rows(([prompt, answer]) => ({ prompt: [{ role: "text", content: prompt }], answer }), options);
    return ranAs(new GeneratedEnv({ evalDataset, rubric, samplingArgs: { temperature, top_p: topP, max_tokens: this.maxNewTokens() } }), options);
  }
}
