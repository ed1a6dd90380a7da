import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/clients/create-client.ts";
import { relayed } from "../../../src/clients/relay/relayed.ts";
import { modelServer } from "../support/model-server.ts";

const request = { route: "chat/completions", model: "relayed", state: {}, signal: null } as const;
const BODY = { messages: [{ role: "user", content: "abc" }] };

const clientOf = (answer: () => Response | Promise<Response>, ports: object = {}) =>
  createClient(
    "openai_chat_completions",
    { base_url: "https://model.example/v1", api_key: "sk-model" },
    { fetch: async () => answer(), sleep: async () => undefined, ...ports },
  );

/** A body that comes in pieces of seven bytes, so that characters and events are cut; `breaks`: and then breaks off. */
function pieces(text: string, breaks = false): { readonly body: ReadableStream<Uint8Array>; readonly held: { letGo: boolean } } {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const held = { letGo: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return breaks ? controller.error(new Error("cut")) : controller.close();
      controller.enqueue(bytes.slice(at, at + 7));
      at += 7;
    },
    cancel() {
      held.letGo = true;
    },
  });
  return { body, held };
}
const chunk = (content: string, finish: string | null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
const streamed = (body: ReadableStream<Uint8Array>): Response => new Response(body, { headers: { "content-type": "text/event-stream" } });

describe("a request that is passed on by an executor in workerd", () => {
  it("has the answer of a real server", async () => {
    await modelServer.play({ answer: "reverse", latency_ms: 1 });
    const client = createClient("openai_chat_completions", { base_url: modelServer.baseUrl, api_key: "sk-model" });
    const { status, text } = await relayed(client, { ...request, body: BODY });
    expect([status, JSON.parse(text)]).toMatchObject([200, { choices: [{ message: { content: "cba" } }] }]);
    expect(await modelServer.stats("relayed")).toMatchObject({ total: 1 });
  });

  it("has the text of a streamed answer as it came, cut where it likes, and lets go of one that reports an error or grows too long", async () => {
    const whole = `${chunk("ü 漢 😀", null)}${chunk("", "stop")}data: [DONE]\n\n`;
    const body = { ...BODY, stream: true };
    expect(
      (
        await relayed(
          clientOf(() => streamed(pieces(whole).body)),
          { ...request, body },
        )
      ).text,
    ).toBe(whole);

    const answers = [pieces(chunk("f", null), true), pieces(whole)];
    expect(
      (
        await relayed(
          clientOf(() => streamed(answers.shift()?.body ?? new ReadableStream())),
          { ...request, body },
        )
      ).text,
    ).toBe(whole);

    const failed = pieces(`data: {"error": {"message": "no", "code": 400}}\n\n${chunk("x".repeat(500), null).repeat(50)}`);
    await expect(
      relayed(
        clientOf(() => streamed(failed.body)),
        { ...request, body },
      ),
    ).rejects.toMatchObject({ code: "bad_request" });
    expect(failed.held.letGo).toBe(true);

    const long = pieces(chunk("x".repeat(500), null).repeat(50));
    await expect(
      relayed(
        clientOf(() => streamed(long.body), { relayedCharacters: 5_000 }),
        { ...request, body },
      ),
    ).rejects.toMatchObject({ code: "row_too_large" });
    expect(long.held.letGo).toBe(true);
  });
});
