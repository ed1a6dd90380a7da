import { describe, expect, it } from "vitest";
import { AnthropicStream } from "../../../src/clients/anthropic/anthropic-stream.ts";
import { ChatStream } from "../../../src/clients/openai/chat-stream.ts";
import { CompletionStream } from "../../../src/clients/openai/completion-stream.ts";
import { readAnswer, type StreamFold } from "../../../src/clients/transport/read-answer.ts";
import { BodyTooLarge, readText } from "../../../src/clients/transport/response-body.ts";
import { readEvents } from "../../../src/clients/transport/server-sent-events.ts";
import { KIB, MAX_JSON_DEPTH, MAX_STREAMED_ANSWER_CHARACTERS } from "../../../src/limits.ts";

const refusal = (): Error => new Error("refused");
const reader = { streamed: false, streamFold: () => new ChatStream(refusal), errorOfRefusal: refusal, scrub: (text: string) => text.slice(0, 20) };

/** A body that a platform has unpacked: its headers still speak of the packed one. */
const unpacked = (chars: number, headers: Record<string, string>): Response => new Response("a".repeat(chars), { headers });

describe("an answer's body", () => {
  it("is bounded by its length only where it is not packed", async () => {
    expect(await readText(unpacked(100, { "content-length": "100" }), 100)).toHaveLength(100);
    expect(await readText(unpacked(100, { "content-length": "10", "content-encoding": "br" }), 100)).toHaveLength(100);
    expect(await readText(unpacked(100, { "content-length": "100", "content-encoding": "identity" }), 100)).toHaveLength(100);
    for (const encoding of ["br", "gzip", "deflate, gzip", "zstd"])
      await expect(readText(unpacked(101, { "content-length": "13", "content-encoding": encoding }), 100)).rejects.toBeInstanceOf(BodyTooLarge);
  });

  it("is no answer where it is nested too deeply", async () => {
    const answer = (levels: number) => readAnswer(new Response(`${"[".repeat(levels)}${"]".repeat(levels)}`), reader);
    expect(await answer(MAX_JSON_DEPTH)).toBeInstanceOf(Array);
    for (const levels of [MAX_JSON_DEPTH + 1, 100_000])
      await expect(answer(levels)).rejects.toMatchObject({
        failure: { code: "malformed_response", message: expect.stringContaining("nested deeper than 64 levels") },
      });
  });
});

const LONG = "x".repeat(KIB);

/** What each event adds, whatever its place: everything that stays of it is counted. */
const KEPT: readonly (readonly [what: string, fold: () => StreamFold, event: (index: number) => Record<string, unknown>])[] = [
  ["ids of tool calls", () => new ChatStream(refusal), (index) => ({ choices: [{ delta: { tool_calls: [{ index, id: LONG }] } }] })],
  ["names of tool calls", () => new ChatStream(refusal), (index) => ({ choices: [{ delta: { tool_calls: [{ index, function: { name: LONG } }] } }] })],
  ["empty tool calls", () => new ChatStream(refusal), (index) => ({ choices: [{ delta: { tool_calls: [{ index }] } }] })],
  ["choices", () => new ChatStream(refusal), (index) => ({ choices: [{ index, delta: {} }] })],
  ["fields beside the choices", () => new ChatStream(refusal), (index) => ({ [`field${index}`]: LONG })],
  ["tokens", () => new ChatStream(refusal), () => ({ choices: [{ delta: {}, logprobs: { content: [{ token: LONG, logprob: -1 }] } }] })],
  ["fields beside a completion", () => new CompletionStream(refusal), (index) => ({ [`field${index}`]: { a: LONG } })],
  ["tokens of a completion", () => new CompletionStream(refusal), () => ({ choices: [{ logprobs: { tokens: [LONG] } }] })],
  ["blocks", () => new AnthropicStream(refusal), (index) => ({ type: "content_block_start", index, content_block: { type: "text", text: LONG } })],
  ["empty blocks", () => new AnthropicStream(refusal), (index) => ({ type: "content_block_start", index, content_block: {} })],
  ["changes of a message", () => new AnthropicStream(refusal), (index) => ({ type: "message_delta", delta: { [`field${index}`]: LONG } })],
];

describe("a streamed answer", () => {
  it.each(KEPT)("is given up for its %s as for its text", async (_, fold, event) => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event(sent++))}\n\n`));
      },
    });
    const answer = readAnswer(new Response(body, { headers: { "content-type": "text/event-stream" } }), { ...reader, streamed: true, streamFold: fold });
    await expect(answer).rejects.toMatchObject({ failure: { code: "row_too_large" } });
    expect(sent).toBeLessThan(MAX_STREAMED_ANSWER_CHARACTERS / 10);
  });

  it("counts what is said again once", () => {
    const fold = new ChatStream(refusal);
    for (let chunk = 0; chunk < 10_000; chunk++) fold.add({ id: "chatcmpl-1", model: LONG, usage: { prompt_tokens: chunk }, choices: [] });
    expect(fold.size).toBeLessThan(2 * KIB);
  });

  it("may have as many tokens in one event as an event has room for", () => {
    const fold = new CompletionStream(refusal);
    fold.add({ choices: [{ text: "x", token_ids: Array.from({ length: 200_000 }, (_, id) => id), finish_reason: "stop" }] });
    expect(fold.result(true)).toMatchObject({ choices: [{ text: "x" }] });
  });

  it("has its longest event found in pieces of one byte, and its blank line as well", async () => {
    const long = "x".repeat(200_000);
    const bytes = new TextEncoder().encode(`data: ${long}\r\n\r\ndata: b\r\n\r\n`);
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, ++at));
      },
    });
    expect((await Array.fromAsync(readEvents(body, 200_100))).map(({ data }) => data.length)).toEqual([long.length, 1]);
  });
});
