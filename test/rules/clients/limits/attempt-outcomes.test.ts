import { describe, expect, it, vi } from "vitest";
import type { Permits } from "../../../../src/clients/client.ts";
import { EndpointPause } from "../../../../src/clients/endpoint-pause.ts";
import { relayed } from "../../../../src/clients/relay/relayed.ts";
import { sleep } from "../../../../src/clients/transport/sleep.ts";
import type { RelayRoute } from "../../../../src/rollouts/types.ts";
import { answers, answersInPieces, portsFor } from "../../../support/clients/client-plays.ts";
import { VOICES } from "../../../support/clients/client-voices.ts";
import { ReadingGate } from "../../../support/clients/reading-gate.ts";
import { status, scoringStage } from "../../../support/clients/scoring-client.ts";
import { echoServer } from "../../../support/clients/scoring-servers.ts";
import {
  ask,
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
} from "../../../support/clients/scripted-endpoint.ts";

const USED = { input_tokens: 10, output_tokens: 3 };

describe.each(VOICES.map((voice) => [voice.type, voice] as const))("permits of %s are told", (type, voice) => {
  async function told(plays: readonly Play[], request: Parameters<typeof ask>[0] = {}, options: Parameters<typeof testClient>[1] = {}): Promise<ReadingGate> {
    await using server = await scriptedEndpoint(...plays);
    const gate = new ReadingGate();
    const { client } = testClient(server.url, { type, ...options, ports: { ...portsFor(voice, server.url), maxRequestRetries: 0, ...options.ports, gate } });
    await client.getResponse(ask(request)).catch(() => undefined);
    expect(gate.inFlight).toBe(0);
    return gate;
  }

  it.each([
    ["whole", answers(voice, { text: "four" }), {}],
    ["in pieces", answersInPieces(voice, { text: "four" }), { sampling_args: { stream: true } }],
  ])("that an answer (%s) was accepted, and what it used", async (_how, play, request) => {
    const { outcomes, costs } = await told([play], request);
    expect(outcomes).toEqual([expect.objectContaining({ kind: "accepted", used: USED, cost: costs[0], ms: expect.any(Number) })]);
  });

  it("nothing of what an answer says that it used, where that cannot be", async () => {
    for (const tokens of [10_000_001, Number.MAX_SAFE_INTEGER, -5, 1e308]) {
      const usage = { input_tokens: tokens, prompt_tokens: tokens, output_tokens: 3, completion_tokens: 3, cache_creation_input_tokens: tokens };
      const body = { ...voice.whole({ text: "four" }), usage };
      expect((await told([json(200, body)])).outcomes).toEqual([expect.objectContaining({ kind: "accepted", used: null })]);
    }
  });

  it.each([
    [429, "rate_limited"],
    [529, "overloaded"],
    [500, "failed"],
    [502, "missed"],
    [400, "failed"],
  ] as const)("that a refusal with %i was %s", async (code, kind) => {
    const { outcomes } = await told([json(code, voice.refusal(code, "no"))]);
    expect(outcomes).toEqual([expect.objectContaining({ kind, used: null, answered: true })]);
  });

  it("that no server was there", async () => {
    expect((await told([hangsUp])).kinds).toEqual(["missed"]);
    expect((await told([cutMidBody])).kinds).toEqual(["missed"]);
  });

  it("that a request was taken whose answer is none", async () => {
    expect((await told([json(200, "{}")])).kinds).toEqual(["accepted"]);
    expect((await told([json(200, "not json")])).kinds).toEqual(["accepted"]);
  });

  it("that one which was never answered says nothing", async () => {
    const late = await told([neverAnswers], {}, { ports: { timeouts: { request_ms: 50 } } });
    const enough = new AbortController();
    const givenUp = await told([() => enough.abort("enough")], { signal: enough.signal });
    for (const { outcomes } of [late, givenUp]) expect(outcomes).toEqual([expect.objectContaining({ kind: "failed", answered: false })]);
  });

  it.skipIf(voice.streamError === null)("of a refusal within an answer that had begun", async () => {
    const events = [...voice.stream({ text: "four" }).slice(0, 2), voice.streamError ?? {}];
    const { kinds } = await told(
      [
        (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
        },
      ],
      { sampling_args: { stream: true } },
    );
    expect(kinds).toEqual([type === "anthropic_messages" ? "overloaded" : "rate_limited"]);
  });
});

