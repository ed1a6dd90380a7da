import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { ModelRequest, ModelResponse, Tool } from "../../../src/rollouts/types.ts";
import { ask, completion, json, says, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

async function sent(request: Partial<ModelRequest>, endpoint = {}): Promise<{ body: JsonObject; headers: Record<string, unknown>; path: string }> {
  await using server = await scriptedEndpoint(says("ok"));
  await testClient(server.url, { endpoint }).client.getResponse(ask(request));
  const [seen] = server.seen;
  if (seen === undefined) throw new Error("nothing was sent");
  return seen;
}

async function received(body: unknown): Promise<ModelResponse> {
  await using server = await scriptedEndpoint(json(200, body));
  return await testClient(server.url).client.getResponse(ask());
}

const withMessage = (message: JsonObject, finish: unknown = "stop"): JsonObject =>
  completion("", { choices: [{ index: 0, message, finish_reason: finish as string }] });

describe("the request", () => {
  it("is a plain chat completion with n 1, nulls dropped and max_tokens under its new name", async () => {
    const { body, path } = await sent({
      sampling_args: { n: 1, extra_body: { top_k: 5 }, max_tokens: 64, temperature: null, top_p: 0.5, reasoning_effort: "low" },
    });
    expect(path).toBe("/v1/chat/completions");
    expect(body).toEqual({
      model: "m-1",
      messages: [{ role: "user", content: "hello" }],
      n: 1,
      max_completion_tokens: 64,
      top_p: 0.5,
      reasoning_effort: "low",
      top_k: 5,
    });
    expect((await sent({})).body).toEqual({ model: "m-1", messages: [{ role: "user", content: "hello" }], n: 1 });
  });

  it("carries the key, the static headers and the headers from the state", async () => {
    const { headers } = await sent(
      { state: { example_id: 3, lane: 9 } },
      { headers: { "X-Prime-Team-ID": "t1" }, headers_from_state: { "X-Lane": "lane", "X-None": "missing" } },
    );
    expect(headers).toMatchObject({
      authorization: "Bearer sk-very-secret-1234",
      "x-session-id": "3",
      "x-prime-team-id": "t1",
      "x-lane": "9",
      "content-type": "application/json",
    });
    expect(headers).not.toHaveProperty("x-none");
    expect((await sent({}, { headers_from_state: { "X-Session-ID": "lane" } })).headers).not.toHaveProperty("x-session-id");
  });

  it("has the parts of a message as they are", async () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } },
    ];
    const { body } = await sent({
      prompt: [
        { role: "system", content: "s" },
        { role: "user", content },
      ],
    });
    expect(body.messages).toEqual([
      { role: "system", content: "s" },
      { role: "user", content },
    ]);
    expect(body).not.toHaveProperty("modalities");
  });

  it("has every assistant message with both optional keys, text prompts as user messages, no thinking blocks", async () => {
    const { body } = await sent({
      prompt: [
        { role: "text", content: "raw" },
        { role: "assistant", content: "a", thinking_blocks: [{ type: "thinking" }] },
        { role: "assistant", content: null, reasoning_content: "r", tool_calls: [{ id: "1", name: "add", arguments: '{"a":1}' }] },
        { role: "tool", tool_call_id: "1", content: "2" },
      ],
    });
    expect(body.messages).toEqual([
      { role: "user", content: "raw" },
      { role: "assistant", content: "a", tool_calls: null, reasoning_content: null },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ type: "function", id: "1", function: { name: "add", arguments: '{"a":1}' } }],
        reasoning_content: "r",
      },
      { role: "tool", tool_call_id: "1", content: "2" },
    ]);
  });

  it("has tools only when there are some, strict only when it is set", async () => {
    const tool: Tool = { name: "add", description: "d", parameters: { type: "object" } };
    const { body } = await sent({ tools: [tool, { ...tool, name: "sub", strict: true }] });
    expect(body.tools).toEqual([
      { type: "function", function: { name: "add", description: "d", parameters: { type: "object" } } },
      { type: "function", function: { name: "sub", description: "d", parameters: { type: "object" }, strict: true } },
    ]);
  });

  it("asks for text only when it carries audio, unless modalities are set", async () => {
    const prompt: ModelRequest["prompt"] = [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA", format: "wav" } }] }];
    expect((await sent({ prompt })).body.modalities).toEqual(["text"]);
    expect((await sent({ prompt, sampling_args: { modalities: ["text", "audio"] } })).body.modalities).toEqual(["text", "audio"]);
  });

  it("for several answers is not sent", async () => {
    await using server = await scriptedEndpoint(says("x"));
    const { client } = testClient(server.url);
    await expect(client.getResponse(ask({ sampling_args: { n: 4 } }))).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("sampling_args.n is 4"),
    });
    expect(server.seen).toHaveLength(0);
  });
});

