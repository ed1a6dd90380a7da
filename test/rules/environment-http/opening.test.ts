import { afterEach, describe, expect, it } from "vitest";
import { type EnvironmentPlace, EnvironmentServer as Server } from "../../../src/environment-http/environment-server.ts";
import { healthOf } from "../../../src/environment-http/health.ts";
import { HttpChannel } from "../../../src/environment-http/http-channel.ts";
import { firstOpener } from "../../../src/environment-http/http-opener.ts";
import { isPassing } from "../../../src/errors/passing.ts";
import { failureOf } from "../../../src/errors/result.ts";
import { type EnvironmentServer, environmentServer, type ServerOptions } from "../../support/environment-http/environment-server.ts";

const begun: EnvironmentServer[] = [];
afterEach(async () => {
  for (const server of begun.splice(0)) await server.kill();
});
async function served(options: ServerOptions = {}): Promise<EnvironmentServer> {
  const own = await environmentServer(() => undefined, options);
  begun.push(own);
  return own;
}

const TOKEN = "a-token-that-nobody-is-shown";

const thrownBy = async (work: Promise<unknown>): Promise<{ readonly code: string; readonly message: string; readonly passing: boolean }> =>
  work.then(
    () => ({ code: "nothing", message: "", passing: false }),
    (thrown: unknown) => ({ ...failureOf(thrown), passing: isPassing(thrown) }),
  );
const open = (place: EnvironmentPlace, beginMs = 2_000) => HttpChannel.open(new Server(place, fetch), { beginMs });

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
  readonly location?: string;
}
const answering = (answer: Answer): ServerOptions => ({
  instead: (request, response) => {
    const said = (answer.body ?? "").replace("TOKEN", String(request.headers.authorization));
    response.writeHead(answer.status, { "content-type": answer.type ?? "text/plain", ...(answer.location === undefined ? {} : { location: answer.location }) });
    response.end(said);
    return true;
  },
});

/** What a server says, what that means, and whether it may be otherwise in a while. */
const REFUSALS: readonly (readonly [string, Answer, RegExp, boolean])[] = [
  [
    "another token",
    { status: 401, body: '{"error":{"code":"unauthorized","message":"TOKEN is none"}}' },
    /refuses the token of the link: HTTP 401: .* is none/,
    false,
  ],
  ["a fault that repeats the request", { status: 500, body: "failed for TOKEN" }, /answered HTTP 500: failed for /, true],
  ["a gateway without a server", { status: 502, type: "text/html", body: "<html><h1>Bad gateway</h1>" }, /HTTP 502 with a web page/, true],
  ["a server that is starting", { status: 503 }, /HTTP 503/, true],
  ["an address that there is not", { status: 404, body: "no" }, /knows no such address: HTTP 404: no/, false],
  ["a page for people", { status: 200, type: "text/html", body: "<!doctype html><title>TOKEN</title>" }, /no conversation \(text\/html\)/, false],
  ["another API", { status: 200, type: "application/json", body: "{}" }, /no conversation \(application\/json\)/, false],
  ["an address elsewhere", { status: 302, location: "http://127.0.0.1:9/TOKEN" }, /sends on to another address, where the token is not sent: HTTP 302/, false],
  ["lines that are none", { status: 200, type: "application/x-ndjson", body: "hello\n" }, /begins with what is no conversation/, false],
  ["lines of another kind", { status: 200, type: "application/x-ndjson", body: '{"conversation":7,"v":1}\n' }, /begins with what is no conversation/, false],
  [
    "a version that is not ours",
    { status: 200, type: "application/x-ndjson", body: '{"conversation":"x","v":7}\n' },
    /speaks version 7 of the protocol of environments; this service speaks 1/,
    false,
  ],
  ["nothing", { status: 200, type: "application/x-ndjson" }, /ended the conversation before it began/, true],
];

