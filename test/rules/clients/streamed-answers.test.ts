import { describe, expect, it } from "vitest";
import { readEvents, type ServerSentEvent } from "../../../src/clients/transport/server-sent-events.ts";
import type { Json, JsonObject } from "../../../src/config/plan/run-config.ts";
import type { ModelResponse } from "../../../src/rollouts/types.ts";
import { MAX_STREAMED_ANSWER_CHARACTERS } from "../../../src/limits.ts";
import { streams } from "../../support/clients/client-plays.ts";
import { ask, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

/** The bytes in chunks of `size`. */
function inChunks(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
}

describe("a text/event-stream", () => {
  const expected: ServerSentEvent[] = [
    { event: "", data: "one" },
    { event: "named", data: "two\nlines" },
    { event: "", data: "ü 😀" },
    { event: "", data: "" },
    { event: "", data: "last" },
  ];
  const text = ": a comment\n\ndata: one\n\nevent: named\ndata: two\ndata:lines\nid: 7\n\ndata: ü 😀\n\nretry: 5\n\ndata\n\ndata: last";

  it.each([1, 2, 3, 7, 1_000])("is read event by event, in chunks of %i bytes, with any line breaks", async (size) => {
    for (const breaks of ["\n", "\r\n"]) expect(await Array.fromAsync(readEvents(inChunks(text.replaceAll("\n", breaks), size), 1_000))).toEqual(expected);
  });

  it("with an event that does not end is given up", async () => {
    await expect(Array.fromAsync(readEvents(inChunks(`data: ${"x".repeat(200)}`, 10), 100))).rejects.toThrow("more than 100 characters");
  });
});

const choice = (delta: JsonObject, finish_reason: Json = null, extra: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason, ...extra }],
});

async function streamed(events: readonly JsonObject[], done = true): Promise<{ result: unknown; response: ModelResponse }> {
  await using server = await scriptedEndpoint(streams(events, { done, gapMs: 0 }));
  const { client } = testClient(server.url, { ports: { maxRequestRetries: 0 } });
  const result: unknown = await client.getResponse(ask({ sampling_args: { stream: true } })).catch((thrown: unknown) => thrown);
  return { result, response: result as ModelResponse };
}

describe("a streamed chat completion", () => {
  it("has its tool calls put together, numbered or not", async () => {
    const part = (fields: JsonObject): JsonObject => choice({ tool_calls: [fields] });
    const { response } = await streamed([
      part({ index: 1, id: "b", function: { name: "sub", arguments: "{}" } }),
      part({ index: 0, id: "a", function: { name: "add", arguments: '{"x"' } }),
      part({ index: 0, function: { arguments: ":1}" } }),
      choice({}, "tool_calls"),
    ]);
    expect(response.message.tool_calls).toEqual([
      { id: "a", name: "add", arguments: '{"x":1}' },
      { id: "b", name: "sub", arguments: "{}" },
    ]);
    const unnumbered = await streamed([
      part({ id: "a", function: { name: "add", arguments: "{}" } }),
      part({ id: "b", function: { name: "sub", arguments: "{}" } }),
      choice({}, "tool_calls"),
    ]);
    expect(unnumbered.response.message.tool_calls?.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("has its log-probabilities and token ids put together", async () => {
    const piece = (token: string, id: number, logprob: number): JsonObject =>
      choice({ content: token }, null, { logprobs: { content: [{ token, logprob, top_logprobs: [] }] }, token_ids: [id] });
    const { response } = await streamed([{ prompt_token_ids: [1, 2], ...piece("a", 3, -1) }, piece("b", 4, -2), choice({}, "stop")]);
    expect(response.logprobs).toEqual({ tokens: ["a", "b"], token_logprobs: [-1, -2] });
    expect(response.message.tokens).toMatchObject({ prompt_ids: [1, 2], completion_ids: [3, 4], completion_logprobs: [-1, -2] });
  });

  it("asks for its usage, unless stream_options say otherwise", async () => {
    await using server = await scriptedEndpoint(streams([choice({ content: "x" }, "stop")]));
    const { client } = testClient(server.url);
    await client.getResponse(ask({ sampling_args: { stream: true } }));
    await client.getResponse(ask({ sampling_args: { extra_body: { stream: true, stream_options: {} } } }));
    expect(server.seen.map(({ body }) => body.stream_options)).toEqual([{ include_usage: true }, {}]);
  });

  it("that ends without a reason is whole where the server says that it is done, and cut where not", async () => {
    expect((await streamed([choice({ content: "x" })], true)).response.message).toMatchObject({ content: "x", finish_reason: null });
    expect((await streamed([choice({ content: "x" })], false)).result).toMatchObject({ code: "connection_cut" });
  });

  it("that is longer than an executor may hold is given up", async () => {
    const much = "x".repeat(Math.ceil(MAX_STREAMED_ANSWER_CHARACTERS / 4));
    expect((await streamed([1, 2, 3, 4, 5].map(() => choice({ content: much })))).result).toMatchObject({ code: "row_too_large" });
  });

  it("with several choices is not one answer", async () => {
    expect(
      (
        await streamed([
          {
            choices: [
              { index: 0, delta: {}, finish_reason: "stop" },
              { index: 1, delta: {}, finish_reason: "stop" },
            ],
          },
        ])
      ).result,
    ).toMatchObject({ code: "invalid_response" });
  });
});
