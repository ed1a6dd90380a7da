import type { ClientType, Json, JsonObject } from "../../../src/config/plan/run-config.ts";

/** What a model says, before it is put into the form of a provider. */
export interface Said {
  readonly text?: string;
  readonly thought?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly arguments: JsonObject };
  /** Cut off by the limit of tokens. */
  readonly cut?: boolean;
}

/** A provider's way of speaking: the same said by each of them must be the same to whoever listens. */
export interface Voice {
  readonly type: ClientType;
  /** Where requests go. */
  readonly path: string;
  /** The header that carries the key, and its value; null where there is none. */
  readonly key: readonly [string, string] | null;
  /** Path to `max_tokens` in a body. */
  readonly maxTokens: string;
  readonly tools: boolean;
  readonly thinks: boolean;
  whole(said: Said): JsonObject;
  /** Events of the same answer as a stream. */
  stream(said: Said): readonly JsonObject[];
  /** An error inside a stream. */
  readonly streamError: JsonObject | null;
  readonly done: boolean;
  refusal(status: number, message: string): JsonObject;
  readonly overlong: string;
}

const USAGE = { in: 10, out: 3 };
const openAiUsage = { prompt_tokens: USAGE.in, completion_tokens: USAGE.out, total_tokens: USAGE.in + USAGE.out };
const halves = (text: string): string[] => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))];
const openAiRefusal = (status: number, message: string): JsonObject => ({
  error: { message, type: "error", param: null, code: status === 429 ? "rate_limit_exceeded" : null },
});
const finishOf = ({ cut, call }: Said): string => (cut ? "length" : call ? "tool_calls" : "stop");

const chat: Voice = {
  type: "openai_chat_completions",
  path: "/v1/chat/completions",
  key: ["authorization", "Bearer sk-very-secret-1234"],
  maxTokens: "max_completion_tokens",
  tools: true,
  thinks: true,
  done: true,
  overlong: "This model's maximum context length is 10 tokens",
  refusal: openAiRefusal,
  streamError: { error: { message: "slow down", code: 429 } },
  whole: (said) => ({
    id: "r1",
    created: 5,
    model: "m",
    usage: openAiUsage,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: said.text ?? null,
          ...(said.thought ? { reasoning: said.thought } : {}),
          ...(said.call
            ? { tool_calls: [{ id: said.call.id, type: "function", function: { name: said.call.name, arguments: JSON.stringify(said.call.arguments) } }] }
            : {}),
        },
        finish_reason: finishOf(said),
      },
    ],
  }),
  stream: (said) => {
    const chunk = (delta: JsonObject, finish: Json = null): JsonObject => ({
      id: "r1",
      created: 5,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const { call } = said;
    const called =
      call === undefined
        ? []
        : [
            { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: "" } },
            ...halves(JSON.stringify(call.arguments)).map((part) => ({ index: 0, function: { arguments: part } })),
          ];
    return [
      chunk({ role: "assistant", content: "" }),
      ...halves(said.thought ?? "").map((reasoning) => chunk({ reasoning })),
      ...halves(said.text ?? "").map((content) => chunk({ content })),
      ...called.map((part) => chunk({ tool_calls: [part] })),
      chunk({}, finishOf(said)),
      { id: "r1", created: 5, model: "m", choices: [], usage: openAiUsage },
    ];
  },
};

const completions: Voice = {
  ...chat,
  type: "openai_completions",
  path: "/v1/completions",
  maxTokens: "max_tokens",
  tools: false,
  thinks: false,
  whole: (said) => ({ id: "r1", created: 5, model: "m", usage: openAiUsage, choices: [{ index: 0, text: said.text ?? "", finish_reason: finishOf(said) }] }),
  stream: (said) => [
    ...halves(said.text ?? "").map((text) => ({ id: "r1", created: 5, model: "m", choices: [{ index: 0, text, finish_reason: null }] })),
    { id: "r1", created: 5, model: "m", choices: [{ index: 0, text: "", finish_reason: finishOf(said) }], usage: openAiUsage },
  ],
};

