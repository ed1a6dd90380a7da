import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { aroundClient } from "../../../src/clients/around-client.ts";
import type { ClientPorts } from "../../../src/clients/client.ts";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import { refusedReply } from "../../../src/clients/relay/refused-reply.ts";
import { relayed } from "../../../src/clients/relay/relayed.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { ROLLOUT_ERRORS } from "../../../src/errors/codes.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { MAX_RELAYED_REFUSAL_CHARACTERS, MAX_RELAYED_STREAM_CHARACTERS } from "../../../src/limits.ts";
import type { Client, RelayReply, RelayRequest, RelayRoute } from "../../../src/rollouts/types.ts";
import { answers, answersInPieces, portsFor, streams } from "../../support/clients/client-plays.ts";
import { embeddedStage } from "../../support/clients/embedded-app.ts";
import { type Voice, VOICES } from "../../support/clients/client-voices.ts";
import {
  completion,
  cutMidBody,
  hangsUp,
  json,
  neverAnswers,
  type Play,
  refuses,
  says,
  scriptedEndpoint,
  testClient,
} from "../../support/clients/scripted-endpoint.ts";

const ROUTES: Readonly<Record<string, RelayRoute>> = {
  openai_chat_completions: "chat/completions",
  openai_chat_completions_token: "chat/completions",
  openai_completions: "completions",
  openai_responses: "responses",
  anthropic_messages: "messages",
  workers_ai: "chat/completions",
};

const BODY = { model: "whatever", messages: [{ role: "user", content: "hello" }], n: 2, logprobs: true, tools: [{ type: "function" }], odd: null };

const relay = (fields: Partial<RelayRequest> = {}): RelayRequest => ({
  route: "chat/completions",
  body: BODY,
  model: "m-1",
  state: { example_id: 7 },
  signal: null,
  ...fields,
});

async function outcome(plays: readonly Play[], request: Partial<RelayRequest> = {}, options: Parameters<typeof testClient>[1] = {}, voice?: Voice) {
  await using server = await scriptedEndpoint(...plays);
  const attempts: unknown[] = [];
  const taken: unknown[] = [];
  const ports: Partial<ClientPorts> = { onAttempt: (_state, usage) => void attempts.push(usage), onTaken: (answer) => void taken.push(answer) };
  const test = testClient(server.url, {
    ...options,
    ...(voice === undefined ? {} : { type: voice.type }),
    ports: { ...(voice === undefined ? {} : portsFor(voice, server.url)), ...ports, ...options.ports },
  });
  const result: unknown = await relayed(test.client, relay(request)).catch((thrown: unknown) => thrown);
  expect([test.gate.inFlight, test.gate.waiting]).toEqual([0, 0]);
  return {
    ...test,
    attempts,
    taken,
    seen: server.seen,
    url: server.url,
    result,
    reply: result as RelayReply,
    error: result instanceof EdgewiseError ? result : null,
  };
}

const USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, reasoning_tokens: 0 };

