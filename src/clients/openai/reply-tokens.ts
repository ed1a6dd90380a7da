import type { ResponseTokens, TokenLogprobs } from "../../rollouts/types.ts";
import { type Fields, record, records, text } from "./reply-fields.ts";

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.every((item) => typeof item === "number");

/** Log-probabilities in the chat form, `{content: [{token, logprob}]}`, or the completions form, `{tokens, token_logprobs}`. */
export function readLogprobs(raw: unknown): TokenLogprobs | null {
  const { content, tokens, token_logprobs } = record(raw) ?? {};
  if (Array.isArray(content)) {
    const entries = records(content);
    return entries.length === 0
      ? null
      : { tokens: entries.map(({ token }) => text(token)), token_logprobs: entries.map(({ logprob }) => numberOrNull(logprob)) };
  }
  if (!Array.isArray(tokens) || !Array.isArray(token_logprobs) || tokens.length !== token_logprobs.length) return null;
  return { tokens: tokens.map(text), token_logprobs: token_logprobs.map(numberOrNull) };
}

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/**
 * Present only when the server gives the prompt's ids, the completion's, and log-probabilities (vLLM's `return_token_ids` with
 * `logprobs`). The completions route has the prompt's ids in the choice, and an echoed prompt at the front of both lists.
 */
export function readTokens(reply: Fields, choice: Fields, logprobs: TokenLogprobs | null): ResponseTokens | null {
  const prompt_ids = reply.prompt_token_ids ?? choice.prompt_token_ids;
  const given = choice.token_ids;
  if (!isNumbers(prompt_ids) || !isNumbers(given) || logprobs === null) return null;
  const echoed = Math.max(0, logprobs.token_logprobs.length - given.length);
  return {
    prompt_ids,
    prompt_mask: prompt_ids.map(() => 0),
    completion_ids: given,
    completion_mask: given.map(() => 1),
    completion_logprobs: logprobs.token_logprobs.slice(echoed).map((value) => value ?? 0),
  };
}
