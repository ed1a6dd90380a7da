import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { IGNORED_FIELDS, REFUSED_FIELDS } from "../../../src/embedded-api/request-fields.ts";
import { type EmbeddedStage, embeddedStage } from "../../support/clients/embedded-app.ts";

let stage: EmbeddedStage;
beforeAll(async () => {
  stage = await embeddedStage();
});

const CHAT = { model: "edgewise/tiny", messages: [{ role: "user", content: "what is 1 + 1?" }], max_tokens: 1 };
const COMPLETION = { model: "edgewise/tiny", prompt: "Q: 1", max_tokens: 1 };

interface Refusal {
  readonly status: number;
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
}

async function refused(path: string, body: unknown): Promise<Refusal> {
  const response = await stage.post(path, body);
  return { status: response.status, ...((await response.json()) as Pick<Refusal, "error">) };
}

describe("a request that is wrong", () => {
  it.each([
    ["no messages", "/chat/completions", { messages: undefined }, "messages", "missing_required_parameter", "Missing required parameter: 'messages'."],
    ["a text for a list", "/chat/completions", { messages: "hi" }, "messages", "invalid_type", "expected an array, but got a string instead"],
    ["an unknown role", "/chat/completions", { messages: [{ role: "king", content: "x" }] }, "messages[0].role", "invalid_value", "expected one of"],
    ["no user", "/chat/completions", { messages: [{ role: "system", content: "x" }] }, "messages", "invalid_value", "role 'user'"],
    [
      "an image",
      "/chat/completions",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
      "messages[0].content[0].type",
      "invalid_value",
      "reads text only",
    ],
    ["a misspelt field", "/chat/completions", { temprature: 1 }, "temprature", "unknown_parameter", "Unknown parameter: 'temprature'."],
    ["too hot", "/chat/completions", { temperature: 3 }, "temperature", "decimal_above_max_value", "Expected a value <= 2, but got 3 instead"],
    ["too few choices", "/chat/completions", { n: 0 }, "n", "integer_below_min_value", "Expected a value >= 1, but got 0 instead"],
    ["half a choice", "/chat/completions", { n: 1.5 }, "n", "invalid_type", "expected an integer"],
    ["no answer at all", "/chat/completions", { max_tokens: 0 }, "max_tokens", "integer_below_min_value", "Expected a value >= 1"],
    ["both limits", "/chat/completions", { max_completion_tokens: 5 }, "max_tokens", "invalid_parameter_combination", "at the same time"],
    ["alternatives alone", "/chat/completions", { top_logprobs: 2 }, "top_logprobs", null, "only allowed when 'logprobs' is enabled"],
    ["five stops", "/chat/completions", { stop: [..."abcde"] }, "stop", "array_above_max_length", "maximum length 4"],
    ["an empty stop", "/completions", { stop: "" }, "stop[0]", "invalid_value", "end every answer"],
    ["stream options alone", "/completions", { stream_options: { include_usage: true } }, "stream_options", null, "only allowed when 'stream' is enabled"],
    ["six alternatives", "/completions", { logprobs: 6 }, "logprobs", "integer_above_max_value", "Expected a value <= 5"],
    ["an object as prompt", "/completions", { prompt: { a: 1 } }, "prompt", "invalid_value", "list of token ids"],
    ["no prompt in the list", "/completions", { prompt: [] }, "prompt", "invalid_value", "not empty"],
    ["a token there is not", "/completions", { prompt: [1, 9999] }, "prompt", "invalid_value", "there is no token 9999"],
    ["too many choices", "/completions", { prompt: Array.from({ length: 9 }, () => "a"), n: 128 }, "prompt", null, "at most 1024"],
  ])("is refused in OpenAI's format, naming the field: %s", async (_, path, change, param, code, message) => {
    const { status, error } = await refused(path, { ...(path === "/completions" ? COMPLETION : CHAT), ...change });
    expect(status).toBe(400);
    expect(error).toEqual({ message: expect.stringContaining(message), type: "invalid_request_error", param, code });
  });

  it("is refused when it is no JSON object", async () => {
    expect(await refused("/completions", "{no")).toMatchObject({
      status: 400,
      error: { type: "invalid_request_error", message: expect.stringContaining("parse") },
    });
    expect(await refused("/completions", "[]")).toMatchObject({ status: 400, error: { message: "The body must be a JSON object." } });
  });

  it("that is too long for the model gets OpenAI's words and code", async () => {
    const { contextLength } = stage.model;
    const prompt = "a".repeat(contextLength);
    const completion = await refused("/completions", { ...COMPLETION, prompt });
    expect(completion.error).toEqual({
      message: `This model's maximum context length is ${contextLength} tokens, however you requested ${contextLength + 1} tokens (${contextLength} in your prompt; 1 for the completion). Please reduce your prompt; or completion length.`,
      type: "invalid_request_error",
      param: "prompt",
      code: "context_length_exceeded",
    });
    const chat = await refused("/chat/completions", { ...CHAT, messages: [{ role: "user", content: "b".repeat(200) }] });
    expect(chat.error).toMatchObject({
      code: "context_length_exceeded",
      param: "messages",
      message: expect.stringMatching(/your messages resulted in 20\d tokens/),
    });
    // It fits when nothing is to follow, and an answer ends where the context does.
    expect((await stage.post("/completions", { ...COMPLETION, prompt, max_tokens: 0, echo: true })).status).toBe(200);
    expect((await stage.post("/completions", { ...COMPLETION, prompt: "a".repeat(contextLength - 1), max_tokens: 100 })).status).toBe(200);
  });

  it("for another model, or at another address, is a 404", async () => {
    expect(await refused("/completions", { ...COMPLETION, model: "gpt-4" })).toMatchObject({ status: 404, error: { code: "model_not_found" } });
    expect(await refused("/embeddings", {})).toMatchObject({ status: 404, error: { code: "unknown_url" } });
  });
});