/** Whoever relays must not have to know what kind of client it is. */
describe.each(VOICES.map((voice) => [voice.type, voice] as const))("%s", (type, voice) => {
  const route = ROUTES[type] ?? "chat/completions";
  const on = (plays: readonly Play[], request: Partial<RelayRequest> = {}, options: Parameters<typeof testClient>[1] = {}) =>
    outcome(plays, { route, ...request }, options, voice);

  it("passes a body on as it is but for its model, with the endpoint's key and headers, and the answer back", async () => {
    const { seen, reply, attempts, taken } = await on(
      [answers(voice, { text: "four" })],
      { state: { example_id: 3, lane: 9 } },
      { endpoint: { headers: { "X-Static": "s" }, headers_from_state: { "X-Lane": "lane" } } },
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]?.path).toBe(voice.path);
    expect(seen[0]?.headers).toMatchObject({ "x-session-id": "3", "x-static": "s", "x-lane": "9", "content-type": "application/json" });
    if (voice.key !== null) expect(seen[0]?.headers[voice.key[0]]).toBe(voice.key[1]);
    const { model: _, ...rest } = BODY;
    if (type === "workers_ai") expect([seen[0]?.headers["x-model"], seen[0]?.body]).toEqual(["m-1", rest]);
    else expect(seen[0]?.body).toEqual({ ...BODY, model: "m-1" });
    expect(reply).toMatchObject({ status: 200, content_type: expect.stringContaining("application/json") });
    expect(reply.text).toContain("four");
    if (type !== "workers_ai") expect(JSON.parse(reply.text)).toEqual(voice.whole({ text: "four" }));
    expect(attempts).toEqual([USAGE]);
    expect(taken).toHaveLength(1);
  });

  it("gives an answer in pieces back as the text that came, once it is whole, and counts what it took", async () => {
    const { reply, taken, seen } = await on([type === "workers_ai" ? answers(voice, { text: "four" }) : answersInPieces(voice, { text: "four" })], {
      body: { ...BODY, stream: true },
    });
    expect(reply).toMatchObject({ status: 200, content_type: expect.stringContaining("text/event-stream") });
    expect(taken).toHaveLength(1);
    if (type === "workers_ai") return expect([seen[0]?.body.stream, reply.text.endsWith("data: [DONE]\n\n")]).toEqual([undefined, true]);
    const events = reply.text.split("\n\n").flatMap((block) => /^data: (\{.*)$/m.exec(block)?.[1] ?? []);
    expect(events.map((event) => JSON.parse(event) as JsonObject)).toEqual(voice.stream({ text: "four" }));
    expect(reply.text.includes("[DONE]")).toBe(voice.done);
  });

  it("is tried again like any request: after a refusal, without an answer, and when an answer breaks off", async () => {
    const { reply, seen, retries, attempts } = await on([
      json(500, voice.refusal(500, "busy")),
      json(429, voice.refusal(429, "slow")),
      hangsUp,
      cutMidBody,
      answers(voice, { text: "four" }),
    ]);
    expect(reply.text).toContain("four");
    expect([seen.length, attempts.length]).toEqual([5, 5]);
    expect(retries.map(({ code }) => code)).toEqual(["provider_error", "rate_limited", "connection_cut", "connection_cut"]);
  });

  it("says by our code what a refusal is, and beside it what the server said, without secrets", async () => {
    const { error, result, seen } = await on([json(401, voice.refusal(401, "no such key: sk-very-secret-1234"))]);
    expect([error?.code, seen.length]).toEqual(["auth_failed", 1]);
    expect(refusedReply(result)).toMatchObject({ status: 401, content_type: "application/json" });
    expect(refusedReply(result)?.text).toContain("no such key: [secret]");
    expect(JSON.stringify([error?.message, refusedReply(result)])).not.toContain("very-secret");
  });

  it("says of a prompt that is too long what the server said of it", async () => {
    const { result } = await on([json(400, voice.refusal(400, voice.overlong))]);
    expect(result).toBeInstanceOf(OverlongPromptError);
    expect(refusedReply(result)).toMatchObject({ status: 400, text: expect.stringContaining(voice.overlong) });
  });

  it("is given up when it is cancelled, and leaves its permit", async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<void>();
    const running = on([neverAnswers], { signal: controller.signal, onBegin: begun.resolve });
    await begun.promise;
    const stopped = new Error("stopped");
    controller.abort(stopped);
    expect((await running).result).toBe(stopped);
  });
});

