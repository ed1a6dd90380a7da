import { DEFAULT_TEXTS_PER_REQUEST } from "../../clients/scoring/scorer.ts";
import { scoreTexts } from "../../clients/scoring/score-texts.ts";
import { notInBatches } from "../hosted/not-in-batches.ts";
import { SingleTurnEnv, type SingleTurnOptions } from "../kinds/single-turn-env.ts";
import type { Failure } from "../../errors/result.ts";
import type { ModelCallOptions } from "../kinds/model-call.ts";
import type { Message, ModelResponse, PromptScore, State, Usage } from "../../rollouts/types.ts";
import { contentText } from "../../rollouts/messages.ts";
import { addUsage } from "../../rollouts/state/usage.ts";

/** What of an example is scored, and what becomes of it. */
export interface LikelihoodOptions<Read> extends SingleTurnOptions {
  /** Texts of an example, scored together. */
  readonly texts: (state: State) => readonly string[];
  /** Most probable tokens wanted of each place; default none. */
  readonly top?: number;
  /** What of the scores the rollout keeps, as `state.scored`: plain data. */
  readonly read: (scores: readonly PromptScore[], state: State) => Read;
  /** What the model chose, where it chose something: the completion of the row. */
  readonly said?: (scored: Read, state: State) => string;
}

/**
 * Samples open at once in a run that does not say (`chunk_size`). As many as its requests would leave each of them a text or two; texts of samples that are open
 * together share requests, and these are four full ones.
 */
const SAMPLES_AT_ONCE = 4 * DEFAULT_TEXTS_PER_REQUEST;

/** The state's key with what was read of the scores; a column of rows where a run asks for it (`-C scored`). */
export const SCORED = "scored";

/**
 * Nothing is generated: one call of a rollout asks for the log-probabilities of its texts. It is begun, paused, repeated, timed and ended as a call for an answer
 * is. What the server cannot give is an error of the run, and a text that is too long for the model one of its rollout.
 */
export class LikelihoodEnv<Read> extends SingleTurnEnv {
  readonly #options: LikelihoodOptions<Read>;

  constructor(options: LikelihoodOptions<Read>) {
    super(options);
    this.#options = options;
    this.concurrency ??= SAMPLES_AT_ONCE;
  }

  override async getModelResponse(state: State, _prompt: readonly Message[], options: ModelCallOptions = {}): Promise<ModelResponse> {
    const { texts, top, read, said } = this.#options;
    const model = options.model ?? state.model;
    const client = options.client ?? state.client;
    if (client === null) throw new Error("this state has no client to call a model with");
    const request = { texts: texts(state), model, ...(top === undefined ? {} : { top }), state, signal: this.signalOf(state) };
    const scores = await this.calling(state, (told) => scoreTexts(client, { ...request, ...told }));
    this.answerBegins(state);
    for (const { usage } of scores) state.usage = addUsage(state.usage, usage, options.client === undefined);
    const scored = read(scores, state);
    state[SCORED] = scored;
    return answerOf(model, said?.(scored, state) ?? "", scores);
  }

  override batchProblem(): Failure {
    return notInBatches(this.id, "scores texts by their likelihood");
  }

  override renderCompletion(state: State): Message[] {
    return this.#options.said === undefined ? [] : super.renderCompletion(state);
  }
}

/** The text of an example's prompt, without a system prompt. */
export const promptText = ({ prompt }: State): string => contentText(prompt.at(-1)?.content ?? "");

/** Throws a `RangeError` for none. */
export function theOne<Score>(score: Score | undefined): Score {
  if (score === undefined) throw new RangeError("the server gave no score of the text");
  return score;
}

/** What was read of the scores of a rollout. Throws a `RangeError` where there is nothing, as of a text that does not fit the model. */
export function scoredOf<Read>(state: State): Read {
  const scored = state[SCORED];
  if (scored !== undefined) return scored as Read;
  throw new RangeError(
    state.prompt_too_long
      ? "the text is longer than the model's context, so it has no likelihood; shorten it (a column of shorter texts)"
      : `the rollout has no likelihoods (${SCORED}); scoring it again needs a run that kept them (-C ${SCORED})`,
  );
}

function answerOf(model: string, content: string, scores: readonly PromptScore[]): ModelResponse {
  const used = scores.flatMap(({ usage }) => usage ?? []);
  const sum = (of: (usage: Usage) => number): number => used.reduce((total, usage) => total + of(usage), 0);
  return {
    id: "",
    created: 0,
    model,
    usage:
      used.length === 0
        ? null
        : {
            prompt_tokens: sum((usage) => usage.prompt_tokens),
            reasoning_tokens: 0,
            completion_tokens: sum((usage) => usage.completion_tokens),
            total_tokens: sum((usage) => usage.total_tokens),
          },
    message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null },
  };
}
