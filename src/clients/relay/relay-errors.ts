import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import type { RelayRoute } from "../../rollouts/types.ts";
import { anthropicError, errorEvent } from "../anthropic/anthropic-errors.ts";
import { errorInAnswer, openAiError } from "../openai/openai-sdk.ts";
import type { Fields } from "../openai/reply-fields.ts";
import { bodyText, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";

/** Where a relayed request went. */
export interface RelayPlace {
  readonly route: RelayRoute;
  /** Whether the endpoint is asked by this route in any case: then what it refuses there it refuses for good. */
  readonly isOwn: boolean;
  readonly scrub: (text: string) => string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What a refusal stands for: `RequestFailed`, or `OverlongPromptError`. A server without the route has said nothing of the model, or of the key. */
export function relayError(answer: StatusAnswer, { route, isOwn, scrub, now }: RelayPlace): Error {
  const error = route === "messages" ? anthropicError(answer, scrub, now()) : openAiError(answer, scrub, now());
  if (isOwn || !(error instanceof RequestFailed) || !ROLLOUT_ERRORS[error.failure.code].fatal) return error;
  const { failure } = error;
  const isRoute = route === "embeddings" || (failure.code === "model_not_found" && !/model/i.test(bodyText(answer.body)));
  if (!isRoute) return error;
  return new RequestFailed({ ...failure, code: "bad_request", message: `the endpoint does not serve the route ${route}: ${failure.message}` });
}

/** The refusal that an error in the place of an answer, or within one, would have been. */
export const refusalInAnswer = (error: Fields, route: RelayRoute): StatusAnswer => (route === "messages" ? errorEvent(error) : errorInAnswer(error));