describe("a streamed answer that is passed on", () => {
  const STREAM = { body: { ...BODY, stream: true } };
  const chunk = (content: string, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
    model: "m-1-0613",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    ...more,
  });

  it("that ends before the answer does is asked for again", async () => {
    const { reply, retries } = await outcome([streams([chunk("fo")], { done: false }), streams([chunk("four", "stop")], { done: false })], STREAM);
    expect(retries.map(({ code }) => code)).toEqual(["connection_cut"]);
    expect(reply.text).toContain("four");
  });

  it("that breaks off is asked for again", async () => {
    const { reply, retries } = await outcome([streams([chunk("fo"), chunk("ur")], { until: 1 }), streams([chunk("four", "stop")])], STREAM);
    expect(retries.map(({ code }) => code)).toEqual(["connection_cut"]);
    expect(reply.text).toContain("four");
  });

  it("is over when each of its choices is, whatever their order", async () => {
    const of = (index: number, finish: string | null): JsonObject => ({ choices: [{ index, delta: {}, finish_reason: finish }] });
    expect((await outcome([streams([of(1, null), of(0, null), of(1, "stop")], { done: false }), says("again")], STREAM)).retries).toHaveLength(1);
    expect((await outcome([streams([of(1, null), of(0, "stop"), of(1, "stop")], { done: false })], STREAM)).retries).toHaveLength(0);
  });

  it("says what it took where its last piece does", async () => {
    const last = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 } };
    const { attempts, taken } = await outcome([streams([chunk("four", "stop"), last])], STREAM);
    expect(attempts).toEqual([USAGE]);
    expect(taken).toEqual([{ model: "m-1-0613", usage: last.usage }]);
    expect((await outcome([streams([chunk("four", "stop")])], STREAM)).attempts).toEqual([null]);
  });

  it("with an error in it is what that error says, as a refusal to whoever reads it", async () => {
    const { retries, reply } = await outcome([streams([chunk("f"), { error: { message: "slow down", code: 429 } }]), streams([chunk("four", "stop")])], STREAM);
    expect([retries[0]?.code, reply.text.includes("four")]).toEqual(["rate_limited", true]);
    const { result, error } = await outcome([streams([{ error: { message: "bad", code: 400 } }])], STREAM);
    expect([error?.code, refusedReply(result)?.status]).toEqual(["bad_request", 400]);
    expect(JSON.parse(refusedReply(result)?.text ?? "")).toEqual({ error: { message: "bad", code: 400 } });
  });

  it("is refused above its limit, and not asked for again", async () => {
    const pieces = Array.from({ length: 9 }, () => chunk("x".repeat(MAX_RELAYED_STREAM_CHARACTERS / 8)));
    const { error, retries } = await outcome([streams([...pieces, chunk("", "stop")], { gapMs: 0 })], STREAM);
    expect([error?.code, retries.length]).toEqual(["row_too_large", 0]);
    expect(error?.message).toContain(String(MAX_RELAYED_STREAM_CHARACTERS));
    const { reply } = await outcome([streams([...pieces, chunk("", "stop")], { gapMs: 0 })], STREAM, {
      ports: { relayedCharacters: 2 * MAX_RELAYED_STREAM_CHARACTERS },
    });
    expect(reply.text.length).toBeGreaterThan(MAX_RELAYED_STREAM_CHARACTERS);
  });

  it("is told of when it begins", async () => {
    let told = 0;
    await outcome([streams([chunk("fo"), chunk("ur", "stop")])], { ...STREAM, onAnswer: () => void told++ });
    expect(told).toBeGreaterThan(0);
  });

  it("may come in one piece all the same", async () => {
    expect((await outcome([says("four")], STREAM)).reply.content_type).toBe("application/json");
  });
});