describe("permits are told", () => {
  it("of a wish to be left alone, in milliseconds, and that a server which says so is there", async () => {
    await using server = await scriptedEndpoint(
      refuses(503, { message: "busy" }, { "retry-after-ms": "40" }),
      refuses(429, { message: "no" }, { "retry-after": "0.03" }),
      says("ok"),
    );
    const gate = new ReadingGate();
    await testClient(server.url, { ports: { gate } }).client.getResponse(ask());
    expect(gate.outcomes).toEqual([
      expect.objectContaining({ kind: "overloaded", retry_after_ms: 40 }),
      expect.objectContaining({ kind: "rate_limited", retry_after_ms: 30 }),
      expect.objectContaining({ kind: "accepted", retry_after_ms: null }),
    ]);
  });

  it("what a request will use by all that was learned while it waited", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const gate = new ReadingGate(1);
    const { client } = testClient(server.url, { ports: { gate } });
    await Promise.all([client.getResponse(ask()), client.getResponse(ask())]);
    expect(gate.costs.map((cost) => cost?.output_tokens)).toEqual([1_000, 3]);
  });

  it("what headers and words say of the limit", async () => {
    const headers = {
      "x-ratelimit-limit-requests": "500",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "120ms",
      "retry-after-ms": "1",
    };
    const message = "Rate limit reached for m in organization org-x on requests per min (RPM): Limit 400, Used 400, Requested 1.";
    await using server = await scriptedEndpoint(refuses(429, { message }, headers), json(200, completion("ok"), headers));
    const gate = new ReadingGate();
    await testClient(server.url, { ports: { gate } }).client.getResponse(ask());
    const told = { requests: { limit: 500, remaining: 0, reset_ms: 120 } };
    expect(gate.outcomes).toEqual([
      expect.objectContaining({ kind: "rate_limited", told, named: "requests", named_limit: 400 }),
      // Looked at some times a second: twice within moments it says nothing new.
      expect.objectContaining({ kind: "accepted", told: null, named: null, named_limit: null }),
    ]);
  });

  it("of a refusal that is about the request and not the time: it says what the limit is, and nothing of how full it is", async () => {
    const message = "Request too large for m in organization org-x on tokens per min (TPM): Limit 30000, Requested 46000.";
    await using server = await scriptedEndpoint(refuses(429, { message }));
    const gate = new ReadingGate();
    const refused = testClient(server.url, { ports: { gate } }).client.getResponse(ask());
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: "rate_limited", hint: expect.stringContaining("-t") }));
    expect(gate.outcomes).toEqual([expect.objectContaining({ kind: "failed", named: "tokens", named_limit: 30_000 })]);
  });

  it.each([
    ["The engine is currently overloaded, please try again later", "overloaded"],
    ["slow down", "rate_limited"],
  ])("of a 429 with the words %s: %s", async (message, kind) => {
    await using server = await scriptedEndpoint(refuses(429, { message }), says("ok"));
    const gate = new ReadingGate();
    await testClient(server.url, { ports: { gate } }).client.getResponse(ask());
    expect(gate.kinds).toEqual([kind, "accepted"]);
  });

  it("that nothing was sent where a pause began while the permit was waited for", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const gate = new ReadingGate();
    const pause = new EndpointPause({ now: Date.now, sleep, random: () => 0 });
    gate.onPermit = () => {
      gate.onPermit = () => undefined;
      pause.hold(30);
    };
    await testClient(server.url, { ports: { gate, pause } }).client.getResponse(ask());
    expect(gate.kinds).toEqual(["unsent", "accepted"]);
    expect(gate.outcomes.map((outcome) => outcome?.cost)).toEqual(gate.costs);
    expect(server.seen).toHaveLength(1);
  });

  it("of requests that are passed on, whole and in pieces", async () => {
    const chat = VOICES[0];
    if (chat === undefined) throw new Error("there is a chat voice");
    await using server = await scriptedEndpoint(
      answers(chat, { text: "four" }),
      answersInPieces(chat, { text: "four" }),
      refuses(429),
      answers(chat, { text: "four" }),
    );
    const gate = new ReadingGate();
    const { client } = testClient(server.url, { ports: { gate } });
    for (const stream of [false, true, false])
      await relayed(client, { route: "chat/completions" as RelayRoute, body: { model: "x", messages: [], stream }, model: "m-1", state: {}, signal: null });
    expect(gate.outcomes.map((outcome) => [outcome?.kind, outcome?.used])).toEqual([
      ["accepted", USED],
      ["accepted", USED],
      ["rate_limited", null],
      ["accepted", USED],
    ]);
  });

  it("of texts that are scored, once for each request that carries them", async () => {
    const gate = new ReadingGate();
    const echo = echoServer();
    const stage = scoringStage((path, body) => (gate.outcomes.length === 3 ? status(429, { error: { message: "slow" } }) : echo(path, body)), { gate });
    await stage.score(["a first text to score", "a second text to score"]);
    expect(gate.kinds).toEqual([...stage.sent.map((_, at) => (at === 3 ? "rate_limited" : "accepted"))]);
    const last = gate.costs.at(-1);
    expect(last?.output_tokens).toBeLessThanOrEqual(2);
  });

  it("nothing where they read nothing", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const enter = vi.fn<Permits["enter"]>(async () => undefined);
    const leave = vi.fn<Permits["leave"]>();
    await testClient(server.url, { ports: { gate: { enter, leave } } }).client.getResponse(ask());
    expect([enter.mock.calls, leave.mock.calls]).toEqual([[[null, undefined]], [[]]]);
  });
});

