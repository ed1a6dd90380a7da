import { describe, expect, it, vi } from "vitest";
import { backoff } from "../../../src/clients/transport/request-retry.ts";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import { ROLLOUT_ERRORS } from "../../../src/errors/codes.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import {
  ask,
  completion,
  cutMidBody,
  hangsUp,
  json,
  lateOnceHeard,
  neverAnswers,
  type Play,
  refuses,
  says,
  scriptedEndpoint,
  testClient,
} from "../../support/clients/scripted-endpoint.ts";

/** What a request of these plays ends in: the answer's text, or the error. */
async function outcome(plays: Play[], options: Parameters<typeof testClient>[1] = {}) {
  await using server = await scriptedEndpoint(...plays);
  const test = testClient(server.url, options);
  const result = await test.client.getResponse(ask()).catch((thrown: unknown) => thrown);
  expect([test.gate.inFlight, test.gate.waiting]).toEqual([0, 0]);
  return { result, error: result instanceof EdgewiseError ? result : null, calls: server.seen.length, url: server.url, ...test };
}

const text = (result: unknown): unknown => (result as { message?: { content?: unknown } }).message?.content;

describe("a request that may be repeated", () => {
  it.each([
    ["408", refuses(408), "provider_error"],
    ["409", refuses(409), "provider_conflict"],
    ["429", refuses(429), "rate_limited"],
    ["500", refuses(500), "provider_error"],
    ["503 as a page", json(503, "<html>overloaded</html>", { "content-type": "text/html" }), "provider_error"],
    ["a connection closed before the answer", hangsUp, "connection_cut"],
    ["a connection cut in the middle of the answer", cutMidBody, "connection_cut"],
  ])("%s: is answered at the third attempt, each retry told", async (_what, play, code) => {
    const { result, calls, retries, slept } = await outcome([play, play, says("at last")]);
    expect([text(result), calls]).toEqual(["at last", 3]);
    expect(retries.map((notice) => [notice.code, notice.attempt])).toEqual([
      [code, 1],
      [code, 2],
    ]);
    expect(slept).toEqual([500, 1_000]);
  });

  it("is given up after ten retries, as the error of the last attempt", async () => {
    const { error, calls, retries } = await outcome([refuses(502, { message: "bad gateway" })]);
    expect([calls, retries.length]).toEqual([11, 10]);
    expect(error).toMatchObject({
      code: "provider_error",
      message: expect.stringMatching(/^http:.*\/v1, model m-1: HTTP 502: bad gateway \(after 11 attempts\)$/),
    });
    expect(error?.cause).toMatchObject({ name: "InternalServerError" });
  });

  it("is given up at once when retries are off", async () => {
    expect(await outcome([refuses(500)], { ports: { maxRequestRetries: 0 } })).toMatchObject({ calls: 1, slept: [] });
  });

  it("waits twice as long each time up to 8 s, a quarter less at most", () => {
    expect([0, 1, 2, 3, 4, 9].map((attempt) => backoff(attempt, 0))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    expect(backoff(4, 0.999_999)).toBeGreaterThan(6_000 - 1);
    expect(backoff(0, 1)).toBe(375);
  });

  it("follows the server's own word on repeating, but not into a refusal for good", async () => {
    expect((await outcome([refuses(500, {}, { "x-should-retry": "false" })])).calls).toBe(1);
    expect((await outcome([refuses(400, {}, { "x-should-retry": "true" }), says("ok")])).calls).toBe(2);
    expect((await outcome([refuses(401, {}, { "x-should-retry": "true" })])).calls).toBe(1);
  });

  it("that nobody answers on that port is a failed connection", async () => {
    const server = await scriptedEndpoint(says("x"));
    await server[Symbol.asyncDispose]();
    const { client, retries } = testClient(server.url, { ports: { maxRequestRetries: 2 } });
    await expect(client.getResponse(ask())).rejects.toMatchObject({ code: "connection_failed" });
    expect(retries).toHaveLength(2);
  });
});

describe("a request that is not repeated", () => {
  it.each([
    ["401", refuses(401, { message: "Incorrect API key" }), "auth_failed"],
    ["403", refuses(403), "auth_failed"],
    ["402", refuses(402), "payment_required"],
    ["404", refuses(404, { message: "no such model", code: "model_not_found" }), "model_not_found"],
    ["400 that names the model", refuses(400, { code: "model_not_found" }), "model_not_found"],
    ["429 for want of quota, by code", refuses(429, { code: "insufficient_quota" }), "insufficient_quota"],
    ["429 for want of quota, by type", refuses(429, { type: "insufficient_quota" }, { "retry-after": "1" }), "insufficient_quota"],
  ] as const)("%s ends the run and names key variable, URL and model", async (_what, play, code) => {
    const { error, calls, url } = await outcome([play]);
    expect([calls, error?.code, ROLLOUT_ERRORS[code].fatal]).toEqual([1, code, true]);
    for (const part of ["TEST_KEY", url, "m-1"]) expect(error?.message).toContain(part);
    expect(error?.hint).toBeTruthy();
  });

  it.each([
    ["malformed JSON", json(200, '{"id": "c1", "choices": [{'), "malformed_response"],
    ["no choices", json(200, { id: "c1", choices: [] }), "invalid_response"],
    ["two choices", json(200, { id: "c1", choices: [{}, {}] }), "invalid_response"],
    ["choices null", json(200, { id: "c1", choices: null }), "empty_response"],
    ["null", json(200, "null"), "empty_response"],
    ["nothing", json(200, ""), "empty_response"],
    ["an empty message", json(200, completion("")), "empty_response"],
    ["a bad request", refuses(400, { message: "temperature must be below 2" }), "bad_request"],
    ["422", json(422, { detail: "unprocessable" }), "bad_request"],
  ])("%s is an error of the answer", async (_what, play, code) => {
    const { error, calls } = await outcome([play]);
    expect([calls, error?.code]).toEqual([1, code]);
  });

  it("an error in the body of a 200 is what its own status says", async () => {
    const { retries, result } = await outcome([json(200, { error: { code: 429, message: "upstream is busy" } }), says("ok")]);
    expect([text(result), retries[0]?.code, retries[0]?.message]).toEqual(["ok", "rate_limited", "HTTP 429: upstream is busy"]);
    expect((await outcome([json(200, { error: { message: "odd" } })])).error?.code).toBe("invalid_response");
  });

  it.each([
    "This model's maximum context length is 8192 tokens.",
    "The prompt is longer than the model's context length",
    "input exceeds the configured limit",
    '{"code":"prompt_too_long"}',
    "requested more tokens than the context length allows",
  ])("a prompt that does not fit is told from a bad request: %s", async (message) => {
    expect((await outcome([refuses(400, { message })])).result).toBeInstanceOf(OverlongPromptError);
    expect((await outcome([json(400, { object: "error", message })])).result).toBeInstanceOf(OverlongPromptError);
    expect((await outcome([refuses(422, { message })])).error?.code).toBe("bad_request");
  });

  it("an answer above the limit is not read to its end", async () => {
    const endless: Play = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    expect((await outcome([endless])).error?.code).toBe("row_too_large");
  });
});

describe("Retry-After", () => {
  const soon = (): string => new Date(Date.now() + 2_000).toUTCString();

  it.each([
    ["seconds", { "retry-after": "0.3" }, 300],
    ["milliseconds", { "retry-after-ms": "150", "retry-after": "60" }, 150],
  ])("in %s replaces the wait of the retry", async (_form, headers, ms) => {
    const before = Date.now();
    const { result, slept, retries } = await outcome([refuses(429, {}, headers), says("ok")]);
    expect([text(result), slept]).toEqual(["ok", []]);
    const after = Date.now();
    expect(after - before).toBeGreaterThanOrEqual(ms - 20);
    // So long after the refusal, which nobody has the time of but that it came in between.
    expect(retries[0]?.until).toBeGreaterThanOrEqual(before + ms);
    expect(retries[0]?.until).toBeLessThanOrEqual(after + 20);
  });

  it("as a date is counted from now", async () => {
    let date = "";
    const busy: Play = (response, request) => {
      date = soon();
      refuses(503, {}, { "retry-after": date })(response, request);
    };
    const { retries } = await outcome([busy, says("ok")]);
    const until = retries[0]?.until ?? 0;
    expect(until).toBeLessThanOrEqual(Date.now());
    expect(Math.abs(until - Date.parse(date))).toBeLessThan(500);
  });

  it("of 0, or that is no time, leaves the usual wait", async () => {
    for (const value of ["0", "soon", ""]) expect((await outcome([refuses(429, {}, { "retry-after": value }), says("ok")])).slept).toEqual([500]);
  });

  it("stops every caller of the endpoint, without holding a permit", async () => {
    await using server = await scriptedEndpoint(refuses(429, {}, { "retry-after-ms": "400" }), says("ok"));
    const { client, gate, pause } = testClient(server.url, { permits: 2 });
    const first = client.getResponse(ask());
    await vi.waitFor(() => expect(pause.until).not.toBeNull(), 20_000);
    const others = [client.getResponse(ask()), client.getResponse(ask())];
    await vi.waitFor(() => expect(pause.waiting).toBe(3), 20_000);
    expect([gate.inFlight, server.seen.length]).toEqual([0, 1]);
    await Promise.all([first, ...others]);
    const [refused, ...after] = server.seen.map(({ at }) => at);
    expect(after).toHaveLength(3);
    for (const at of after) expect(at - (refused ?? 0)).toBeGreaterThanOrEqual(380);
  });

  it("keeps back those who were still waiting for a permit", async () => {
    await using server = await scriptedEndpoint(refuses(429, {}, { "retry-after-ms": "300" }), says("ok"));
    const { client } = testClient(server.url, { permits: 1 });
    await Promise.all([client.getResponse(ask()), client.getResponse(ask())]);
    const [refused = 0, ...after] = server.seen.map(({ at }) => at);
    for (const at of after) expect(at - refused).toBeGreaterThanOrEqual(280);
  });
});

describe("permits", () => {
  it("are never exceeded at the server, and given back after every attempt", async () => {
    const slow: Play = (response) => void setTimeout(() => says("ok")(response, undefined as never), 30);
    await using server = await scriptedEndpoint(slow);
    const { client, gate } = testClient(server.url, { permits: 3 });
    await Promise.all(Array.from({ length: 12 }, () => client.getResponse(ask())));
    expect(server.load.most).toBe(3);
    expect(gate.inFlight).toBe(0);
  });

  it("are not held through the wait before a retry", async () => {
    await using server = await scriptedEndpoint(refuses(500), says("second"), says("first, again"));
    const wait = Promise.withResolvers<void>();
    const { client, gate } = testClient(server.url, { permits: 1, ports: { sleep: () => wait.promise } });
    const first = client.getResponse(ask());
    await vi.waitFor(() => expect(server.seen.length).toBe(1), 20_000);
    expect(text(await client.getResponse(ask()))).toBe("second");
    expect(gate.inFlight).toBe(0);
    wait.resolve();
    expect(text(await first)).toBe("first, again");
  });

  it("start the rollout's clock: told once, at the first of several attempts", async () => {
    await using server = await scriptedEndpoint(refuses(500), says("ok"));
    let begun = 0;
    await testClient(server.url).client.getResponse(ask({ onBegin: () => void begun++ }));
    expect(begun).toBe(1);
  });
});

describe("time", () => {
  it("of a request ends one that is never answered, and one whose body never ends; neither is repeated", async () => {
    const stalls: Play = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
      response.write("{");
    };
    for (const play of [neverAnswers, stalls]) {
      await using server = await scriptedEndpoint(play);
      const { client } = testClient(server.url, { ports: { now: lateOnceHeard(server), timeouts: { request_ms: 150 } } });
      await expect(client.getResponse(ask())).rejects.toMatchObject({
        code: "request_timeout",
        message: expect.stringContaining("no complete answer within 0.15 s"),
      });
      expect(server.seen).toHaveLength(1);
    }
  });

  it("is counted from the permit, not from the queue before it", async () => {
    // By this clock each takes two thirds of its time, however long that is on this machine.
    let now = 0;
    const answer = (response: Parameters<Play>[0]): void => {
      now += 200;
      says("ok")(response, undefined as never);
    };
    await using server = await scriptedEndpoint((response) => void setTimeout(answer, 120, response));
    const { client } = testClient(server.url, { permits: 1, ports: { now: () => now, timeouts: { request_ms: 300 } } });
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.getResponse(ask())));
    expect(answers).toHaveLength(4);
  });
});

