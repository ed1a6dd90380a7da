import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/clients/create-client.ts";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import type { ClientType, JsonObject } from "../../../src/config/plan/run-config.ts";
import type { Message, ModelRequest, ModelResponse } from "../../../src/rollouts/types.ts";
import { scriptedBinding } from "../../support/clients/client-plays.ts";
import { ask, json, type Play, refuses, scriptedEndpoint, type Seen, testClient } from "../../support/clients/scripted-endpoint.ts";

interface Exchange {
  readonly seen: Seen;
  readonly result: unknown;
  readonly response: ModelResponse;
  readonly warnings: readonly string[];
}

async function exchange(type: ClientType, reply: Play, request: Partial<ModelRequest> = {}, basePath = ""): Promise<Exchange> {
  await using server = await scriptedEndpoint(reply);
  const warnings: string[] = [];
  const url = basePath === "" ? server.url : server.url.replace("/v1", basePath);
  const ports = { ai: scriptedBinding(server.url), maxRequestRetries: 0, onWarning: (kind: string) => void warnings.push(kind) };
  const result: unknown = await testClient(url, { type, ports })
    .client.getResponse(ask(request))
    .catch((thrown: unknown) => thrown);
  const [seen = { path: "", headers: {}, body: {}, at: 0 }] = server.seen;
  return { seen, result, response: result as ModelResponse, warnings };
}

const IMAGE: Message = {
  role: "user",
  content: [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
  ],
};
const CALL: Message = { role: "assistant", content: "hm", tool_calls: [{ id: "c1", name: "add", arguments: '{"a":1}' }] };

describe("openai_completions", () => {
  const answer = (extra: JsonObject = {}): Play => json(200, { id: "c", created: 1, model: "m", choices: [{ text: " two", finish_reason: "stop", ...extra }] });

  it("sends the texts of the messages with a blank line between them, and max_tokens under its old name", async () => {
    const prompt: Message[] = [
      { role: "text", content: "One" },
      { role: "assistant", content: null },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
    ];
    const { seen, response } = await exchange("openai_completions", answer(), { prompt, sampling_args: { max_tokens: 8, echo: true, logprobs: 1 } });
    expect(seen.body).toEqual({ model: "m-1", prompt: "One\n\n\n\na b", n: 1, max_tokens: 8, echo: true, logprobs: 1 });
    expect(response.message).toMatchObject({ content: " two", finish_reason: "stop" });
  });

  it("refuses what is no text before it sends anything", async () => {
    const { result, seen } = await exchange("openai_completions", answer(), { prompt: [IMAGE] });
    expect(result).toMatchObject({ code: "bad_request", message: expect.stringContaining("image_url") });
    expect(seen.path).toBe("");
  });

  it("takes an empty text for no answer", async () => {
    expect((await exchange("openai_completions", answer({ text: "" }))).result).toMatchObject({ code: "empty_response" });
  });

  it("reads log-probabilities by token, the first of an echoed prompt null", async () => {
    const logprobs: JsonObject = { tokens: ["One", " two"], token_logprobs: [null, -0.5], text_offset: [0, 3], top_logprobs: null };
    expect((await exchange("openai_completions", answer({ logprobs }))).response.logprobs).toEqual({ tokens: ["One", " two"], token_logprobs: [null, -0.5] });
  });

  it("reads token ids where the server gives them, without an echoed prompt's log-probabilities", async () => {
    const logprobs: JsonObject = { tokens: ["One", " two"], token_logprobs: [null, -0.5] };
    const { response } = await exchange("openai_completions", answer({ logprobs, token_ids: [9], prompt_token_ids: [4, 5] }));
    expect(response.message.tokens).toEqual({
      prompt_ids: [4, 5],
      prompt_mask: [0, 0],
      completion_ids: [9],
      completion_mask: [1],
      completion_logprobs: [-0.5],
    });
  });
});

