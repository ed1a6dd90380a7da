import { type AddressInfo, createServer, type Server } from "node:net";
import { describe, expect, it } from "vitest";
import { Preflight } from "../../../../src/cli/eval-run/start/preflight.ts";
import { CliError } from "../../../../src/cli/terminal/cli-error.ts";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { VOICES } from "../../../support/clients/client-voices.ts";
import { completion, json, neverAnswers, refuses, says, scriptedEndpoint } from "../../../support/clients/scripted-endpoint.ts";

const looked = (config: JsonObject, model = "m", secrets: Readonly<Record<string, string>> = {}): Promise<unknown> =>
  new Preflight(secrets).check({ api_key_var: "TEST_KEY", ...config }, model).catch((error: unknown) => error);

/** What is printed: the message, and the hints below it. */
async function refused(config: JsonObject, model = "m", secrets: Readonly<Record<string, string>> = {}): Promise<string> {
  const error = await looked(config, model, secrets);
  if (!(error instanceof CliError)) throw new Error(`it was not refused: ${JSON.stringify(error)}`);
  expect(error.exitCode).toBe(1);
  return [error.message, ...error.hints].join("\n");
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

describe("a look at an endpoint", () => {
  it.each(VOICES.filter(({ type }) => type !== "workers_ai").map((voice) => [voice.type, voice] as const))(
    "of type %s asks for its models and nothing else where the model is among them, with the run's key and headers",
    async (type, voice) => {
      await using server = await scriptedEndpoint(says("never"));
      server.offers = ["m"];
      const config = { api_base_url: server.url, api_client_type: type, headers: ["X-Team: t"] };
      expect(await looked(config, "m", { TEST_KEY: "sk-very-secret-1234" })).toEqual([]);
      expect([server.seen.length, server.looks]).toEqual([0, ["/v1/models"]]);
      if (voice.key !== null) expect(server.lookHeaders[0]).toMatchObject({ [voice.key[0]]: voice.key[1], "x-team": "t" });
    },
  );

  it("asks for one short answer where the list does not settle it", async () => {
    await using server = await scriptedEndpoint(says("OK"));
    server.offers = ["something-else"];
    expect(await looked({ api_base_url: server.url })).toEqual([]);
    expect(server.seen.map(({ body }) => [body.model, body.max_completion_tokens])).toEqual([["m", 16]]);
  });

  it("names the host that there is not", async () => {
    expect(await refused({ api_base_url: "http://no-such-host.invalid/v1" }, "m", { TEST_KEY: "sk-very-secret-1234" })).toMatch(
      /^http:\/\/no-such-host\.invalid\/v1 cannot be reached: (there is no host|the host) no-such-host\.invalid.*\nCheck the host's name/,
    );
  });

  it("says within seconds that nothing listens, and where", async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await refused({ api_base_url: `http://127.0.0.1:${port}/v1` })).toBe(
      [
        `http://127.0.0.1:${port}/v1 cannot be reached: connection refused`,
        `Start the model server that is to listen on port ${port} of 127.0.0.1, or name another address (-b).`,
        "--no-preflight begins all the same: a run that has no answer yet asks again for about twenty seconds.",
      ].join("\n"),
    );
  });

  it("tells a server of another protocol, and one that wants TLS or does not speak it", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("SSH-2.0-OpenSSH_9.6\r\n");
      setTimeout(() => socket.destroy(), 50);
    });
    const port = await listening(server);
    try {
      expect(await refused({ api_base_url: `http://127.0.0.1:${port}/v1` })).toMatch(/cannot be talked to: what listens there does not answer in HTTP/);
      expect(await refused({ api_base_url: `https://127.0.0.1:${port}/v1` })).toMatch(
        new RegExp(`cannot be talked to: what listens there does not speak TLS.*\\nCheck scheme and port of the address: is it -b http://127.0.0.1:${port}/v1`),
      );
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("says what to add to an address without /v1, and which model was meant", async () => {
    await using bare = await scriptedEndpoint(json(404, { detail: "Not Found" }));
    bare.offers = ["m"];
    expect(await refused({ api_base_url: bare.url.replace("/v1", "") })).toContain(`Its API is at ${bare.url}: add -b ${bare.url}.`);
    await using server = await scriptedEndpoint(json(404, { error: { message: "no such model" } }));
    server.offers = ["Qwen/Qwen3-8B", "other"];
    expect(await refused({ api_base_url: server.url }, "qwen3-8b")).toContain("Did you mean -m Qwen/Qwen3-8B? It offers Qwen/Qwen3-8B, other");
  });

  it.each([
    ["a wrong key", refuses(401, { message: "Incorrect API key provided" }), ["refused the key in TEST_KEY", "Check TEST_KEY"]],
    ["an unpaid bill", refuses(402), ["asks for payment"]],
    ["a region", json(403, { error: { code: "unsupported_country_region_territory", message: "no" } }), ["Call it from elsewhere"]],
    ["a page behind a 200", json(200, "<!doctype html><title>Welcome</title>", { "content-type": "text/html" }), ['a web page ("Welcome")']],
    ["a redirect to a sign-in", json(302, "", { location: "https://login.example/" }), ["redirects to https://login.example/, which is not followed"]],
    ["a proxy without a server", json(502, "<html><h1>502 Bad Gateway</h1></html>", { "content-type": "text/html" }), ["HTTP 502", "502 Bad Gateway"]],
    ["another JSON service", json(200, { choices: [] }), ["choice"]],
  ])("stops at %s", async (_what, play, said) => {
    await using server = await scriptedEndpoint(play);
    const text = await refused({ api_base_url: server.url }, "m", { TEST_KEY: "sk-very-secret-1234" });
    for (const part of said) expect(text).toContain(part);
    // It would help only where a run repeats what failed.
    expect(text.includes("--no-preflight")).toBe(!/refused the key|asks for payment/.test(text));
    expect(text).not.toContain("sk-very-secret");
  });

  it.each([
    ["a rate limit", refuses(429, { message: "slow down" }, { "x-should-retry": "false" })],
    ["a short question that it does not like", refuses(400, { message: "max_completion_tokens is too small" })],
    ["a thought that leaves no room for an answer", json(200, completion(""))],
    ["a server that is slow", neverAnswers],
  ])("leaves %s to the run", async (_what, play) => {
    await using server = await scriptedEndpoint(play);
    expect(await looked({ api_base_url: server.url })).toEqual([]);
  });

  it("warns of a replica that cannot be reached while another can, and looks once at a place that several evaluations share", async () => {
    await using server = await scriptedEndpoint(says("OK"));
    server.offers = ["m"];
    const preflight = new Preflight({});
    const replicas = [{ api_base_url: server.url }, { api_base_url: "http://127.0.0.1:9/v1" }];
    const warnings = await Promise.all([1, 2].map(() => preflight.check({ api_key_var: "TEST_KEY", replicas }, "m")));
    expect(warnings).toEqual(Array(2).fill(["http://127.0.0.1:9/v1 cannot be reached: connection refused; its examples go to the other replicas"]));
    expect(server.looks).toHaveLength(1);
  });

  it("is not taken of the embedded model, nor without the key that the service will ask for", async () => {
    expect(await looked({ api_base_url: "embedded" })).toEqual([]);
    expect(await looked({ api_base_url: "https://api.example.com/v1" })).toEqual([]);
  });
});