describe("a conversation that cannot begin", () => {
  it.each(REFUSALS)("for %s says so, without the token, and whether that may pass", async (_, answer, message, passing) => {
    const { url } = await served(answering(answer));
    const failed = await thrownBy(open({ url, token: TOKEN }));
    expect(failed).toMatchObject({ code: "environment_failed", passing });
    expect(failed.message).toMatch(message);
    expect(failed.message).toContain(url);
    expect(failed.message).not.toContain(TOKEN);
  });

  it("where nobody listens says so, and may pass", async () => {
    const server = await served();
    await server.kill();
    const failed = await thrownBy(open({ url: `${server.url}/base`, token: TOKEN }));
    expect(failed).toMatchObject({ code: "environment_failed", passing: true });
    expect(failed.message).toMatch(/\/base cannot be reached: .*ECONNREFUSED/);
  });

  it("since its server does not answer, or says nothing, is waited for so long and no longer, and let go of", async () => {
    const gone: string[] = [];
    for (const headers of [false, true]) {
      const { url } = await served({
        instead: (request, response) => {
          request.socket.on("close", () => gone.push(`${headers}`));
          if (headers) response.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
          return true;
        },
      });
      const failed = await thrownBy(open({ url, token: TOKEN }, 100));
      expect(failed).toMatchObject({
        code: "environment_failed",
        passing: true,
        message: expect.stringMatching(/began no conversation within 0\.1 s/) as string,
      });
    }
    await expect.poll(() => gone).toEqual(["false", "true"]);
  });

  it("at one address begins at the next, and where it begins nowhere says what the first one said", async () => {
    const [broken, other, works] = [
      await served(answering({ status: 500, body: "first" })),
      await served(answering({ status: 500, body: "second" })),
      await served(),
    ];
    const places = [broken, other, works].map(({ url, token }) => ({ url, token }));
    const channel = await firstOpener(places, { fetch })({ purpose: "facts", keys: {} });
    expect(works.conversations).toHaveLength(1);
    channel.close();
    await expect.poll(() => works.conversations[0]?.isOpen).toBe(false);
    expect((await thrownBy(firstOpener(places.slice(0, 2), { fetch })({ purpose: "facts", keys: {} }))).message).toMatch(/first/);
  });

  it("is never asked with a token in its address, and follows no redirect with it", async () => {
    const seen: (string | undefined)[] = [];
    const trap = await served({
      instead: (request, response) => {
        seen.push(request.headers.authorization);
        response.end();
        return true;
      },
    });
    const { url } = await served(answering({ status: 307, location: `${trap.url}/conversations` }));
    await thrownBy(open({ url, token: TOKEN }));
    expect(seen).toEqual([]);
  });
});

describe("the health of an environment's server", () => {
  it("is what it says", async () => {
    const server = await served();
    expect(await healthOf(server, fetch)).toEqual({ protocol: 1, environment: "env", version: "1", conversations: 0, units: 0 });
  });

  it.each([
    ["another token", { status: 401, body: "TOKEN" }, /refuses the token/],
    ["a page", { status: 200, type: "text/html", body: "<html>" }, /does not say how it is/],
    ["other JSON", { status: 200, type: "application/json", body: '{"status":"ok"}' }, /does not say how it is/],
    [
      "another version",
      { status: 200, type: "application/json", body: '{"protocol":9,"environment":"e","version":"1","conversations":0,"units":0}' },
      /speaks version 9/,
    ],
    ["what has no end", { status: 200, type: "application/json", body: "[".repeat(100_000) }, /does not say how it is/],
  ] as const)("is not to be had for %s", async (_, answer, message) => {
    const { url } = await served(answering(answer));
    const failed = await thrownBy(healthOf({ url, token: TOKEN }, fetch));
    expect(failed.message).toMatch(message);
    expect(failed.message).not.toContain(TOKEN);
  });

  it("is waited for a moment", async () => {
    const { url } = await served({ instead: () => true });
    expect(await thrownBy(healthOf({ url, token: TOKEN }, fetch, 50))).toMatchObject({ code: "environment_failed", passing: true });
  });
});