describe("a refusal that is passed on", () => {
  it("pauses all calls of its endpoint where it says for how long", async () => {
    const { pause, retries } = await outcome([refuses(429, { message: "slow" }, { "retry-after": "0.05" }), says("ok")]);
    expect(retries[0]?.until).toBeGreaterThan(0);
    expect(pause.until).toBeNull();
  });

  it("is that of the last attempt, once no more are made", async () => {
    const { error, result, seen } = await outcome([refuses(503, { message: "a" }), refuses(503, { message: "b" })], {}, { ports: { maxRequestRetries: 1 } });
    expect([error?.code, seen.length]).toEqual(["provider_error", 2]);
    expect(refusedReply(result)).toMatchObject({ status: 503, text: expect.stringContaining('"b"') });
  });

  it("goes through what stands around a client", async () => {
    await using server = await scriptedEndpoint(refuses(400, { message: "odd" }));
    const around: Client = aroundClient(testClient(server.url).client, (request, ask) => ask(request));
    const thrown: unknown = await relayed(around, relay()).catch((error: unknown) => error);
    expect(refusedReply(thrown)).toMatchObject({ status: 400 });
  });

  it("is bounded", async () => {
    const { result } = await outcome([refuses(400, { message: "x".repeat(2 * MAX_RELAYED_REFUSAL_CHARACTERS) })]);
    expect(refusedReply(result)?.text).toHaveLength(MAX_RELAYED_REFUSAL_CHARACTERS);
  });

  it("is none where no server answered, or somebody else did", async () => {
    for (const [play, code] of [
      [hangsUp, "connection_cut"],
      [json(200, "<html><title>Sign in</title></html>", { "content-type": "text/html" }), "web_page"],
      [json(200, "{"), "malformed_response"],
      [json(307, "", { location: "http://elsewhere/" }), "invalid_response"],
    ] as const) {
      const { error, result } = await outcome([play], {}, { ports: { maxRequestRetries: 0 } });
      expect([error?.code, refusedReply(result)]).toEqual([code, null]);
    }
  });

  it("in the body of a 200 is one to whoever reads it", async () => {
    const { error, result, retries } = await outcome([
      json(200, { error: { code: 429, message: "upstream is busy" } }),
      json(200, { error: { message: "odd" } }),
    ]);
    expect([retries[0]?.code, error?.code, refusedReply(result)?.status]).toEqual(["rate_limited", "invalid_response", 502]);
  });

  it("holds no key that this endpoint was called with, nor does an answer that a server makes of what it was sent", async () => {
    const echo: Play = (response, { headers }) => json(403, { error: { message: JSON.stringify(headers) } })(response, undefined as never);
    const { result } = await outcome([echo], {}, { endpoint: { headers: { "X-Api-Secret": "other-secret-99" } } });
    expect(refusedReply(result)?.text).not.toMatch(/very-secret|other-secret/);
  });
});

describe("a route that is not the client's own", () => {
  it.each([
    [
      "openai_chat_completions",
      "messages",
      "/v1/messages",
      { authorization: "Bearer sk-very-secret-1234", "x-api-key": "sk-very-secret-1234", "anthropic-version": "2023-06-01" },
    ],
    ["openai_chat_completions", "responses", "/v1/responses", { authorization: "Bearer sk-very-secret-1234" }],
    ["openai_completions", "chat/completions", "/v1/chat/completions", { authorization: "Bearer sk-very-secret-1234" }],
    ["openai_chat_completions", "embeddings", "/v1/embeddings", { authorization: "Bearer sk-very-secret-1234" }],
    ["anthropic_messages", "chat/completions", "/v1/chat/completions", { authorization: "Bearer sk-very-secret-1234", "x-api-key": "sk-very-secret-1234" }],
    ["anthropic_messages", "messages", "/v1/messages", { "x-api-key": "sk-very-secret-1234" }],
  ] as const)("%s reaches %s at %s, with the key as servers of that route read it", async (type, route, path, headers) => {
    const { seen, error } = await outcome([json(200, { id: "x", data: [] })], { route }, { type });
    expect([error, seen[0]?.path]).toEqual([null, path]);
    expect(seen[0]?.headers).toMatchObject(headers);
    if (type === "openai_chat_completions" && route !== "messages") expect(seen[0]?.headers).not.toHaveProperty("x-api-key");
  });

  it("keeps headers that the endpoint was given for itself", async () => {
    const { seen } = await outcome(
      [json(200, {})],
      { route: "messages" },
      { endpoint: { headers: { "X-Api-Key": "gateway-key", "anthropic-version": "2024-01-01" } } },
    );
    expect(seen[0]?.headers).toMatchObject({ "x-api-key": "gateway-key", "anthropic-version": "2024-01-01" });
  });

  it("that the server does not have is a bad request, and no word about the model that ends the run", async () => {
    const { error } = await outcome([json(404, { detail: "Not Found" })], { route: "messages" });
    expect([error?.code, ROLLOUT_ERRORS.bad_request.fatal]).toEqual(["bad_request", false]);
    expect(error?.message).toContain("the endpoint does not serve the route messages");
    expect((await outcome([refuses(404, { message: "The model `m-1` does not exist.", code: "model_not_found" })], { route: "messages" })).error?.code).toBe(
      "model_not_found",
    );
    expect((await outcome([refuses(401)], { route: "messages" })).error?.code).toBe("auth_failed");
    expect((await outcome([json(404, { detail: "Not Found" })])).error?.code).toBe("model_not_found");
  });

  it("embeddings is beside the evaluation: what it is refused for says nothing of the model", async () => {
    for (const status of [401, 403, 404])
      expect((await outcome([refuses(status, { message: "no such model" })], { route: "embeddings" })).error?.code).toBe("bad_request");
  });

  it("is none of the AI binding's", async () => {
    const workers = VOICES.find(({ type }) => type === "workers_ai");
    const { error, seen } = await outcome([says("x")], { route: "responses" }, {}, workers);
    expect([error?.code, seen.length]).toEqual(["bad_request", 0]);
  });
});