describe("the answer", () => {
  it("is read with usage, id, model and finish reason", async () => {
    expect(await received(completion("hi"))).toEqual({
      id: "c1",
      created: 1,
      model: "m",
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, reasoning_tokens: 0 },
      message: { role: "assistant", content: "hi", finish_reason: "stop", is_truncated: false, tokens: null },
    });
  });

  it.each([
    ["stop", "stop", false],
    ["length", "length", true],
    ["tool_calls", "tool_calls", false],
    ["content_filter", null, false],
    [null, null, false],
  ])("finish reason %s is %s", async (given, kept, truncated) => {
    expect((await received(withMessage({ content: "x" }, given))).message).toMatchObject({ finish_reason: kept, is_truncated: truncated });
  });

  it.each([
    [
      { prompt_tokens: 4, completion_tokens: 2 },
      { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6, reasoning_tokens: 0 },
    ],
    [
      { input_tokens: 4, output_tokens: 2, total_tokens: 6 },
      { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6, reasoning_tokens: 0 },
    ],
    [{ prompt_tokens: "4", completion_tokens: 2 }, null],
    [{ prompt_tokens: 4.5, completion_tokens: 2 }, null],
    [{}, null],
    [null, null],
  ])("usage %j is %j", async (usage, read) => {
    expect((await received(completion("x", { usage: usage as JsonObject }))).usage).toEqual(read);
  });

  it("keeps reasoning, the first text among its names, and accepts it alone", async () => {
    expect((await received(withMessage({ content: "x", reasoning_content: "rc", reasoning: "r" }))).message.reasoning_content).toBe("r");
    expect((await received(withMessage({ content: "x", reasoning: {}, reasoning_content: "rc" }))).message.reasoning_content).toBe("rc");
    expect((await received(withMessage({ content: null, reasoning: "only" }))).message).toMatchObject({ content: null, reasoning_content: "only" });
  });

  it("keeps whole tool calls and drops broken ones", async () => {
    const tool_calls: JsonObject[] = [
      { id: "1", type: "function", function: { name: "add", arguments: "{}" } },
      { type: "function", function: { name: "no id", arguments: "{}" } },
      { id: "3", function: { name: "no arguments" } },
    ];
    expect((await received(withMessage({ content: null, tool_calls }))).message).toMatchObject({
      content: null,
      tool_calls: [{ id: "1", name: "add", arguments: "{}" }],
    });
  });

  it("in text parts is their text", async () => {
    expect((await received(withMessage({ content: [{ type: "thinking" }, { type: "text", text: "a" }, { type: "text", text: "b" }] }))).message.content).toBe(
      "ab",
    );
  });

  it("brings token ids when the server gives ids and log-probabilities", async () => {
    const choice = {
      index: 0,
      message: { content: "x" },
      finish_reason: "stop",
      token_ids: [3, 4],
      logprobs: { content: [{ logprob: -0.1 }, { logprob: -0.2 }] },
    };
    const body = completion("", { choices: [choice], prompt_token_ids: [1, 2, 9] });
    expect((await received(body)).message.tokens).toEqual({
      prompt_ids: [1, 2, 9],
      prompt_mask: [0, 0, 0],
      completion_ids: [3, 4],
      completion_mask: [1, 1],
      completion_logprobs: [-0.1, -0.2],
    });
    expect((await received({ ...body, prompt_token_ids: null })).message.tokens).toBeNull();
  });
});
