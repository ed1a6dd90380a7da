import { describe, expect, it } from "vitest";
import { Gate } from "../../../../src/clients/gate.ts";
import { echoServer, wordTokens } from "../../../support/clients/scoring-servers.ts";
import { type ScoringServer, scoringStage, status } from "../../../support/clients/scoring-client.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `text number ${at} of many`);
const sizes = (sent: readonly { readonly body: { readonly prompt?: unknown } }[]): number[] =>
  sent.map(({ body }) => (Array.isArray(body.prompt) ? body.prompt.length : 1));

describe("texts that are scored at the same time", () => {
  it("go out together, whoever asks, as many as a request may carry, and each comes back to whom it is", async () => {
    const stage = scoringStage(echoServer(), { textsPerRequest: 8 });
    const texts = numbered(20);
    const scores = await Promise.all(texts.map((text, at) => stage.score([text], { state: { example_id: at } })));
    expect(scores.map(([score]) => score?.text)).toEqual(texts);
    expect(scores.map(([score]) => score?.tokens.length)).toEqual(texts.map((text) => wordTokens(text).length));
    expect(sizes(stage.sent.slice(1))).toEqual([8, 8, 4]);
    // No header says of all what is true of one.
    expect(stage.sent.slice(1).map(({ headers }) => headers.get("x-session-id"))).toEqual([null, null, null]);
  });

  it("take one permit a request, and join the one that waits for its permit", async () => {
    const gate = new Gate(1);
    let most = 0;
    const server = echoServer();
    const stage = scoringStage(
      async (path, body) => {
        most = Math.max(most, gate.inFlight);
        return await server(path, body);
      },
      { gate },
    );
    await stage.score(["to be probed before"]);
    await gate.enter();
    const early = stage.score(["the first to ask"]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const late = stage.score(["one that came while it waited"]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    gate.leave();
    await Promise.all([early, late]);
    expect(sizes(stage.sent).at(-1)).toBe(2);
    expect(most).toBe(1);
    expect(gate.inFlight).toBe(0);
  });

  it("begin when their request has its permit, once", async () => {
    const stage = scoringStage(echoServer());
    let begun = 0;
    const onBegin = (): void => void begun++;
    await Promise.all(numbered(3).map((text) => stage.score([text], { onBegin })));
    expect(begun).toBe(3);
  });

  it("are the failure of each where their request failed", async () => {
    let asked = 0;
    const server = echoServer();
    const stage = scoringStage((path, body) => (++asked > 1 ? status(401, { error: { message: "revoked" } }) : server(path, body)));
    const results = await Promise.allSettled(numbered(4).map((text) => stage.score([text])));
    expect(results.map((result) => result.status === "rejected" && result.reason.code)).toEqual(Array(4).fill("auth_failed"));
    expect(asked).toBe(2);
  });

  it("do not fail by one among them that is too long", async () => {
    const server = echoServer();
    const tooLong: ScoringServer = (path, body) =>
      JSON.stringify(body.prompt).includes("number 5")
        ? status(400, { error: { message: "This model's maximum context length is 8 tokens" } })
        : server(path, body);
    const stage = scoringStage(tooLong);
    const results = await Promise.allSettled(numbered(10).map((text) => stage.score([text])));
    expect(results.flatMap((result, at) => (result.status === "rejected" ? [[at, result.reason.name]] : []))).toEqual([[5, "OverlongPromptError"]]);
  });

  it("go one by one to a server that takes no list", async () => {
    const server = echoServer();
    const stage = scoringStage((path, body) => (Array.isArray(body.prompt) ? status(500, { error: { message: "AssertionError" } }) : server(path, body)));
    const scores = await stage.score(numbered(3));
    expect(scores.map(({ text }) => text)).toEqual(numbered(3));
    expect(sizes(stage.sent).slice(-3)).toEqual([1, 1, 1]);
    expect(stage.notes[0]).toContain("(one text a request)");
  });

  it("are divided where they have more characters than an answer has room for", async () => {
    const stage = scoringStage(echoServer());
    await stage.score(Array.from({ length: 6 }, (_, at) => `${at} ${"word ".repeat(2_000)}`));
    expect(sizes(stage.sent.slice(1))).toEqual([2, 2, 2]);
  });

  it("do not go together where a header of the run tells them apart", async () => {
    const stage = scoringStage(echoServer(), { headers_from_state: { "X-Tenant": "tenant" } });
    await Promise.all(["a", "b", "a"].map((tenant, at) => stage.score([`text ${at} of ${tenant} here`], { state: { tenant } })));
    expect(stage.sent.slice(1).map(({ headers, body }) => [headers.get("x-tenant"), sizes([{ body }])[0]])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });

  it("are given up one by one, and their request with the last of them", async () => {
    const held: { signal?: AbortSignal } = {};
    let asked = 0;
    const server = echoServer();
    const stage = scoringStage(server, {
      fetch: async (_url, init) => {
        const body = JSON.parse(String(init?.body));
        if (++asked === 1) return Response.json(await server("/v1/completions", body));
        held.signal = init?.signal ?? undefined;
        return await new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
      },
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const first = stage.score(["the first to ask"], { signal: one.signal });
    const second = stage.score(["the second to ask"], { signal: two.signal });
    const [a, b] = [expect(first).rejects.toBe("enough"), expect(second).rejects.toBe("also enough")];
    while (held.signal === undefined) await new Promise((resolve) => setImmediate(resolve));
    one.abort("enough");
    await a;
    expect(held.signal.aborted).toBe(false);
    two.abort("also enough");
    await b;
    expect(held.signal.aborted).toBe(true);
  });

  it("are not the text that is empty, which has no tokens and asks nobody", async () => {
    const stage = scoringStage(echoServer());
    expect((await stage.score(["", "a few more words"])).map(({ tokens }) => tokens.length)).toEqual([0, 4]);
    expect(sizes(stage.sent)).toEqual([2, 1]);
  });

  it("are retried as any request, and what they took adds up", async () => {
    let asked = 0;
    const server = echoServer();
    const stage = scoringStage((path, body) => (++asked === 2 ? status(503, { error: { message: "busy" } }) : server(path, body)));
    const texts = numbered(7);
    const scores = await stage.score(texts);
    const tokens = texts.reduce((sum, text) => sum + wordTokens(text).length, 0);
    const usage = scores.map((score) => score.usage);
    expect(usage.reduce((sum, each) => sum + (each?.prompt_tokens ?? 0), 0)).toBe(tokens);
    expect(usage.reduce((sum, each) => sum + (each?.completion_tokens ?? 0), 0)).toBe(7);
    expect(asked).toBe(3);
  });
});
