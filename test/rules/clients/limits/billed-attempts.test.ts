import { describe, expect, it } from "vitest";
import type { AttemptCost, AttemptSpent, Permits } from "../../../../src/clients/client.ts";
import { requestBound } from "../../../../src/clients/limits/request-bound.ts";
import { boundNano, nanoOf, type RequestBound } from "../../../../src/prices/request-bound.ts";
import { costOf } from "../../../../src/prices/price.ts";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { answers, answersInPieces, portsFor } from "../../../support/clients/client-plays.ts";
import { VOICES } from "../../../support/clients/client-voices.ts";
import {
  ask,
  completion,
  cutMidBody,
  hangsUp,
  json,
  neverAnswers,
  type Play,
  scriptedEndpoint,
  testClient,
} from "../../../support/clients/scripted-endpoint.ts";

/** Permits that somebody pays for: what each attempt could have cost, and came to. */
class PayingGate implements Permits {
  readonly reads = true;
  readonly bounds: RequestBound[] = [];
  readonly spent: AttemptSpent[] = [];

  async enter(_signal?: AbortSignal | null, cost?: AttemptCost): Promise<void> {
    if (cost?.bound !== undefined) this.bounds.push(cost.bound);
  }

  leave(_outcome?: unknown, cost?: AttemptCost): void {
    if (cost?.spent !== undefined) this.spent.push(cost.spent);
  }
}

describe.each(VOICES.map((voice) => [voice.type, voice] as const))("who pays for a request of %s is told", (_type, voice) => {
  async function paid(plays: readonly Play[], request: Parameters<typeof ask>[0] = {}, options: Parameters<typeof testClient>[1] = {}): Promise<PayingGate> {
    await using server = await scriptedEndpoint(...plays);
    const gate = new PayingGate();
    const ports = { ...portsFor(voice, server.url), maxRequestRetries: 0, ...options.ports, gate };
    await testClient(server.url, { type: voice.type, ...options, ports })
      .client.getResponse(ask(request))
      .catch(() => undefined);
    return gate;
  }

  it("what its answer is billed for, whole and in pieces, and no more than it was told before", async () => {
    for (const [play, stream] of [
      [answers(voice, { text: "four" }), false],
      [answersInPieces(voice, { text: "four" }), true],
    ] as const) {
      const { bounds, spent } = await paid([play], { sampling_args: { max_tokens: 50, ...(stream ? { stream } : {}) } });
      expect(spent).toEqual([{ kind: "billed", usage: expect.objectContaining({ input_tokens: 10, output_tokens: 3 }) }]);
      expect(bounds).toEqual([expect.objectContaining({ output_tokens: 50, open: null, input_rate: voice.type === "anthropic_messages" ? 1.25 : 1 })]);
      expect(bounds[0]?.input_tokens).toBeGreaterThan(1_024);
    }
  });

  it("that a refusal comes to nothing, and one of a gateway that gave up to nobody knows what", async () => {
    for (const code of [400, 429, 500, 503, 529]) expect((await paid([json(code, voice.refusal(code, "no"))])).spent).toEqual([{ kind: "nothing" }]);
    for (const code of [408, 504, 524]) expect((await paid([json(code, voice.refusal(code, "no"))])).spent).toEqual([{ kind: "unseen" }]);
  });

  it("that nobody saw the end of one that broke off, timed out, was let go or has no word of its tokens", async () => {
    const { usage: _, ...whole } = voice.whole({ text: "four" }) as Record<string, unknown>;
    for (const play of [cutMidBody, hangsUp, json(200, "not json"), json(200, whole)]) expect((await paid([play])).spent).toEqual([{ kind: "unseen" }]);
    expect((await paid([neverAnswers], {}, { ports: { timeouts: { request_ms: 50 } } })).spent).toEqual([{ kind: "unseen" }]);
    const enough = new AbortController();
    expect((await paid([() => enough.abort("enough")], { signal: enough.signal })).spent).toEqual([{ kind: "unseen" }]);
  });
});