describe("the AI binding's answers, for clients that know OpenAI's chat route alone", () => {
  const workers = VOICES.find(({ type }) => type === "workers_ai");
  const call = { name: "add", arguments: { a: 1 } };

  /** The official SDK, over a relay. */
  const sdk = (client: Client): OpenAI =>
    new OpenAI({
      apiKey: "none",
      maxRetries: 0,
      fetch: async (_url, init) => {
        const { status, content_type, text } = await relayed(client, relay({ body: JSON.parse(String(init?.body)) as JsonObject }));
        return new Response(text, { status, headers: { "content-type": content_type } });
      },
    });

  it.each([
    ["older", { response: "four", usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 } }],
    ["newer", completion("four")],
  ])("of %s models are read by the official SDK, whole and in pieces", async (_age, answer) => {
    await using server = await scriptedEndpoint(json(200, answer));
    const { client } = testClient(server.url, { type: "workers_ai", ports: workers === undefined ? {} : portsFor(workers, server.url) });
    const asked = { model: "@cf/x", messages: [{ role: "user" as const, content: "2+2" }] };
    const whole = await sdk(client).chat.completions.create(asked);
    expect(whole).toMatchObject({ object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "four" }, finish_reason: "stop" }] });
    expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 3 });
    let streamed = "";
    for await (const { choices } of await sdk(client).chat.completions.create({ ...asked, stream: true })) streamed += choices[0]?.delta.content ?? "";
    expect(streamed).toBe("four");
  });

  it("have their tool calls", async () => {
    await using server = await scriptedEndpoint(json(200, { response: null, tool_calls: [call] }));
    const { client } = testClient(server.url, { type: "workers_ai", ports: workers === undefined ? {} : portsFor(workers, server.url) });
    const { choices } = await sdk(client).chat.completions.create({ model: "@cf/x", messages: [] });
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: [{ id: "add", type: "function", function: { name: "add", arguments: '{"a":1}' } }] },
    });
  });
});

describe("the embedded model", () => {
  it("answers what is passed on to it, whole and in pieces, and has no routes but its own", async () => {
    const { post } = await embeddedStage();
    const fetch: ClientPorts["fetch"] = (url, init) => post(new URL(url).pathname.replace(/^\/v1/, ""), String(init?.body), init?.signal ?? undefined);
    const { client } = testClient("http://embedded/v1", { ports: { fetch, maxRequestRetries: 0 } });
    const asked = { messages: [{ role: "user", content: "what is 2 + 2?" }], max_tokens: 8 };
    const whole = await relayed(client, relay({ model: "edgewise/tiny", body: asked }));
    expect(JSON.parse(whole.text)).toMatchObject({ object: "chat.completion", choices: [{ message: { role: "assistant" } }] });
    const streamed = await relayed(client, relay({ model: "edgewise/tiny", body: { ...asked, stream: true } }));
    expect(streamed.text).toContain("data: [DONE]");
    await expect(relayed(client, relay({ model: "edgewise/tiny", route: "embeddings", body: { input: "x" } }))).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("a client that passes nothing on", () => {
  it("says so by a code", async () => {
    const client: Client = { type: "own", getResponse: () => Promise.reject(new Error("not asked")) };
    await expect(relayed(client, relay())).rejects.toMatchObject({ code: "bad_request", message: expect.stringContaining("type own") });
  });
});