describe("a field that OpenAI knows", () => {
  it.each(Object.entries(REFUSED_FIELDS))("and the model cannot honour is refused by name, unless it asks for nothing: %s", async (name, neutral) => {
    expect(await refused("/chat/completions", { ...CHAT, [name]: { type: "json_object" } })).toMatchObject({
      status: 400,
      error: { param: name, code: "unsupported_parameter", message: `Unsupported parameter: '${name}' is not supported with this model.` },
    });
    for (const value of [null, ...neutral]) expect((await stage.post("/chat/completions", { ...CHAT, [name]: value })).status, JSON.stringify(value)).toBe(200);
  });

  it.each(IGNORED_FIELDS)("and that cannot change the answer is passed over: %s", async (name) => {
    expect((await stage.post("/completions", { ...COMPLETION, [name]: "x" })).status).toBe(200);
  });

  it("is in the document, if it is passed over or refused", () => {
    const document = readFileSync(new URL("../../../docs/embedded-model.md", import.meta.url), "utf8");
    for (const name of [...IGNORED_FIELDS, ...Object.keys(REFUSED_FIELDS)]) expect(document).toContain(`\`${name}\``);
  });

  it("counts as absent when it is null", async () => {
    const fields = ["n", "seed", "stop", "stream", "stream_options", "temperature", "top_p", "logprobs", "echo", "latency_ms", "error_rate"];
    const body = { ...COMPLETION, ...Object.fromEntries(fields.map((name) => [name, null])) };
    expect((await stage.post("/completions", body)).status).toBe(200);
  });
});

describe("a request that is given up", () => {
  it("is not worked on any more, whole or streamed", async () => {
    const { pauses, post } = await embeddedStage();
    const long = { ...COMPLETION, prompt: Array.from({ length: 8 }, () => "a"), n: 64, max_tokens: 60, temperature: 2 };
    const given = new AbortController();
    const whole = post("/completions", long, given.signal);
    const reader = (await post("/completions", { ...long, stream: true })).body?.getReader();
    await reader?.read();
    given.abort();
    await reader?.cancel();
    await whole;
    const then = pauses();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pauses()).toBeLessThanOrEqual(then + 1);
  });
});

describe("for demonstrations", () => {
  it("an answer waits as long as the body or the query says, the body first", async () => {
    await stage.post("/completions?latency_ms=30", COMPLETION);
    await stage.post("/completions?latency_ms=30", { ...COMPLETION, latency_ms: 40 });
    expect(stage.slept.slice(-2)).toEqual([30, 40]);
    expect(await refused("/completions?latency_ms=soon", COMPLETION)).toMatchObject({ status: 400, error: { param: "latency_ms" } });
  });

  it("a share of the requests fails with a server error, the same ones after every start", async () => {
    const outcomes = async (): Promise<readonly number[]> => {
      const { post } = await embeddedStage();
      const statuses: number[] = [];
      for (let i = 0; i < 40; i++) statuses.push((await post("/completions", { ...COMPLETION, error_rate: 0.5 })).status);
      return statuses;
    };
    const first = await outcomes();
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(10);
    expect(first.filter((status) => status === 200).length).toBeGreaterThan(10);
    expect(await outcomes()).toEqual(first);
    expect(await refused("/completions?error_rate=1", COMPLETION)).toMatchObject({ status: 500, error: { type: "server_error" } });
  });
});