const response = (said: Said): JsonObject => ({
  id: "r1",
  created_at: 5,
  model: "m",
  status: said.cut ? "incomplete" : "completed",
  incomplete_details: said.cut ? { reason: "max_output_tokens" } : null,
  error: null,
  usage: { input_tokens: USAGE.in, output_tokens: USAGE.out, total_tokens: USAGE.in + USAGE.out },
  output: [
    ...(said.thought ? [{ type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: said.thought }] }] : []),
    ...(said.text === undefined ? [] : [{ type: "message", role: "assistant", content: [{ type: "output_text", text: said.text, annotations: [] }] }]),
    ...(said.call ? [{ type: "function_call", id: "fc", call_id: said.call.id, name: said.call.name, arguments: JSON.stringify(said.call.arguments) }] : []),
  ],
});

const responses: Voice = {
  ...chat,
  type: "openai_responses",
  path: "/v1/responses",
  maxTokens: "max_output_tokens",
  done: false,
  streamError: { type: "error", code: "rate_limit_exceeded", message: "slow down" },
  whole: response,
  stream: (said) => [
    { type: "response.created", response: { id: "r1", status: "in_progress" } },
    ...halves(said.text ?? "").map((delta) => ({ type: "response.output_text.delta", delta })),
    { type: said.cut ? "response.incomplete" : "response.completed", response: response(said) },
  ],
};

const blocks = (said: Said): JsonObject[] => [
  ...(said.thought ? [{ type: "thinking", thinking: said.thought, signature: "sig" }] : []),
  ...(said.text === undefined ? [] : [{ type: "text", text: said.text }]),
  ...(said.call ? [{ type: "tool_use", id: said.call.id, name: said.call.name, input: said.call.arguments }] : []),
];
const stopOf = ({ cut, call }: Said): string => (cut ? "max_tokens" : call ? "tool_use" : "end_turn");

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const delta = (fields: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta: fields });
  const end = { type: "content_block_stop", index };
  const start = (content_block: JsonObject): JsonObject => ({ type: "content_block_start", index, content_block });
  if (block.type === "text") return [start({ type: "text", text: "" }), ...halves(String(block.text)).map((text) => delta({ type: "text_delta", text })), end];
  if (block.type === "thinking")
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      ...halves(String(block.thinking)).map((thinking) => delta({ type: "thinking_delta", thinking })),
      delta({ type: "signature_delta", signature: "sig" }),
      end,
    ];
  return [start({ ...block, input: {} }), ...halves(JSON.stringify(block.input)).map((partial_json) => delta({ type: "input_json_delta", partial_json })), end];
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const anthropic: Voice = {
  type: "anthropic_messages",
  path: "/v1/messages",
  key: ["x-api-key", "sk-very-secret-1234"],
  maxTokens: "max_tokens",
  tools: true,
  thinks: true,
  done: false,
  overlong: "prompt is too long: 200001 tokens > 200000 maximum",
  refusal: (status, message) => ({ type: "error", error: { type: TYPES[status] ?? "api_error", message } }),
  streamError: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  whole: (said) => ({
    id: "r1",
    type: "message",
    role: "assistant",
    model: "m",
    content: blocks(said),
    stop_reason: stopOf(said),
    usage: { input_tokens: USAGE.in, output_tokens: USAGE.out },
  }),
  stream: (said): JsonObject[] => [
    {
      type: "message_start",
      message: {
        id: "r1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: USAGE.in, output_tokens: 1 },
      },
    },
    { type: "ping" },
    ...blocks(said).flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason: stopOf(said), stop_sequence: null }, usage: { output_tokens: USAGE.out, input_tokens: null } },
    { type: "message_stop" },
  ],
};

const workersAi: Voice = {
  type: "workers_ai",
  path: "/run",
  key: null,
  maxTokens: "max_tokens",
  tools: true,
  thinks: false,
  done: true,
  overlong: "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8000).",
  refusal: (status, message) => ({ internalCode: status === 404 ? 3042 : 9999, description: message, name: "AiError" }),
  streamError: null,
  whole: (said) => ({
    response: said.text ?? null,
    ...(said.call ? { tool_calls: [{ id: said.call.id, name: said.call.name, arguments: said.call.arguments }] } : {}),
    usage: openAiUsage,
  }),
  stream: (said) => [...halves(said.text ?? "").map((part) => ({ response: part })), { response: "", usage: openAiUsage }],
};

/** A first turn goes the usual way. */
const tokens: Voice = { ...chat, type: "openai_chat_completions_token" };

export const VOICES: readonly Voice[] = [chat, completions, tokens, responses, anthropic, workersAi];

/** One event as it is written. */
export const eventText = (event: JsonObject): string => `${typeof event.type === "string" ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
