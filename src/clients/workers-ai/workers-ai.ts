import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelResponse, RelayReply, RelayRequest, Tool } from "../../rollouts/types.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { type Attempt, BaseClient, type NativeCall, type NativeRequest } from "../base-client.ts";
import { type ChatPrompt, wireMessages, wireTool } from "../openai/chat-request.ts";
import { checkChatCompletion, readChatCompletion } from "../openai/chat-response.ts";
import type { AiBinding, ClientPorts, Endpoint } from "../client.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { readAnswer } from "../transport/read-answer.ts";
import { record } from "../openai/reply-fields.ts";
import { saying } from "../relay/read-reply.ts";
import { chatReply, refusedChat } from "./chat-reply.ts";
import { badAnswer, bodyText, failureOfNetwork, failureOfStatus, type ProviderCodes, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";
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
    return { messages: withoutNulls(wired) as JsonObject[], audio };
  }

  override toNativeTool(tool: Tool): JsonObject {
    return wireTool(tool);
  }

  override toNativeBody({ prompt, tools, sampling_args }: NativeCall<ChatPrompt, JsonObject>): JsonObject {
    const { extra_body, ...sampling } = sampling_args;
    return { messages: prompt.messages, ...(tools.length > 0 ? { tools: [...tools] } : {}), ...sampling, ...(extra_body as JsonObject | undefined) };
  }

  override async getNativeResponse({ model, body }: NativeRequest, attempt: Attempt): Promise<unknown> {
    return await this.#ask(model, body, attempt, (refusal) => this.errorOfRefusal(refusal));
  }

  async #ask(model: string, body: JsonObject, attempt: Attempt, errorOfRefusal: (refusal: StatusAnswer) => Error): Promise<unknown> {
    const answer = await readAnswer(await this.#run(model, body, attempt), {
      streamed: body.stream === true,
      scrub: this.scrub,
      streamFold: () => new WorkersAiStream((error) => errorOfRefusal({ status: 500, body: { error }, headers: new Headers() })),
      errorOfRefusal,
      onAnswer: attempt.onAnswer,
    });
    return asChatCompletion(answer, model, this.ports.now());
  }

  async #run(model: string, body: JsonObject, { state, signal, watch }: Attempt): Promise<Response> {
    const { connections } = this.ports;
    const extraHeaders = { ...this.endpoint.headers, ...stateHeaders(this.endpoint.headers_from_state, state) };
    if (connections !== undefined) await connections.enter(signal);
    try {
      watch?.sends();
      const response = await this.native.run(model, body, { returnRawResponse: true, extraHeaders, signal });
      watch?.answered(response);
      return response;
    } catch (thrown) {
      throw new RequestFailed(failureOfNetwork(thrown, false, this.scrub));
    } finally {
      connections?.leave();
    }
  }

  async relay(request: RelayRequest): Promise<RelayReply> {
    const { route, body, model } = request;
    return await this.passedOn(request, async (_text, attempt) => {
      if (route !== "chat/completions") throw badAnswer("bad_request", `the models of the AI binding have no route ${route}: ask them by chat/completions`);
      const { model: _model, stream, stream_options, messages, ...rest } = body;
      const native = { ...rest, messages: withoutNulls(messages) };
      const answer = await this.#ask(model, native, attempt, (refusal) => {
        const error = this.errorOfRefusal(refusal);
        return saying(error, refusedChat(this.blot(bodyText(refusal.body)), refusal.status, error));
      });
      this.raiseFromNativeResponse(answer);
      return { reply: chatReply(answer, { model, now: this.ports.now(), streamed: stream === true }), answer };
    });
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

/** Its schemas know no null. */
const withoutNulls = (messages: Json | undefined): Json =>
  Array.isArray(messages)
    ? messages.map((message) =>
        record(message) === null ? message : (Object.fromEntries(Object.entries(message as JsonObject).filter(([, value]) => value !== null)) as Json),
      )
    : (messages ?? null);

/** What to do where there is no binding. */
export const NO_BINDING_HINT =
  'deploy with `[ai] binding = "AI"` in wrangler.toml; the local service has none, and reaches these models over HTTP only: -b https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1 with a key';
