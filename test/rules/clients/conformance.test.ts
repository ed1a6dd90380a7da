import { describe, expect, it, vi } from "vitest";
import { BaseClient } from "../../../src/clients/base-client.ts";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { ModelRequest, ModelResponse, Tool } from "../../../src/rollouts/types.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { EmptyModelResponseError, InvalidModelResponseError, ModelError } from "../../../src/errors/rollout-errors.ts";
import { answers, answersInPieces, portsFor, streams } from "../../support/clients/client-plays.ts";
import { type Said, VOICES } from "../../support/clients/client-voices.ts";
import { ask, cutMidBody, json, lateOnceHeard, neverAnswers, type Play, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

const THOUGHT: readonly [string, Said] = ["a thought and a text", { thought: "two and two", text: "four" }];
const CALLED: readonly [string, Said] = ["a tool call", { call: { id: "call-1", name: "add", arguments: { a: 1, b: [2] } } }];

/** The same suite for every client: whatever server stands behind it, whoever asks must not be able to tell. */
describe.each(VOICES.map((voice) => [voice.type, voice] as const))("%s", (type, voice) => {
  async function outcome(plays: readonly Play[], request: Partial<ModelRequest> = {}, options: Parameters<typeof testClient>[1] = {}) {
    await using server = await scriptedEndpoint(...plays);
    const test = testClient(server.url, { ...options, type, ports: { ...portsFor(voice, server.url), ...options.ports } });
    const result: unknown = await test.client.getResponse(ask(request)).catch((thrown: unknown) => thrown);
    expect([test.gate.inFlight, test.gate.waiting]).toEqual([0, 0]);
    return { ...test, seen: server.seen, result, error: result instanceof EdgewiseError ? result : null, response: result as ModelResponse };
  }

  const STREAM = { sampling_args: { n: 1, stream: true } };
  const tool: Tool = { name: "add", description: "adds", parameters: { type: "object", properties: {} } };
  const sayings: readonly (readonly [string, Said])[] = [
    ["a text", { text: "four, and wide: ü 漢 😀" }],
    ["a text that was cut off", { text: "fo", cut: true }],
    ...(voice.thinks ? [THOUGHT] : []),
    // The older form of Workers AI is read elsewhere: its calls come as values.
    ...(voice.tools && type !== "workers_ai" ? [CALLED] : []),
  ];

  describe("the request", () => {
    it("goes to its route, with the key, static headers, and headers from the state", async () => {
      const { seen } = await outcome(
        [answers(voice, { text: "ok" })],
        { state: { example_id: 3, lane: 9 } },
        { endpoint: { headers: { "X-Static": "s" }, headers_from_state: { "X-Lane": "lane" } } },
      );
      expect(seen).toHaveLength(1);
      expect(seen[0]?.path).toBe(voice.path);
      expect(seen[0]?.headers).toMatchObject({ "x-session-id": "3", "x-static": "s", "x-lane": "9", "content-type": "application/json" });
      if (voice.key !== null) expect(seen[0]?.headers[voice.key[0]]).toBe(voice.key[1]);
      expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith("x-stainless"))).toEqual([]);
    });

    it("drops nulls, merges extra_body, names the limit of tokens in its own way, and passes on what it does not know", async () => {
      const { seen } = await outcome([answers(voice, { text: "ok" })], {
        sampling_args: { n: 1, temperature: null, top_p: 0.5, max_tokens: 64, odd: { a: 1 }, extra_body: { top_k: 5 } },
      });
      const body = seen[0]?.body ?? {};
      expect(body).toMatchObject({ top_p: 0.5, odd: { a: 1 }, top_k: 5, [voice.maxTokens]: 64 });
      for (const absent of ["temperature", "extra_body"]) expect(body).not.toHaveProperty(absent);
    });

    it("for several answers, or with an extra_body that is none, is not sent", async () => {
      for (const sampling_args of [{ n: 2 }, { extra_body: "x" }] as JsonObject[]) {
        const { error, seen } = await outcome([answers(voice, { text: "x" })], { sampling_args });
        expect([error?.code, seen.length]).toEqual(["bad_request", 0]);
      }
    });

    it(voice.tools ? "has its tools" : "with tools is not sent", async () => {
      const { error, seen } = await outcome([answers(voice, { text: "ok" })], { tools: [tool] });
      if (voice.tools) expect(JSON.stringify(seen[0]?.body.tools)).toContain('"name":"add"');
      else expect([error?.code, error?.message.includes("add"), seen.length]).toEqual(["bad_request", true, 0]);
    });

    // The platform's binding has no address that anything could redirect from.
    it.skipIf(type === "workers_ai")("is not sent on to where the server redirects it", async () => {
      await using other = await scriptedEndpoint(answers(voice, { text: "stolen" }));
      const { error, seen } = await outcome([json(307, {}, { location: `${other.url}?k=1` })]);
      expect([error?.code, seen.length, other.seen.length]).toEqual(["invalid_response", 1, 0]);
      expect(error?.message).toContain(`redirects to ${other.url}, which is not followed`);
    });
  });

  describe("the answer", () => {
    it.each(sayings)("%s is read", async (_what, said) => {
      const { response } = await outcome([answers(voice, said)]);
      const finish = said.cut ? "length" : said.call ? "tool_calls" : "stop";
      // The older form of Workers AI does not say why an answer ended.
      const known = type !== "workers_ai";
      expect(response.message).toMatchObject({
        role: "assistant",
        finish_reason: known ? finish : null,
        is_truncated: known && said.cut === true,
        ...(said.text === undefined ? {} : { content: said.text }),
        ...(said.thought === undefined ? {} : { reasoning_content: said.thought }),
        ...(said.call === undefined ? {} : { tool_calls: [{ ...said.call, arguments: JSON.stringify(said.call.arguments) }] }),
      });
      expect(response.usage).toEqual({ prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, reasoning_tokens: 0 });
      expect(response.model).toBe(type === "workers_ai" ? "m-1" : "m");
    });

    it.each(sayings)("%s in pieces is the same as whole", async (_what, said) => {
      const whole = await outcome([answers(voice, said)], {}, { ports: { now: () => 5_000 } });
      const pieces = await outcome([answersInPieces(voice, said)], STREAM, { ports: { now: () => 5_000 } });
      expect(pieces.seen[0]?.body.stream).toBe(true);
      expect(pieces.result).toEqual(whole.result);
    });

    it.skipIf(type === "openai_chat_completions_token")("that is to be seen is asked for in pieces, and is the same", async () => {
      const said: Said = { text: "four, and wide: ü 漢 😀" };
      const whole = await outcome([answers(voice, said)], {}, { ports: { now: () => 5_000 } });
      let begun = 0;
      const seen = await outcome([answersInPieces(voice, said)], { visibly: true, onAnswer: () => void begun++ }, { ports: { now: () => 5_000 } });
      expect(seen.seen[0]?.body.stream).toBe(true);
      expect(begun).toBeGreaterThan(0);
      expect(seen.result).toEqual(whole.result);
    });

    it("asked for in pieces may come whole", async () => {
      expect((await outcome([answers(voice, { text: "whole" })], STREAM)).response.message.content).toBe("whole");
    });

    it("that breaks off is asked for again, whole or in pieces", async () => {
      const broken = answersInPieces(voice, { text: "never all of it" }, { until: 2 });
      const ended = streams(voice.stream({ text: "not all of it" }).slice(0, 1), { done: false });
      for (const [play, request] of [
        [cutMidBody, {}],
        [broken, STREAM],
        [ended, STREAM],
      ] as const) {
        const { response, retries } = await outcome(
          [play, request === STREAM ? answersInPieces(voice, { text: "all" }) : answers(voice, { text: "all" })],
          request,
        );
        expect([response.message?.content, retries.map(({ code }) => code)]).toEqual(["all", ["connection_cut"]]);
      }
    });

    it.skipIf(voice.streamError === null)("with an error inside the stream is asked for again, as the error says", async () => {
      const { response, retries } = await outcome(
        [streams([...voice.stream({ text: "so far" }).slice(0, 2), voice.streamError ?? {}], { done: false }), answersInPieces(voice, { text: "all" })],
        STREAM,
      );
      expect(response.message?.content).toBe("all");
      expect(["rate_limited", "provider_error"]).toContain(retries[0]?.code);
    });

    it("that is no JSON, no answer, or too long is an error that a further attempt at the rollout may mend", async () => {
      const long = json(200, `{"x": "${" ".repeat(2_000_000)}"}`);
      for (const [play, code] of [
        [json(200, "<not json"), "malformed_response"],
        [json(200, { hello: 1 }), /^(invalid|empty)_response$/],
        [json(200, ""), "empty_response"],
        [long, "row_too_large"],
      ] as const) {
        const { error, seen } = await outcome([play]);
        expect(error?.code).toMatch(code);
        expect(seen).toHaveLength(1);
      }
    });
  });

  describe("a refusal", () => {
    it.each([
      [400, "bad_request", 1],
      [401, "auth_failed", 1],
      [402, "payment_required", 1],
      [403, "auth_failed", 1],
      [404, "model_not_found", 1],
      [422, "bad_request", 1],
      [408, "provider_error", 3],
      [429, "rate_limited", 3],
      [500, "provider_error", 3],
      [503, "provider_error", 3],
      [529, "provider_error", 3],
    ] as const)("with status %i is %s, asked %i times", async (status, code, calls) => {
      const { error, seen } = await outcome([json(status, voice.refusal(status, "the reason"))], {}, { ports: { maxRequestRetries: 2 } });
      expect([error?.code, seen.length]).toEqual([code, calls]);
      expect(error?.message).toContain(`HTTP ${status}: the reason`);
    });

    const page = "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>";
    it.each([
      ["with a page for people behind a 200", 200, page, {}],
      ["of a firewall", 403, page, { "content-type": "text/html; charset=UTF-8" }],
      ["of a server that has no such route", 404, "<html><body><h1>404 Not Found</h1></body></html>", { "content-type": "text/html" }],
    ] as const)("%s is a web page: asked again, named by its title, and no end of the run", async (_what, status, body, headers) => {
      const { error, seen } = await outcome([json(status, body, headers)], {}, { ports: { maxRequestRetries: 1 } });
      expect([error?.code, seen.length]).toEqual(["web_page", 2]);
      expect(error?.message).toMatch(/a web page \("(Just a moment\.\.\.|404 Not Found)"\), not an answer of a model's API/);
    });

    it("with a page keeps the code of its status where that is tried again anyway", async () => {
      for (const [status, code] of [
        [502, "provider_error"],
        [429, "rate_limited"],
      ] as const) {
        const { error } = await outcome([json(status, page, { "content-type": "text/html" })], {}, { ports: { maxRequestRetries: 0 } });
        expect(error?.code).toBe(code);
        expect(error?.message).toContain("Just a moment...");
      }
    });

    it.each([
      [403, { error: { code: "unsupported_country_region_territory", message: "Country, region, or territory not supported", type: "request_forbidden" } }],
      [403, { error: { type: "forbidden", message: "Request not allowed" } }],
      [400, { error: { code: 400, message: "User location is not supported for the API use.", status: "FAILED_PRECONDITION" } }],
      [403, { error: { code: 403, message: "This model is not available in your region." } }],
      [451, { message: "no" }],
    ] as const)("for the place it comes from (HTTP %i) is asked again, and no end of the run", async (status, body) => {
      const { error, seen } = await outcome([json(status, body), answers(voice, { text: "ok" })], {}, { ports: { maxRequestRetries: 0 } });
      expect([error?.code, seen.length]).toEqual(["region_refused", 1]);
      expect((await outcome([json(status, body), answers(voice, { text: "ok" })])).response.message.content).toBe("ok");
    });

    it("for a prompt that does not fit is that, whole or in pieces", async () => {
      for (const request of [{}, STREAM])
        expect((await outcome([json(400, voice.refusal(400, voice.overlong))], request)).result).toBeInstanceOf(OverlongPromptError);
    });

    it("with a time to wait pauses every caller", async () => {
      const { response, slept, retries } = await outcome([json(429, voice.refusal(429, "later"), { "retry-after-ms": "120" }), answers(voice, { text: "ok" })]);
      expect([response.message?.content, slept, retries.length]).toEqual(["ok", [], 1]);
    });

    it("and a bad answer are thrown in verifiers' classes", async () => {
      expect((await outcome([json(500, voice.refusal(500, "oops"))], {}, { ports: { maxRequestRetries: 0 } })).result).toBeInstanceOf(ModelError);
      expect((await outcome([json(200, "no json")])).result).toBeInstanceOf(InvalidModelResponseError);
      expect((await outcome([json(200, "")])).result).toBeInstanceOf(EmptyModelResponseError);
    });

    it("shows no secret", async () => {
      const { error } = await outcome([json(400, voice.refusal(400, "bad key sk-very-secret-1234"))]);
      expect(JSON.stringify([error?.message, error?.stack, String(error?.cause)])).not.toContain("very-secret");
    });
  });

  describe("time", () => {
    const stalls: Play = streams(voice.stream({ text: "abc" }), { gapMs: 100_000 });

    it("ends a request that is never answered, and a stream that stops, and gives the permit back", async () => {
      for (const [play, request] of [
        [neverAnswers, {}],
        [stalls, STREAM],
      ] as const) {
        await using server = await scriptedEndpoint(play);
        const ports = { ...portsFor(voice, server.url), now: lateOnceHeard(server), timeouts: { request_ms: 50 } };
        const { client, gate } = testClient(server.url, { type, ports });
        await expect(client.getResponse(ask(request))).rejects.toMatchObject({ code: "request_timeout" });
        expect([server.seen.length, gate.inFlight, gate.waiting]).toEqual([1, 0, 0]);
      }
    });

    it("ends at a cancellation, with its reason", async () => {
      for (const [play, request] of [
        [neverAnswers, {}],
        [stalls, STREAM],
      ] as const) {
        await using server = await scriptedEndpoint(play);
        const { client, gate } = testClient(server.url, { type, ports: portsFor(voice, server.url) });
        const controller = new AbortController();
        const answer = client.getResponse(ask({ ...request, signal: controller.signal })).catch((thrown: unknown) => thrown);
        await vi.waitFor(() => expect(server.seen.length).toBe(1), 20_000);
        controller.abort("enough");
        expect(await answer).toBe("enough");
        expect(gate.inFlight).toBe(0);
        await vi.waitFor(() => expect(server.load.now).toBe(0), 20_000);
      }
    });
  });

  it("shows the client underneath, converts what it is given, and closes", async () => {
    const { client } = testClient("http://127.0.0.1:9/v1", { type, ports: portsFor(voice, "http://127.0.0.1:9/v1") });
    if (!(client instanceof BaseClient)) throw new Error("no client of ours");
    expect(client.native).toBeTypeOf("object");
    expect(JSON.stringify(client.toNativePrompt([{ role: "user", content: "hello" }]))).toContain("hello");
    if (voice.tools) expect(JSON.stringify(client.toNativeTool(tool))).toContain("adds");
    await client.close();
  });
});
