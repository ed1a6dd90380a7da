import { continuationTokens } from "../../clients/scoring/continuation.ts";
import type { PromptScore, TokenLogprobs } from "../../rollouts/types.ts";

/** A text whose tokens a model gave log-probabilities, or the part of it that counts. Plain data: a rollout's state keeps it. */
export type ScoredText = {
  /** As the server writes them. */
  readonly tokens: readonly string[];
  /** Natural logarithms; null where nothing stands before a token. */
  readonly logprobs: readonly (number | null)[];
  /** 1 for tokens that count: those of the continuation that have a log-probability. */
  readonly mask: readonly (0 | 1)[];
  /** Of the tokens that count: their sum of negative log-probabilities, how many they are, and the bytes of their text in UTF-8. */
  readonly nll: number;
  readonly count: number;
  readonly bytes: number;
  /** A token that counts begins in the prefix. */
  readonly straddles: boolean;
};

const encoder = new TextEncoder();

/** `score` behind its first `prefixLength` string units. Where the server has nothing before the text, its first token does not count. */
export function scoredText(score: PromptScore, prefixLength = 0): ScoredText {
  const { tokens: counted, nll, straddles, unscored, bytes } = continuationTokens(score, prefixLength);
  const counts = new Set(counted);
  return {
    tokens: score.tokens.map(({ text }) => text),
    logprobs: score.tokens.map(({ logprob }) => logprob),
    mask: score.tokens.map((token) => (counts.has(token) ? 1 : 0)),
    nll,
    count: counted.length,
    bytes: unscored === 0 ? bytes : encoder.encode(score.text.slice(counted[0]?.offset ?? score.text.length)).byteLength,
    straddles,
  };
}

/** An answer of a model: all its tokens count that have a log-probability. */
export function writtenText({ tokens, token_logprobs }: TokenLogprobs): ScoredText {
  const given = token_logprobs.filter((logprob) => logprob !== null);
  return {
    tokens,
    logprobs: token_logprobs,
    mask: token_logprobs.map((logprob) => (logprob === null ? 0 : 1)),
    nll: -given.reduce((sum, logprob) => sum + logprob, 0),
    count: given.length,
    bytes: encoder.encode(tokens.filter((_, at) => token_logprobs[at] !== null).join("")).byteLength,
    straddles: false,
  };
}

/** What the model would have put at each place that has a log-probability, as one text. Throws a `RangeError` where the server did not say it. */
export function predictedText({ tokens }: PromptScore): string {
  return tokens
    .filter(({ logprob }) => logprob !== null)
    .map(({ top }, place) => {
      const [best] = top ?? [];
      if (best === undefined) throw new RangeError(`the server gave no most probable token at place ${place}`);
      return best.text;
    })
    .join("");
}
