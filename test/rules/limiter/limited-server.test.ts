import { afterEach, describe, expect, it } from "vitest";
import type { LimitedFigures } from "../../support/model-server/limited/limited-gate.ts";
import type { ScriptInput } from "../../support/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(script: ScriptInput): Promise<ModelServer> {
  server = await startModelServer(script);
  return server;
}

async function ask({ url }: ModelServer, body: object = {}): Promise<Response> {
  const messages = [{ role: "user", content: "abc" }];
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify({ model: "m", messages, ...body }) });
  await response.text();
  return response;
}

const figures = async ({ controlUrl }: ModelServer): Promise<LimitedFigures> => (await (await fetch(`${controlUrl}/limited`)).json()) as LimitedFigures;

describe("the scripted model server with hidden limits", () => {
  it("refuses what is above them, says it in headers, and counts who asked", async () => {
    const limits = [{ kind: "requests", limit: 2, meter: "sliding_minute" }] as const;
    const limited = await start({ limited: { limits, headers: "openai", retry_after: "exact", names_limit: true } });
    const first = await ask(limited, { user: "a" });
    await ask(limited);
    const refused = await ask(limited);
    expect([first.status, first.headers.get("x-ratelimit-limit-requests"), first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "2", "1"]);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 60]);
    expect(await figures(limited)).toMatchObject({ taken: 2, refused: 1, because: { requests: 1 }, by: { a: 1, m: 1 } });
    expect(limited.ledger.stats().outcomes).toEqual({ answered: 2, limited: 1 });
  });

  it("has requests in flight until they are answered or their client is gone", async () => {
    const limited = await start({ latency_ms: 60_000, limited: { limits: [{ kind: "concurrent", limit: 1 }] } });
    const leaving = new AbortController();
    const messages = [{ role: "user", content: "abc" }];
    const left = fetch(`${limited.url}/chat/completions`, { method: "POST", body: JSON.stringify({ model: "m", messages }), signal: leaving.signal });
    while ((await figures(limited)).taken < 1);
    expect((await ask(limited)).status).toBe(429);
    leaving.abort();
    await expect(left).rejects.toThrow();
    while (limited.ledger.stats().outcomes["aborted"] === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await figures(limited)).toMatchObject({ taken: 1, refused: 1, most_in_flight: 1 });
  });

  it("refuses a script whose limits it does not understand, by the field", async () => {
    await expect(start({ limited: { limits: [{ kind: "requests", limit: 0, meter: "sliding_minute" }] } })).rejects.toThrow("limited.limits.0.limit");
  });
});
