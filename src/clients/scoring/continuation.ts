import type { PromptScore, PromptToken } from "../../rollouts/types.ts";

/** What a text goes on with behind a prefix of it, as its tokens were scored. */
export interface Continuation {
  /** Those with a log-probability, in their order. */
  readonly tokens: readonly PromptToken[];
  /** The first one begins within the prefix: its log-probability is in part the prefix's. */
  readonly straddles: boolean;
  /** How many tokens have none: 1 where the first of the text is among them, before which the server put nothing; else 0. */
  readonly unscored: number;
  /** Sum of the negative log-probabilities, in nats. */
  readonly nll: number;
  /** Length of the continuation's text in UTF-8. */
  readonly bytes: number;
}

const encoder = new TextEncoder();

/**
 * The tokens of `score` behind its first `prefixLength` string units: from the first whose end lies beyond them, as the server's own
 * tokens say it and not a tokenisation of the prefix alone. Behind an empty prefix the first token of the text has a log-probability only where
 * the server begins with a beginning of text; where it does not, the text is scored from its second token on.
 */
export function continuationTokens({ text, tokens }: Pick<PromptScore, "text" | "tokens">, prefixLength: number): Continuation {
  if (!Number.isSafeInteger(prefixLength) || prefixLength < 0 || prefixLength > text.length)
    throw new RangeError(`the prefix has ${prefixLength} string units, and the text ${text.length}`);
  const first = tokens.findIndex(({ end }) => end > prefixLength);
  const own = first < 0 ? [] : tokens.slice(first);
  const scored = own.filter(({ logprob }) => logprob !== null);
  return {
    tokens: scored,
    straddles: (own[0]?.offset ?? prefixLength) < prefixLength,
    unscored: own.length - scored.length,
    nll: scored.reduce((sum, { logprob }) => sum - (logprob ?? 0), 0),
    bytes: encoder.encode(text.slice(prefixLength)).length,
  };
}