describe("a limit of tokens that its server passes over", () => {
  async function asked(base_url: string, answer: (body: JsonObject) => number, times: number) {
    const gate = new PayingGate();
    const bodies: JsonObject[] = [];
    const fetch = (async (_url: unknown, init: RequestInit) => {
      const body = JSON.parse(init.body as string) as JsonObject;
      bodies.push(body);
      const tokens = answer(body);
      return Response.json(completion("long", { usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: 1 + tokens } }));
    }) as typeof globalThis.fetch;
    const { client } = testClient(base_url, { ports: { gate, fetch } });
    for (let time = 0; time < times; time++) await client.getResponse(ask({ sampling_args: { max_tokens: 64 } }));
    await client.relay?.({ route: "chat/completions", model: "m", body: { max_completion_tokens: 64, messages: [] }, state: {}, signal: null });
    return { bodies, open: gate.bounds.map(({ open }) => open) };
  }

  it("bounds nothing any more once both of its names were", async () => {
    const { open } = await asked("https://own.example/v1", () => 2_000, 3);
    const passed = "its server passes over the limit of tokens";
    expect(open).toEqual([null, null, passed, passed]);
  });

  it("is told from the first request on by the name that DeepSeek has for it, and bounds nothing by the other", async () => {
    const { bodies, open } = await asked("https://api.deepseek.com/v1", ({ max_tokens }) => (max_tokens as number | undefined) ?? 8_000, 2);
    expect(bodies[0]).toMatchObject({ max_tokens: 64 });
    expect(bodies[0]).not.toHaveProperty("max_completion_tokens");
    expect(open).toEqual([null, null, "its server passes over the limit of tokens"]);
  });
});

describe("a request that was never sent", () => {
  it("comes to nothing", async () => {
    const gate = new PayingGate();
    const connections: Permits = { enter: () => Promise.reject(new Error("it was let go while it waited")), leave: () => undefined };
    await testClient("http://127.0.0.1:9/v1", { ports: { gate, connections, maxRequestRetries: 0 } })
      .client.getResponse(ask())
      .catch(() => undefined);
    expect(gate.spent).toEqual([{ kind: "nothing" }]);
  });

  it("since nobody listens there comes to nothing", async () => {
    const gate = new PayingGate();
    await testClient("http://127.0.0.1:9/v1", {
      ports: {
        gate,
        maxRequestRetries: 0,
        fetch: () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) })),
      },
    })
      .client.getResponse(ask())
      .catch(() => undefined);
    expect(gate.spent).toEqual([{ kind: "nothing" }]);
  });
});

const boundOf = (body: JsonObject, writesCache = false): RequestBound => requestBound("m", JSON.stringify(body), body, writesCache);
const bytes = (body: JsonObject): number => new TextEncoder().encode(JSON.stringify(body)).length;

