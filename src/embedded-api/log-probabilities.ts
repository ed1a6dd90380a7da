import type { EmbeddedModel } from "../embedded-model/model.ts";
import { END_OF_TEXT } from "../embedded-model/vocabulary.ts";
import type { ScoredToken } from "./answers.ts";
import type { TextToken } from "./stop-sequences.ts";

/** How the end of text is written where it is one of the alternatives; as a token of a text it is nothing. */
const END_TEXT = "<|endoftext|>";

interface Ranked {
  readonly id: number;
  readonly token: string;
  readonly logprob: number;
}

/** The `count` most probable tokens of a place, the most probable first. */
function ranked({ vocabulary }: EmbeddedModel, logProbabilities: Float64Array, count: number): readonly Ranked[] {
  return Array.from(logProbabilities, (logprob, id) => ({ id, logprob }))
    .sort((a, b) => b.logprob - a.logprob || a.id - b.id)
    .slice(0, count)
    .map(({ id, logprob }) => ({ id, logprob, token: id === END_OF_TEXT ? END_TEXT : vocabulary.text(id) }));
}

const logprobOf = ({ id, logProbabilities }: ScoredToken): number | null => logProbabilities?.[id] ?? null;

const encoder = new TextEncoder();

/** One entry of `logprobs.content` of the chat route. */
export function chatLogprob(model: EmbeddedModel, token: ScoredToken, top: number): object {
  const alternatives = token.logProbabilities === null ? [] : ranked(model, token.logProbabilities, top);
  return {
    token: token.text,
    logprob: logprobOf(token),
    bytes: [...encoder.encode(token.text)],
    top_logprobs: alternatives.map(({ id, token: text, logprob }) => ({ token: text, logprob, bytes: id === END_OF_TEXT ? null : [...encoder.encode(text)] })),
  };
}

/** `logprobs` of the completions route: four lists with one entry per token. */
export interface CompletionLogprobs {
  readonly tokens: readonly string[];
  readonly token_logprobs: readonly (number | null)[];
  /** The most probable tokens and the token itself; null where there is nothing to compare. */
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
  /** Where each token begins, in characters from the beginning of the prompt. */
  readonly text_offset: readonly number[];
}

/** `offset`: where the first of the tokens begins. */
export function completionLogprobs(model: EmbeddedModel, tokens: readonly ScoredToken[], top: number, offset: number): CompletionLogprobs {
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(logprobOf),
    top_logprobs: tokens.map((token) => {
      const own = logprobOf(token);
      if (token.logProbabilities === null || own === null) return null;
      const best = ranked(model, token.logProbabilities, top).map(({ token: text, logprob }) => [text, logprob] as const);
      return Object.fromEntries([...best, [token.text, own] as const]);
    }),
    text_offset: offsetsOf(tokens, offset),
  };
}

/** In characters: Unicode code points. */
export const lengthOf = (text: string): number => Array.from(text).length;

function offsetsOf(tokens: readonly TextToken[], first: number): readonly number[] {
  let next = first;
  return tokens.map(({ text }) => {
    const offset = next;
    next += lengthOf(text);
    return offset;
  });
}
