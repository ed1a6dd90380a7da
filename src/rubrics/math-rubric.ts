import { MaybeThinkParser } from "../parsers/think-parser.ts";
import { extractBoxedAnswer } from "../parsers/extract.ts";
import { sameAnswer } from "./math/same-answer.ts";
import type { RewardContext, RewardEntry } from "./reward-function.ts";
import { Rubric, type RubricOptions } from "./rubric.ts";

export interface MathRubricOptions<Objects extends object = object> extends RubricOptions<Objects> {
  /** Characters of an answer; a longer one is a scorer error. Default 50,000. */
  readonly maxVerifyChars?: number;
  /** Work of one comparison (`Budget`); more is a scorer error. The default, 100,000, takes tens of milliseconds at worst. */
  readonly maxVerifySteps?: number;
}

/** Finds what stands in the last `\boxed{…}` behind the thinking; the empty text without one. */
export const boxedAnswerParser = (): MaybeThinkParser => new MaybeThinkParser((text) => extractBoxedAnswer(text, { strict: true }));

/**
 * Rewards a response that equals the expected answer as mathematics: the function `correct_answer`, of weight 1, after the
 * given ones. The response is what stands in the last `\boxed{…}` behind the thinking; without one it is worth 0. A comparison beyond
 * its bounds is a scorer error, where verifiers counts 0.
 */
export class MathRubric<Objects extends object = object> extends Rubric<Objects> {
  constructor(functions: readonly RewardEntry<Objects>[] = [], options: MathRubricOptions<Objects> = {}) {
    const { maxVerifyChars = 50_000, maxVerifySteps = 100_000, ...rest } = options;
    super(functions, { ...rest, parser: options.parser ?? boxedAnswerParser() });
    const limits = { maxChars: maxVerifyChars, maxSteps: maxVerifySteps };
    const correct = ({ parser, completion, answer }: RewardContext): boolean => {
      const response = parser.parseAnswer(completion) ?? "";
      return response.trim() !== "" && sameAnswer(typeof answer === "string" ? answer : JSON.stringify(answer), response, limits);
    };
    this.addRewardFunc({ name: "correct_answer", fn: correct });
  }
}