describe("the most that a request can be billed for", () => {
  it("has a token for each byte of its text, whatever language it is of, and some that a server adds", () => {
    for (const content of ["four", "Виж това", "四は好き", "🙂🙂", '"\\\u0000']) {
      const body = { max_tokens: 7, messages: [{ role: "user", content }] };
      expect(boundOf(body)).toEqual({ model: "m", input_tokens: bytes(body) + 1_024, input_rate: 1, output_tokens: 7, open: null });
    }
  });

  it.each([
    ["chat", (data: string) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } })],
    ["Responses", (data: string) => ({ type: "input_image", image_url: `data:image/png;base64,${data}` })],
    ["Anthropic", (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } })],
  ])("counts a picture (%s) by itself and not by its bytes, and what is no picture by its bytes", (_name, part) => {
    const sent = (data: string): number => boundOf({ messages: [{ role: "user", content: [part(data) as never] }] }).input_tokens;
    expect(sent("A".repeat(1_000_000))).toBeLessThan(53_000);
    expect(sent("A".repeat(1_000_000))).toBeGreaterThan(50_000);
    expect(sent("a text, and no picture ".repeat(10_000))).toBeGreaterThan(230_000);
  });

  it("counts documents and films by what they can come to, and sounds by their bytes", () => {
    expect(
      boundOf({ messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url: "https://x.example/a.pdf" } }] }] }).input_tokens,
    ).toBeGreaterThan(500_000);
    const sound = { type: "input_audio", input_audio: { data: "A".repeat(30_000), format: "wav" } };
    expect(boundOf({ messages: [{ role: "user", content: [sound] }] }).input_tokens).toBeGreaterThan(30_000);
  });

  it("has the largest of the limits that it names, for each answer that is asked for", () => {
    expect(boundOf({ max_tokens: 10, max_completion_tokens: 20 }).output_tokens).toBe(20);
    expect(boundOf({ input: "four", max_output_tokens: 10 }).output_tokens).toBe(10);
    expect(boundOf({ max_tokens: 10, n: 3 }).output_tokens).toBe(30);
    expect(boundOf({ max_tokens: 10, prompt: ["a", "b"], best_of: 2 }).output_tokens).toBe(40);
    expect(boundOf({ max_tokens: 10, prompt: [1, 2, 3] }).output_tokens).toBe(10);
    expect(boundOf({ messages: [] }).output_tokens).toBeNull();
  });

  it("has no limit under the name that another route has for it, which servers pass over", () => {
    expect(boundOf({ messages: [], max_output_tokens: 10 }).output_tokens).toBeNull();
    expect(boundOf({ messages: [], max_tokens: 20, max_output_tokens: 900 }).output_tokens).toBe(20);
    expect(boundOf({ input: [], max_tokens: 10 }).output_tokens).toBeNull();
    expect(boundOf({ messages: [], input: "", max_output_tokens: 1 }).output_tokens).toBeNull();
    expect(boundOf({ input: "", messages: [], max_tokens: 1 }).output_tokens).toBeNull();
    expect(boundOf({ messages: [], n_predict: 1, sampling_params: { max_new_tokens: 1 } }).output_tokens).toBeNull();
  });

  it.each([
    [{ web_search_options: {} }, "web_search_options"],
    [{ previous_response_id: "r" }, "previous_response_id"],
    [{ search_parameters: { mode: "on" } }, "search_parameters"],
    [{ models: ["a-dearer-one"] }, "models"],
    [{ prompt: { id: "pmpt_1", version: "2" } }, "prompt"],
    [{ n: "8" }, "n"],
    [{ service_tier: "priority" }, "service_tier"],
    [{ service_tier: "performance" }, "service_tier"],
    [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }, 'the tool "web_search_20250305"'],
  ])("is nothing that can be told where a server adds to it: %j", (field, open) => {
    const bound = boundOf({ max_tokens: 10, ...field });
    expect(bound.open).toBe(open);
    expect(boundNano(bound, { input_usd_per_mtok: 1, output_usd_per_mtok: 1 })).toBeNull();
  });

  it("is told of tools that its caller answers", () => {
    const tools: JsonObject[] = [
      { type: "function", function: { name: "f" } },
      { name: "g", input_schema: {} },
    ];
    expect(boundOf({ max_tokens: 10, tools }).open).toBeNull();
  });

  it("has input at the dearest that it may be, a cache that is written among it", () => {
    const price = { input_usd_per_mtok: 1, output_usd_per_mtok: 2, cached_input_usd_per_mtok: 3 };
    const tokens = { model: "m", input_tokens: 100, output_tokens: 10, open: null };
    expect(boundNano({ ...tokens, input_rate: 1 }, price)).toBe(100 * 3_000 + 10 * 2_000);
    expect(boundNano({ ...tokens, input_rate: 4 }, price)).toBe(100 * 4_000 + 10 * 2_000);
    expect(boundOf({ max_tokens: 1 }, true).input_rate).toBe(1.25);
    expect(boundOf({ max_tokens: 1, system: [{ type: "text", text: "x", cache_control: { type: "ephemeral", ttl: "1h" } }] }).input_rate).toBe(2);
  });

  it("is never less than what its tokens come to, in nano-dollars", () => {
    for (const rate of [0.05, 0.1, 0.3, 1.1, 2.5, 15]) {
      const price = { input_usd_per_mtok: rate, output_usd_per_mtok: rate * 5 };
      for (let n = 1; n < 2_000; n += 37) {
        const bound = boundNano({ model: "m", input_tokens: n, input_rate: 1, output_tokens: 3 * n, open: null }, price) ?? 0;
        const cost = nanoOf(costOf({ input_tokens: n, output_tokens: 3 * n }, price));
        expect(bound).toBeGreaterThanOrEqual(cost);
        expect(bound - cost).toBeLessThanOrEqual(1);
      }
    }
  });
});
