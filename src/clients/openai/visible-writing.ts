import type { JsonObject } from "../../config/plan/run-config.ts";
import type { ModelRequest } from "../../rollouts/types.ts";
import { RequestFailed } from "../transport/request-failure.ts";

/** Arguments whose answers differ by more than their pieces, or are held to a lower limit in pieces. */
const WHOLE_ONLY = ["stream", "logprobs", "top_logprobs", "modalities", "audio", "response_format"] as const;

/** Whether answers may be asked for in pieces for no other reason than to see that the model writes; one object per client. */
export class VisibleWriting {
  #refused = false;

  /** Where the request says nothing of it, and its answer is a text: how tools are called in pieces, servers do not agree on. */
  mayShow({ visibly = false, tools, sampling_args }: Pick<ModelRequest, "visibly" | "tools" | "sampling_args">): boolean {
    if (!visibly || this.#refused || tools.length > 0) return false;
    const extra = (sampling_args.extra_body ?? {}) as JsonObject;
    return !WHOLE_ONLY.some((name) => isGiven(sampling_args[name]) || isGiven(extra[name]));
  }

  /** Whether the server has refused just that. It is asked for whole answers from then on. */
  isRefused(thrown: unknown): boolean {
    if (!(thrown instanceof RequestFailed) || thrown.failure.code !== "bad_request" || !/stream/i.test(thrown.failure.message)) return false;
    this.#refused = true;
    return true;
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
