import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelResponse, Tool } from "../../rollouts/types.ts";
import type { NativeCall } from "../base-client.ts";
import { usageInStream } from "./chat-request.ts";
import { onlyChoice, readFinish } from "./chat-response.ts";
import { CompletionStream } from "./completion-stream.ts";
import { OpenAIClient } from "./openai-client.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { errorInAnswer } from "./openai-sdk.ts";
import { readHead, readUsage, record } from "./reply-fields.ts";
import { readLogprobs, readTokens } from "./reply-tokens.ts";
import { badAnswer } from "../transport/request-failure.ts";

/**
 * Any server with OpenAI's completions route, for base models: the prompt is a text, the answer its continuation. With
 * `logprobs` in the sampling arguments the response has `logprobs`; with `echo` too they begin with those of the prompt.
 */
export class OpenAICompletionsClient extends OpenAIClient<string, never> {
  readonly type = "openai_completions";
  protected readonly path = "/completions";

  override toNativePrompt(messages: readonly Message[]): string {
    return messages.map(textOf).join("\n\n");
  }

  override toNativeTool({ name }: Tool): never {
    throw new TypeError(`the completions route has no tools, and the environment has ${name}`);
  }

  override toNativeBody({ model, prompt, sampling_args }: NativeCall<string, never>): JsonObject {
    const { extra_body, ...sampling } = sampling_args;
    const body: JsonObject = { model, prompt, n: 1, ...sampling, ...(extra_body as JsonObject | undefined) };
    return body.stream === true ? { ...body, ...usageInStream(body) } : body;
  }

  override raiseFromNativeResponse(response: unknown): void {
    const reply = record(response);
    const error = record(reply?.error);
    if (error !== null && !Array.isArray(reply?.choices)) throw this.errorOfRefusal(errorInAnswer(error));
    const { choice } = onlyChoice(response);
    if (typeof choice.text !== "string" || choice.text === "") {
      throw badAnswer("empty_response", `the model returned no text (finish reason ${JSON.stringify(choice.finish_reason ?? null)})`);
    }
  }

  override fromNativeResponse(response: unknown): ModelResponse {
    const { reply, choice } = onlyChoice(response);
    const finish_reason = readFinish(choice.finish_reason);
    const logprobs = readLogprobs(choice.logprobs);
    return {
      ...readHead(reply),
      usage: readUsage(reply.usage),
      message: {
        role: "assistant",
        content: choice.text as string,
        finish_reason,
        is_truncated: finish_reason === "length",
        tokens: readTokens(reply, choice, logprobs),
      },
      ...(logprobs === null ? {} : { logprobs }),
    };
  }

  protected override streamFold(): StreamFold {
    return new CompletionStream((error) => this.errorOfRefusal(errorInAnswer(error)));
  }
}

/** Text parts are one text in pieces; anything else cannot be written into a text. */
function textOf({ role, content }: Message): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => partText(role, part as { type: string; text?: Json })).join(" ");
}

function partText(role: string, { type, text }: { type: string; text?: Json }): string {
  if (type === "text" && typeof text === "string") return text;
  throw new TypeError(`the completions route takes text only, and a ${role} message has a part of type ${type}`);
}
