import { RequestFailed } from "../../clients/transport/request-failure.ts";

/** What a rollout is told that no batch has answered. */
export const unanswered = (message: string): RequestFailed =>
  new RequestFailed({ code: "batch_unanswered", message, cause: null, retryAfterMs: null, shouldRetry: false });
