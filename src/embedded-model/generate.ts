import type { Session } from "./model.ts";
import { draw, logSoftmax, type SamplingOptions, samplingDistribution, type SeededRandom } from "./sampling.ts";
import { END_OF_TEXT } from "./vocabulary.ts";

export interface GenerateOptions extends SamplingOptions {
  readonly random: SeededRandom;
  /** The most tokens to make; the caller sees to it that they fit into the context. */
  readonly maxTokens: number;
  /** Until so many are made the end of text is not drawn; default 0. */
  readonly minTokens?: number;
}

export interface GeneratedToken {
  readonly id: number;
  /** Natural log-probabilities of every token at this place, of the model itself: before temperature and top-p. */
  readonly logProbabilities: Float64Array;
}

/**
 * Continues a session token by token, from the logits of its last token. Ends after the end-of-text token, which is not yielded
 * (`stop`), or when `maxTokens` are made (`length`).
 */
export function* generate(
  session: Session,
  logits: Float64Array,
  { random, maxTokens, minTokens = 0, ...sampling }: GenerateOptions,
): Generator<GeneratedToken, "stop" | "length"> {
  let next = logits;
  for (let made = 0; made < maxTokens; made++) {
    // One number per token, at temperature 0 too, so that what a seed gives does not depend on the code's shortcuts.
    const id = draw(samplingDistribution(made < minTokens ? withoutEnd(next) : next, sampling), random.next());
    if (id === END_OF_TEXT) return "stop";
    yield { id, logProbabilities: logSoftmax(next) };
    if (made + 1 < maxTokens) next = session.step(id);
  }
  return "length";
}

const withoutEnd = (logits: Float64Array): Float64Array => logits.map((logit, id) => (id === END_OF_TEXT ? Number.NEGATIVE_INFINITY : logit));