describe("an abort", () => {
  it.each([
    ["while the model works", [neverAnswers], {}],
    ["in the middle of the body", [((response) => void response.writeHead(200, { "content-length": "9" }).write("{")) as Play], {}],
    ["during a pause", [refuses(429, {}, { "retry-after": "30" })], {}],
    [
      "before a retry",
      [refuses(500)],
      {
        ports: {
          sleep: (_ms: number, signal?: AbortSignal | null) => new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
        },
      },
    ],
  ])("%s rejects with its reason at once and gives the permit back", async (_when, plays, options) => {
    await using server = await scriptedEndpoint(...plays);
    const { client, gate } = testClient(server.url, options);
    const controller = new AbortController();
    const reason = new Error("the executor stops");
    const answer = client.getResponse(ask({ signal: controller.signal })).catch((thrown: unknown) => thrown);
    await vi.waitFor(() => expect(server.seen.length).toBe(1), 20_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort(reason);
    // What it waited for never comes, or in half a minute.
    expect(await answer).toBe(reason);
    expect([gate.inFlight, gate.waiting]).toEqual([0, 0]);
    await vi.waitFor(() => expect(server.load.now).toBe(0), 20_000);
  });

  it("before the request sends nothing", async () => {
    await using server = await scriptedEndpoint(says("x"));
    await expect(testClient(server.url).client.getResponse(ask({ signal: AbortSignal.abort("early") }))).rejects.toBe("early");
    expect(server.seen).toHaveLength(0);
  });
});

describe("secrets", () => {
  const key = "sk-very-secret-1234";

  it("never stand in an error, wherever the provider echoes them", async () => {
    const echo = { message: `key ${key} and header tok-5678 and Bearer ${key}: ${"x".repeat(2_000)}` };
    for (const play of [refuses(401, echo), refuses(400, echo), refuses(500, echo), json(200, `not json ${key}`)]) {
      const { error } = await outcome([play], { endpoint: { headers: { "X-Auth-Token": "tok-5678" } }, ports: { maxRequestRetries: 1 } });
      const everything = JSON.stringify([error?.message, String(error?.cause), error?.hint, error?.stack]);
      expect(everything).not.toContain(key);
      expect(everything).not.toContain("tok-5678");
      expect(error?.message.length).toBeLessThan(800);
    }
  });

  it("are blotted out of retry notices too, and of a URL", async () => {
    const { retries } = await outcome([refuses(500, { message: `bad ${key}` }), says("ok")]);
    expect(retries[0]?.message).toBe("HTTP 500: bad [secret]");
    await using server = await scriptedEndpoint(refuses(401));
    const { client } = testClient(`${server.url}?token=abc`);
    await expect(client.getResponse(ask())).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining("abc") }));
  });

  it("that cannot be a header are refused before the first request, unquoted", () => {
    for (const bad of ["sk with space", "sk\nline", "", "schlüssel"]) {
      expect(() => testClient("http://127.0.0.1:1/v1", { endpoint: { api_key: bad } })).toThrow(
        expect.objectContaining({ code: "missing_key", message: expect.stringContaining("TEST_KEY") }),
      );
    }
  });
});
