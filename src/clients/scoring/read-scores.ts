import type { PromptToken } from "../../rollouts/types.ts";
import { badAnswer, type RequestFailed } from "../transport/request-failure.ts";
import { placeTokens } from "./place-tokens.ts";

/** What a server said of one token, before it is believed. */
export interface SaidToken {
  readonly text: string;
  readonly logprob: unknown;
  readonly top?: PromptToken["top"];
  readonly id?: number;
}

/** Rounding may take a certain token a little above 0. */
const ROUNDING = 1e-3;

/**
 * The tokens of `text` of those that a server listed. `generated`: how many of the last it made; null = at most one. Throws
 * `RequestFailed` where they are not of the text, where any but the first has no log-probability, or one that none can be.
 */
export function readScore(text: string, said: readonly SaidToken[], generated: number | null): PromptToken[] {
  const spans = placeTokens(
    text,
    said.map((token) => token.text),
    generated,
  );
  if (spans === null) throw unusable(`the ${said.length} tokens of the answer do not make up the text that was sent`);
  return spans.map(({ offset, end }, at): PromptToken => {
    const { text: written, logprob, top, id } = said[at] as SaidToken;
    return { text: written, logprob: checked(logprob, at), offset, end, ...(top === undefined ? {} : { top }), ...(id === undefined ? {} : { id }) };
  });
}

function checked(logprob: unknown, at: number): number | null {
  if (at === 0) {
    if (logprob === null || logprob === undefined) return null;
    throw unusable("the first token of the text has a log-probability, though nothing stands before it: they are not those of the prompt");
  }
  if (isLogprob(logprob)) return Math.min(0, logprob);
  throw unusable(`token ${at + 1} of the text has the log-probability ${JSON.stringify(logprob) ?? "undefined"}, which is none`);
}

export const isLogprob = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value <= ROUNDING;

export const unusable = (message: string): RequestFailed => badAnswer("invalid_response", message);
