import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelResponse, Tool } from "../../rollouts/types.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { type Attempt, BaseClient, type NativeCall, type NativeRequest } from "../base-client.ts";
import { type ChatPrompt, wireMessages, wireTool } from "../openai/chat-request.ts";
import { checkChatCompletion, readChatCompletion } from "../openai/chat-response.ts";
import type { AiBinding, ClientPorts, Endpoint } from "../client.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { readAnswer } from "../transport/read-answer.ts";
import { bodyText, failureOfNetwork, failureOfStatus, type ProviderCodes, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";
import { stateHeaders } from "../transport/state-headers.ts";
import { asChatCompletion, WorkersAiStream } from "./workers-ai-reply.ts";

/** Codes of https://developers.cloudflare.com/workers-ai/platform/errors/ that say more than their status. */
const CODES: ProviderCodes = {
  5007: "model_not_found",
  3042: "model_not_found",
  // The account's daily allocation is used up: no further call of the run is served.
  3036: "insufficient_quota",
};

/** Lower-cased parts of the refusals that mean that a prompt does not fit. */
const OVERLONG = ["context window", "context length"];

/** Cloudflare's own models through a Worker's `AI` binding: no address and no key, so only where the Worker has one. */
export class WorkersAIClient extends BaseClient<AiBinding, ChatPrompt, JsonObject, unknown> {
  readonly type = "workers_ai";

  protected override setupClient(_endpoint: Endpoint, { ai }: ClientPorts): AiBinding {
    if (ai === undefined)
      throw new EdgewiseError("invalid_request", "this service has no AI binding, which the client type workers_ai calls its models by", {
        hint: NO_BINDING_HINT,
      });
    return ai;
  }

  override toNativePrompt(messages: readonly Message[]): ChatPrompt {
    const { messages: wired, audio } = wireMessages(messages);
    // Its schemas know no null.
    return { messages: wired.map((message) => Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))), audio };
  }

  override toNativeTool(tool: Tool): JsonObject {
    return wireTool(tool);
  }

  override toNativeBody({ prompt, tools, sampling_args }: NativeCall<ChatPrompt, JsonObject>): JsonObject {
    const { extra_body, ...sampling } = sampling_args;
    return { messages: prompt.messages, ...(tools.length > 0 ? { tools: [...tools] } : {}), ...sampling, ...(extra_body as JsonObject | undefined) };
  }

  override async getNativeResponse({ model, body }: NativeRequest, attempt: Attempt): Promise<unknown> {
    const answer = await readAnswer(await this.#run(model, body, attempt), {
      streamed: body.stream === true,
      scrub: this.scrub,
      streamFold: () => new WorkersAiStream((error) => this.errorOfRefusal({ status: 500, body: { error }, headers: new Headers() })),
      errorOfRefusal: (refusal) => this.errorOfRefusal(refusal),
      onAnswer: attempt.onAnswer,
    });
    return asChatCompletion(answer, model, this.ports.now());
  }

  async #run(model: string, body: JsonObject, { state, signal }: Attempt): Promise<Response> {
    const { connections } = this.ports;
    const extraHeaders = { ...this.endpoint.headers, ...stateHeaders(this.endpoint.headers_from_state, state) };
    if (connections !== undefined) await connections.enter(signal);
    try {
      return await this.native.run(model, body, { returnRawResponse: true, extraHeaders, signal });
    } catch (thrown) {
      throw new RequestFailed(failureOfNetwork(thrown, false, this.scrub));
    } finally {
      connections?.leave();
    }
  }

  override raiseFromNativeResponse(response: unknown): void {
    checkChatCompletion(response);
  }

  override fromNativeResponse(response: unknown): ModelResponse {
    return readChatCompletion(response);
  }

  override errorOfRefusal(answer: StatusAnswer): Error {
    const said = bodyText(answer.body).toLowerCase();
    const overlong = answer.status === 413 || (answer.status === 400 && OVERLONG.some((phrase) => said.includes(phrase)));
    return overlong ? new OverlongPromptError(this.scrub(said)) : new RequestFailed(failureOfStatus(answer, CODES, this.scrub, this.ports.now()));
  }
}

/** What to do where there is no binding. */
export const NO_BINDING_HINT =
  'deploy with `[ai] binding = "AI"` in wrangler.toml; the local service has none, and reaches these models over HTTP only: -b https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1 with a key';
