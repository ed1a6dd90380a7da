import { EdgewiseError } from "../../errors/result.ts";
import { loggerOf } from "../../logging/logger.ts";
import type { Message, ModelResponse, State } from "../../rollouts/types.ts";
import type { ModelCallOptions } from "../kinds/model-call.ts";
import { SingleTurnEnv } from "../kinds/single-turn-env.ts";
import { SCORED } from "./likelihood-env.ts";
import { writtenText } from "./scored-text.ts";

const log = loggerOf("evaluation");

/** Some servers refuse what they cannot give as an error of their own. */
const REFUSALS: readonly unknown[] = ["bad_request", "provider_error"];
const isAboutLogprobs = (error: unknown): error is EdgewiseError =>
  error instanceof EdgewiseError && REFUSALS.includes(error.code) && /logprobs/i.test(error.message);

/**
 * One answer to each prompt. Where the sampling arguments ask for the log-probabilities of its tokens (`logprobs`) and the server gives them, the rollout keeps them as
 * `state.scored`. They are no part of the score: a server that refuses to give them is asked without.
 */
export class GeneratedEnv extends SingleTurnEnv {
  #refused = false;

  override async getModelResponse(state: State, prompt: readonly Message[], options: ModelCallOptions = {}): Promise<ModelResponse> {
    const response = await this.#answer(state, prompt, options);
    if (response.logprobs !== undefined) state[SCORED] = writtenText(response.logprobs);
    return response;
  }

  async #answer(state: State, prompt: readonly Message[], options: ModelCallOptions): Promise<ModelResponse> {
    const { logprobs = null, top_logprobs: _more, ...plain } = options.samplingArgs ?? state.sampling_args;
    if (logprobs === null || logprobs === false) return await super.getModelResponse(state, prompt, options);
    if (!this.#refused) {
      try {
        return await super.getModelResponse(state, prompt, options);
      } catch (error) {
        if (!isAboutLogprobs(error)) throw error;
        log.warning("the server refuses to give log-probabilities: answers are asked for without them", { reason: error.message });
        this.#refused = true;
      }
    }
    return await super.getModelResponse(state, prompt, { ...options, samplingArgs: plain });
  }
}
