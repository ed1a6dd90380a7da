import type { RolloutErrorCode } from "../errors/codes.ts";
import { EdgewiseError } from "../errors/result.ts";
import { scriptedRelay } from "./scripted-relay.ts";
import type { Client, ModelRequest, ModelResponse, PromptScore, ResponseMessage, TokenLogprobs } from "../rollouts/types.ts";

/** A tool call as a test writes it: arguments as an object. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Default `call-1`, `call-2`, … over the whole script. */
  readonly id?: string;
}

/** What a model answers: a text, a text with tool calls, an answer that was cut off, or a refusal with an error code. */
export type ScriptedAnswer =
  | string
  | {
      readonly content?: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly ScriptedToolCall[];
      readonly finish_reason?: ResponseMessage["finish_reason"];
      readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
      /** Of the answer's tokens, where the request asks for them (`logprobs`). */
      readonly logprobs?: TokenLogprobs;
    }
  | { readonly error: RolloutErrorCode; readonly message?: string };

/** Answers in order of the calls, or what decides on an answer by looking at the request. */
export type Script = readonly ScriptedAnswer[] | ((request: ModelRequest, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A token of a text: null where nothing stands before it, and the most probable token of its place where that matters. */
export type ScriptedToken = readonly [text: string, logprob: number | null, best?: string];

/** Tokens of a text, which make it up when they are put together. */
export type ScriptedScores = (text: string) => readonly ScriptedToken[];

export interface ScriptedModel extends Client {
  /** Every request so far, in order, as it was when it was made. */
  readonly requests: readonly ModelRequest[];
}

/** A model that says what a test wants. A list that is used up ends the rollout with an error that says so. */
export function scriptedModel(script: Script, scores?: ScriptedScores): ScriptedModel {
  const requests: ModelRequest[] = [];
  let toolCalls = 0;
  const getResponse = async (request: ModelRequest): Promise<ModelResponse> => {
    const call = requests.push({ ...request, prompt: structuredClone(request.prompt) }) - 1;
    request.onBegin?.();
    const answer = typeof script === "function" ? await script(request, call) : script[call];
    if (answer === undefined) throw new Error(`the scripted model was asked ${call + 1} times and has ${script.length} answers`);
    if (typeof answer === "object" && "error" in answer) throw new EdgewiseError(answer.error, answer.message ?? `scripted ${answer.error}`);
    return response(request, call, typeof answer === "string" ? { content: answer } : answer, () => `call-${++toolCalls}`);
  };
  return {
    type: "scripted",
    requests,
    getResponse,
    relay: scriptedRelay(getResponse),
    ...(scores === undefined
      ? {}
      : {
          async score({ texts, onBegin }) {
            onBegin?.();
            return texts.map((text) => scoreOf(text, scores(text)));
          },
        }),
  };
}

function scoreOf(text: string, scripted: readonly ScriptedToken[]): PromptScore {
  let end = 0;
  const tokens = scripted.map(([token, logprob, best]) => {
    const offset = end;
    end += token.length;
    return { text: token, logprob, offset, end, ...(best === undefined ? {} : { top: [{ text: best, logprob: logprob ?? 0 }] }) };
  });
  const usage = { prompt_tokens: tokens.length, reasoning_tokens: 0, completion_tokens: 1, total_tokens: tokens.length + 1 };
  return { text, tokens, usage, route: "echo" };
}

function response(
  request: ModelRequest,
  call: number,
  answer: Exclude<ScriptedAnswer, string | { error: RolloutErrorCode }>,
  nextId: () => string,
): ModelResponse {
  const { content = null, reasoning_content, tool_calls, usage = { prompt_tokens: 10, completion_tokens: 5 }, logprobs } = answer;
  const asked = request.sampling_args.logprobs ?? false;
  const finish_reason = answer.finish_reason ?? (tool_calls === undefined ? "stop" : "tool_calls");
  return {
    id: `scripted-${call}`,
    created: 0,
    model: request.model,
    usage: { ...usage, reasoning_tokens: 0, total_tokens: usage.prompt_tokens + usage.completion_tokens },
    message: {
      role: "assistant",
      content,
      ...(reasoning_content === undefined ? {} : { reasoning_content }),
      ...(tool_calls === undefined
        ? {}
        : { tool_calls: tool_calls.map(({ name, arguments: args, id = nextId() }) => ({ id, name, arguments: JSON.stringify(args) })) }),
      finish_reason,
      is_truncated: finish_reason === "length",
      tokens: null,
    },
    ...(logprobs === undefined || asked === false ? {} : { logprobs }),
  };
}