describe("what a request is expected to cost", () => {
  const answering = (prompt_tokens: number, completion_tokens: number): Play =>
    json(200, completion("ok", { usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } }));

  it("is a quarter token for each character and what bounds the answer, before one has come", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const gate = new ReadingGate();
    await testClient(server.url, { ports: { gate } }).client.getResponse(ask({ sampling_args: { max_tokens: 300 } }));
    expect(gate.costs).toEqual([{ input_tokens: Math.ceil(JSON.stringify(server.seen[0]?.body).length / 4), output_tokens: 300 }]);
  });

  it("is learned from what the server counts, for each model by itself, and is no more than bounds the answer", async () => {
    await using server = await scriptedEndpoint(answering(40, 200));
    const gate = new ReadingGate();
    const { client } = testClient(server.url, { ports: { gate } });
    const request = (max_tokens: number | null, model = "m-1") => client.getResponse(ask({ model, sampling_args: { max_tokens } }));
    for (let at = 0; at < 5; at++) await request(null);
    expect(gate.costs.at(-1)).toEqual({ input_tokens: 40, output_tokens: 200 });
    await request(50);
    expect(gate.costs.at(-1)?.output_tokens).toBe(50);
    await request(5_000);
    expect(gate.costs.at(-1)?.output_tokens).toBe(200);
    await request(5_000, "m-2");
    expect(gate.costs.at(-1)?.output_tokens).toBe(5_000);
  });

  it("is all that bounds the answer where a refusal shows that the server takes it for that", async () => {
    const refusing = (requested: number): Play =>
      refuses(
        429,
        { message: `Rate limit reached for m on tokens per min (TPM): Limit 90000, Used 90000, Requested ${requested}.` },
        { "retry-after-ms": "1" },
      );
    await using server = await scriptedEndpoint(answering(40, 200), refusing(4_040), answering(40, 200), refusing(240), answering(40, 200));
    const gate = new ReadingGate();
    const { client } = testClient(server.url, { ports: { gate } });
    for (let at = 0; at < 3; at++) await client.getResponse(ask({ sampling_args: { max_tokens: 4_000 } }));
    expect(gate.costs.map((cost) => cost?.output_tokens)).toEqual([4_000, 200, 4_000, 4_000, 200]);
  });

  it("takes a picture for some thousand characters, however long it is", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const gate = new ReadingGate();
    const url = `data:image/png;base64,${"A".repeat(400_000)}`;
    await testClient(server.url, { ports: { gate } }).client.getResponse(
      ask({
        prompt: [
          {
            role: "user",
            content: [
              { type: "text", text: "what?" },
              { type: "image_url", image_url: { url } },
            ],
          },
        ],
      }),
    );
    expect(gate.costs[0]?.input_tokens).toBeLessThan(2_000);
  });
});
