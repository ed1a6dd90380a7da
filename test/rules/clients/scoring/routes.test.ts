import { describe, expect, it } from "vitest";
import {
  deafServer,
  echoServer,
  llamaCppServer,
  promptLogprobsServer,
  sglangServer,
  wordLogprob,
  wordTokens,
} from "../../../support/clients/scoring-servers.ts";
import { type ScoringServer, scoringStage, status } from "../../../support/clients/scoring-client.ts";

const TEXTS = ["The cats on the mat sleep.", "The cats on the mat sleeps."];

const SERVERS: readonly (readonly [string, string, () => ScoringServer])[] = [
  ["that echoes", "echo", () => echoServer()],
  ["that echoes behind a beginning of text", "echo", () => echoServer({ bos: true })],
  ["of vLLM's field alone", "prompt_logprobs", () => promptLogprobsServer],
  ["of SGLang's native route alone", "sglang_generate", () => sglangServer],
  ["of llama.cpp", "llama_cpp_forcing", llamaCppServer],
];

describe.each(SERVERS)("a server %s", (_name, route, server) => {
  it("scores each token of a text, at its place, and drops the one that it was asked to make", async () => {
    const stage = scoringStage(server());
    const scores = await stage.score(TEXTS);
    for (const [at, score] of scores.entries()) {
      const text = TEXTS[at] ?? "";
      expect(score).toMatchObject({ text, route });
      const own = score.tokens.filter(({ end }) => end > 0);
      expect(own.map(({ offset, end }) => text.slice(offset, end))).toEqual(wordTokens(text));
      expect(own.slice(1).map(({ logprob }) => logprob)).toEqual(wordTokens(text).slice(1).map(wordLogprob));
      expect(score.tokens[0]?.logprob).toBeNull();
    }
    expect(stage.notes).toHaveLength(1);
  });

  it("is asked for the most probable tokens of each place where they are wanted", async () => {
    const [score] = await scoringStage(server()).score(["The cats sleep"], { top: 1 });
    expect(score?.tokens[0]?.top).toBeUndefined();
    expect(score?.tokens.slice(1).map(({ top }) => top)).toEqual(score?.tokens.slice(1).map(() => [{ text: " top0", logprob: -0.01 }]));
  });

  it("is probed once, whatever is asked at the same time and later", async () => {
    const stage = scoringStage(server());
    await Promise.all([stage.score(TEXTS), stage.score(["A b c"])]);
    const before = stage.sent.length;
    await stage.score(["A b c"]);
    // Only llama.cpp's way takes a request for each token.
    expect(stage.sent.length - before).toBe(route === "llama_cpp_forcing" ? 1 + 2 : 1);
  });
});

describe("a server that gives no log-probabilities of prompts", () => {
  it.each<readonly [string, ScoringServer]>([
    ["passes over `echo` and gives those of its own answer", deafServer],
    [
      "echoes the text without log-probabilities",
      echoServer({ change: (answer) => ({ ...answer, choices: answer.choices.map(({ text }, index) => ({ index, text })) }) }),
    ],
    ["gives every token the same", withLogprobs((list) => list.map((value, at) => (at === 0 ? null : value === null ? null : -1)))],
    ["gives zeros", withLogprobs((list) => list.map(() => 0))],
    ["gives one for what nothing stands before", withLogprobs((list) => list.map((value) => value ?? -1))],
    ["gives none to a token in the middle", withLogprobs((list) => list.map((value, at) => (at === 2 ? null : value)))],
    ["gives probabilities", withLogprobs((list) => list.map((value) => (value === null ? null : Math.exp(value))))],
    ["gives words", withLogprobs((list) => list.map((value) => (value === null ? null : (String(value) as unknown as number))))],
    ["gives numbers that are none", withLogprobs((list) => list.map((value) => (value === null ? null : ("NaN" as unknown as number))))],
    ["gives fewer log-probabilities than tokens", withLogprobs((list) => list.slice(1))],
    ["has no route for it", () => status(404, { detail: "Not Found" })],
    ["refuses all", () => status(400, { error: { message: "unknown field" } })],
    ["answers with no JSON", () => new Response('{"choices": [NaN]}', { headers: { "content-type": "application/json" } })],
  ])("is refused by name: one that %s", async (_name, server) => {
    const stage = scoringStage(server);
    await expect(stage.score(TEXTS)).rejects.toMatchObject({
      code: "prompt_logprobs_unsupported",
      name: "ModelError",
      message: expect.stringMatching(
        /^http:\/\/scores\.test\/v1 gives no log-probabilities of prompts for the model m.*`echo` with `logprobs` on \/completions: /,
      ),
      hint: expect.stringContaining("docs/likelihood.md"),
    });
    // It is not asked again by whoever comes next.
    const before = stage.sent.length;
    await expect(stage.score(TEXTS)).rejects.toMatchObject({ code: "prompt_logprobs_unsupported" });
    expect(stage.sent.length).toBe(before);
  });

  it("is refused by what it was answered last, not where nothing is known of it", async () => {
    await expect(scoringStage(() => status(401, { error: { message: "bad key" } })).score(TEXTS)).rejects.toMatchObject({ code: "auth_failed" });
    await expect(scoringStage(() => status(404, { error: { message: "no such model m" } })).score(TEXTS)).rejects.toMatchObject({ code: "model_not_found" });
    await expect(scoringStage(() => status(500, { error: { message: "boom" } })).score(TEXTS)).rejects.toMatchObject({ code: "provider_error" });
    await expect(scoringStage(() => status(429, { error: { message: "later" } }), { maxRequestRetries: 1 }).score(TEXTS)).rejects.toMatchObject({
      code: "rate_limited",
    });
    const page = scoringStage(() => new Response("<!doctype html><html><title>Sign in</title></html>", { headers: { "content-type": "text/html" } }));
    await expect(page.score(TEXTS)).rejects.toMatchObject({ code: "web_page" });
  });

  it("has no `score` where its client has no way to ask", async () => {
    const stage = scoringStage(echoServer(), { type: "anthropic_messages" });
    expect(stage.client.score).toBeUndefined();
    await expect(stage.score(TEXTS)).rejects.toMatchObject({ code: "prompt_logprobs_unsupported", message: expect.stringContaining("anthropic_messages") });
  });
});

/** An echo whose log-probabilities are changed on their way. */
function withLogprobs(change: (list: (number | null)[]) => (number | null)[]): ScoringServer {
  return echoServer({
    change: (answer) => ({
      ...answer,
      choices: answer.choices.map((choice) => ({
        ...choice,
        logprobs: { ...choice.logprobs, token_logprobs: change((choice.logprobs?.token_logprobs ?? []) as (number | null)[]) },
      })),
    }),
  });
}