describe("anthropic_messages", () => {
  const message = (content: JsonObject[], extra: JsonObject = {}): Play =>
    json(200, { id: "m", model: "m", content, stop_reason: "end_turn", usage: { input_tokens: 4, output_tokens: 2 }, ...extra });
  const ok = message([{ type: "text", text: "ok" }]);

  it("has the system apart, pictures as blocks, and says what it cannot carry", async () => {
    const prompt: Message[] = [
      { role: "system", content: "Be brief." },
      {
        role: "system",
        content: [
          { type: "text", text: "And" },
          { type: "text", text: "kind." },
        ],
      },
      IMAGE,
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "https://x/y.png" } },
          { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
        ],
      },
      { role: "text", content: "raw" },
    ];
    const { seen } = await exchange("anthropic_messages", ok, { prompt });
    expect(seen.body).toMatchObject({
      system: "Be brief.\n\nAnd kind.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "text", text: "[image]" },
            { type: "text", text: "[audio]" },
          ],
        },
        { role: "user", content: "raw" },
      ],
    });
    expect((await exchange("anthropic_messages", ok)).seen.body.system).toBe("");
  });

  it("merges the answers of tools into one message, after the thoughts as they were signed", async () => {
    const thinking = { type: "thinking", thinking: "t", signature: "s" };
    const prompt: Message[] = [
      { role: "user", content: "q" },
      { ...CALL, thinking_blocks: [thinking], tool_calls: [...(CALL.tool_calls ?? []), { id: "c2", name: "add", arguments: "[not an object" }] },
      { role: "tool", tool_call_id: "c1", content: "1" },
      {
        role: "tool",
        tool_call_id: "c2",
        content: [
          { type: "text", text: "two" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
      { role: "assistant", content: "done", thinking_blocks: [{ type: "redacted_thinking", data: "d" }] },
    ];
    const { seen } = await exchange("anthropic_messages", ok, { prompt });
    expect(seen.body.messages).toEqual([
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: [
          thinking,
          { type: "text", text: "hm" },
          { type: "tool_use", id: "c1", name: "add", input: { a: 1 } },
          { type: "tool_use", id: "c2", name: "add", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "1" },
          { type: "tool_result", tool_use_id: "c2", content: "two [image]" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "redacted_thinking", data: "d" },
          { type: "text", text: "done" },
        ],
      },
    ]);
  });

  it("keeps signed and redacted thoughts for the next turn, and unsigned ones as text only", async () => {
    const blocks: JsonObject[] = [
      { type: "thinking", thinking: "a", signature: "s" },
      { type: "thinking", thinking: "b", signature: "" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "x" },
      { type: "text", text: "y" },
    ];
    const { response } = await exchange("anthropic_messages", message(blocks));
    expect(response.message).toMatchObject({ content: "xy", reasoning_content: "ab", thinking_blocks: [blocks[0], blocks[2]] });
  });

  it("names its version, which still lets a temperature be set, and speaks to a base URL with or without the version of the path", async () => {
    const { seen } = await exchange("anthropic_messages", ok, { sampling_args: { temperature: 0.5, max_tokens: 7, stop: ["END"] } });
    expect(seen.headers["anthropic-version"]).toBe("2023-06-01");
    expect(seen.headers.authorization).toBeUndefined();
    expect(seen.body).toMatchObject({ temperature: 0.5, max_tokens: 7, stop_sequences: ["END"] });
    expect(seen.body).not.toHaveProperty("stop");
    expect((await exchange("anthropic_messages", ok, {}, "/api")).seen.path).toBe("/api/v1/messages");
    expect((await exchange("anthropic_messages", ok, {}, "/api/v1")).seen.path).toBe("/api/v1/messages");
  });

  it("asks for 4096 tokens when nobody says how many, and tells so", async () => {
    const { seen, warnings } = await exchange("anthropic_messages", ok, {
      tools: [{ name: "add", description: "d", parameters: { type: "object" }, strict: true }],
    });
    expect([seen.body.max_tokens, warnings]).toEqual([4096, ["max_tokens_unset"]]);
    expect(seen.body.tools).toEqual([{ name: "add", description: "d", input_schema: { type: "object" } }]);
  });

  it("takes a refusal for an answer, and a block of an unknown type for none", async () => {
    expect((await exchange("anthropic_messages", message([], { stop_reason: "refusal" }))).response.message).toMatchObject({
      content: "",
      finish_reason: null,
    });
    expect((await exchange("anthropic_messages", message([{ type: "hologram" }]))).result).toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining("hologram"),
    });
  });

  it.each([
    [400, { type: "invalid_request_error", message: "Your credit balance is too low to access the API." }, "payment_required"],
    [400, { type: "invalid_request_error", message: "temperature: range" }, "bad_request"],
    [529, { type: "overloaded_error", message: "Overloaded" }, "provider_error"],
    [403, { type: "permission_error", message: "no" }, "auth_failed"],
  ])("a refusal with %i of %j is %s", async (status, error, code) => {
    expect((await exchange("anthropic_messages", refuses(status, error))).result).toMatchObject({ code });
  });

  it.each([
    [400, "input length and `max_tokens` exceed context limit: 1 + 2 > 3"],
    [413, "Request exceeds the maximum size"],
  ])("%i, %s: the prompt does not fit", async (status, text) => {
    expect((await exchange("anthropic_messages", refuses(status, { type: "request_too_large", message: text }))).result).toBeInstanceOf(OverlongPromptError);
  });
});

