import type { Finish, ScoredToken, Usage } from "./answers.ts";

/** A choice with everything that was made for it. */
export interface WholeChoice {
  readonly tokens: readonly ScoredToken[];
  readonly finish: Finish;
}

/** How a route words its answer. */
export interface AnswerShape {
  /** The body of an answer that is not streamed. */
  whole(choices: readonly WholeChoice[], usage: Usage): object;
  /** Frames of a stream: before a choice's first token (null: none), for each token, at its end, and with the usage after all of them. */
  readonly begin: ((choice: number) => object) | null;
  token(choice: number, token: ScoredToken): object;
  end(choice: number, finish: Finish): object;
  usage(usage: Usage): object;
}

/** The usage object with the details that clients read; nothing is cached, nothing is thought. */
export const usageObject = (usage: Usage): object => ({
  ...usage,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
});

export const textOf = (tokens: readonly ScoredToken[]): string => tokens.map(({ text }) => text).join("");

/** What every object of one answer carries. */
export interface AnswerHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}