describe("openai_responses", () => {
  const output = (items: JsonObject[], extra: JsonObject = {}): Play =>
    json(200, { id: "r", created_at: 1, model: "m", status: "completed", output: items, ...extra });
  const said = (text: string): JsonObject => ({
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text, logprobs: [{ token: text, logprob: -1 }] }],
  });

  it("sends the conversation as items: messages, calls, outputs of calls, and reasoning that the server encrypted", async () => {
    const reasoning: JsonObject = { type: "reasoning", id: "rs", summary: [], encrypted_content: "e" };
    const prompt: Message[] = [
      { role: "system", content: "s" },
      IMAGE,
      { ...CALL, thinking_blocks: [reasoning, { type: "reasoning", id: "rs2", summary: [] }] },
      { role: "tool", tool_call_id: "c1", content: "2" },
      { role: "assistant", content: "two" },
    ];
    const { seen } = await exchange("openai_responses", output([said("ok")]), { prompt, sampling_args: { max_tokens: 9 } });
    expect(seen.body).toEqual({
      model: "m-1",
      max_output_tokens: 9,
      input: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "data:image/png;base64,QUJD", detail: "auto" },
          ],
        },
        reasoning,
        { role: "assistant", content: "hm" },
        { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "c1", output: "2" },
        { role: "assistant", content: "two" },
      ],
    });
  });

  it("keeps what can be sent back of a thought, and the log-probabilities", async () => {
    const reasoning: JsonObject = { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "sum" }], encrypted_content: "e" };
    const { response } = await exchange("openai_responses", output([reasoning, { type: "web_search_call", id: "w" }, said("hi")]));
    expect(response.message).toMatchObject({ content: "hi", reasoning_content: "sum", thinking_blocks: [reasoning], finish_reason: "stop" });
    expect(response.logprobs).toEqual({ tokens: ["hi"], token_logprobs: [-1] });
  });

  it.each([
    [{ status: "failed", error: { code: "rate_limit_exceeded", message: "slow" } }, "rate_limited"],
    [{ status: "failed", error: { code: "server_error", message: "oops" } }, "provider_error"],
    [{ status: "failed", error: { code: "invalid_prompt", message: "no" } }, "bad_request"],
    [{ status: "in_progress" }, "invalid_response"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "empty_response"],
  ])("a 200 with %j is %s", async (extra, code) => {
    expect((await exchange("openai_responses", output([], extra as JsonObject))).result).toMatchObject({ code });
  });

  it("says that a prompt does not fit in its own words", async () => {
    const error = { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." };
    expect((await exchange("openai_responses", refuses(400, error))).result).toBeInstanceOf(OverlongPromptError);
  });
});

describe("workers_ai", () => {
  it("asks the binding for the model, with messages that hold no null", async () => {
    const { seen } = await exchange("workers_ai", json(200, { response: "ok" }), {
      prompt: [{ role: "user", content: "q" }, CALL],
      sampling_args: { n: 1, max_tokens: 5, seed: 1 },
    });
    expect(seen.headers["x-model"]).toBe("m-1");
    expect(seen.body).toEqual({
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "hm", tool_calls: [{ type: "function", id: "c1", function: { name: "add", arguments: '{"a":1}' } }] },
      ],
      max_tokens: 5,
      seed: 1,
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a value that follows a schema", { response: { a: 1 } }, { content: '{"a":1}' }],
    [
      "calls without ids",
      { response: null, tool_calls: [{ name: "add", arguments: { a: 1 } }] },
      { tool_calls: [{ id: "add", name: "add", arguments: '{"a":1}' }], finish_reason: "tool_calls" },
    ],
    [
      "a chat completion",
      { choices: [{ message: { content: "hi", reasoning_content: "r" }, finish_reason: "length" }] },
      { content: "hi", reasoning_content: "r", is_truncated: true },
    ],
  ])("reads %s", async (_what, reply, message) => {
    expect((await exchange("workers_ai", json(200, reply))).response.message).toMatchObject(message);
  });

  it.each([
    [429, { internalCode: 3036, description: "daily free allocation" }, "insufficient_quota"],
    [429, { internalCode: 3040, description: "No more data centers" }, "rate_limited"],
    [400, { errors: [{ code: 5007, message: "No such model x" }] }, "model_not_found"],
    [403, { internalCode: 5018, description: "not allowed" }, "auth_failed"],
  ])("a refusal with %i of %j is %s", async (status, body, code) => {
    expect((await exchange("workers_ai", json(status, body))).result).toMatchObject({ code });
  });

  it("without a binding says what is missing", () => {
    expect(() => createClient("workers_ai", { base_url: "workers-ai", api_key: "EMPTY" })).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("no AI binding"), hint: expect.stringContaining("[ai]") }),
    );
  });
});

describe("a client of one's own", () => {
  it("needs an address and a key, and works without an engine around it", async () => {
    await using server = await scriptedEndpoint(json(200, { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }));
    const client = createClient("openai_chat_completions", { base_url: server.url, api_key: "sk-1" });
    expect((await client.getResponse(ask())).message.content).toBe("hi");
    expect(server.seen[0]?.headers.authorization).toBe("Bearer sk-1");
  });
});

describe("a refusal in words", () => {
  it("is what the model says, not an empty answer", async () => {
    const body = json(200, { choices: [{ message: { content: null, refusal: "I will not." }, finish_reason: "stop" }] });
    expect((await exchange("openai_chat_completions", body)).response.message.content).toBe("I will not.");
  });
});
