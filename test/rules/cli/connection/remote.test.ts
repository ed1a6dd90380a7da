import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reasonOf } from "../../../../src/cli/terminal/cli-error.ts";
import { followRun } from "../../../../src/cli/connection/follow-run.ts";
import { chunksOf, ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { patiently } from "../../../../src/cli/connection/patience.ts";
import { type FakeService, type Handler, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd = "";
let service: FakeService | null = null;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-remote-"));
});
afterEach(async () => {
  await service?.close();
  service = null;
  rmSync(cwd, { recursive: true, force: true });
});

const HEALTHY = { status: "ok", version: "0.0.0" };

async function listAt(url: string, token = "secret", args: readonly string[] = ["list"]) {
  return await runInProcess(["eval", ...args], { cwd, env: { EDGEWISE_URL: url, EDGEWISE_TOKEN: token } });
}

async function listOf(handler: Handler, token?: string) {
  service = await startFakeService(handler);
  return await listAt(service.url, token);
}

describe("a service that EDGEWISE_URL names", () => {
  it("and that is not there: why, and what to type", async () => {
    const { url } = await startFakeService(() => undefined).then(async (gone) => {
      await gone.close();
      return gone;
    });
    expect(await listAt(url)).toEqual({
      code: 1,
      out: [],
      err: `error: ${url} (EDGEWISE_URL) cannot be reached: connection refused\n  Nothing listens there: start it with \`npx edgewise serve\`, or unset EDGEWISE_URL to run on this machine.`,
    });
    expect(await listAt("https://no-such-host.invalid")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be reached: (no such host|the name cannot be looked up).*\n {2}Check the address and the network/),
    });
  });

  it("that speaks no TLS, or whose certificate is not to be trusted, is told as such", async () => {
    service = await startFakeService((_, response) => sendJson(response, 200, HEALTHY));
    const { err } = await listAt(service.url.replace("http:", "https:"));
    expect(err).toMatch(/cannot be reached: what listens there does not speak TLS.*\n.*NODE_EXTRA_CA_CERTS/);
    const reasons = {
      DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed",
      CERT_HAS_EXPIRED: "expired",
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: "nobody this machine trusts",
      ERR_TLS_CERT_ALTNAME_INVALID: "another name",
      EPROTO: "no secure connection",
    };
    for (const [code, words] of Object.entries(reasons)) {
      const cause = Object.assign(new Error("of OpenSSL"), { code });
      expect(reasonOf(new TypeError("fetch failed", { cause }))).toContain(words);
    }
  });

  it("that is something else is not taken for a service, whatever it answers", async () => {
    const page: Handler = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>\u001b[31mHello</h1>");
    const others: readonly (readonly [Handler, RegExp])[] = [
      [page, /no edgewise service is at .*did not answer with JSON: <h1>Hello/],
      [(_, response) => sendJson(response, 200, []), /does not answer as an edgewise service does/],
      [(_, response) => sendJson(response, 404, { error: "no" }), /no edgewise service is at .*status 404/],
      [
        (_, response) => void response.writeHead(302, { location: "https://elsewhere.example/login" }).end(),
        /redirects to https:\/\/elsewhere\.example\/login/,
      ],
      [(_, response) => void response.writeHead(502).end("bad gateway"), /is not ready: status 502: bad gateway\n.*try again/],
    ];
    for (const [handler, message] of others) {
      const { code, out, err } = await listOf(handler);
      expect(err).toMatch(message);
      expect([code, out]).toEqual([1, []]);
      expect(err).not.toContain("\u001b");
      expect(service?.asked.map(({ path }) => path)).toEqual(["/health"]);
      await service?.close();
    }
  });

  it("that refuses the token: whether one is set here; the service's own word otherwise", async () => {
    const refusing =
      (hint: string): Handler =>
      ({ path }, response) =>
        path === "/health" ? sendJson(response, 200, HEALTHY) : sendJson(response, 401, { detail: "No.", code: "unauthorized", hint });
    expect((await listOf(refusing("Send `Authorization: Bearer <EDGEWISE_TOKEN>`."))).err).toMatch(
      /refuses this command: No\.\n {2}EDGEWISE_TOKEN is set here, but to another value\.$/,
    );
    expect((await listOf(refusing("Type `wrangler secret put EDGEWISE_TOKEN`."), "")).err).toMatch(
      /\n {2}Type `wrangler.*\n {2}EDGEWISE_TOKEN is not set here: set it/,
    );
  });

  it("must be an address that a token may travel to, with a token that a header can carry", async () => {
    for (const url of ["nonsense", "ftp://x", "http://example.org", "https://user:pw@example.org", "https://example.org/?a=1"]) {
      expect(await listAt(url)).toMatchObject({ code: 2, err: expect.stringContaining("EDGEWISE_URL") });
    }
    const { code, err } = await listOf((_, response) => sendJson(response, 200, HEALTHY), "sesame\nopen");
    expect([code, err]).toEqual([2, "error: EDGEWISE_TOKEN holds blanks, line ends or characters that no header can carry"]);
    expect(service?.asked).toEqual([]);
  });

  it("is the same with slashes and /api/v1 at the end, which other clients want", async () => {
    service = await startFakeService(({ path }, response) => sendJson(response, 200, path === "/health" ? HEALTHY : { evaluations: [], total: 0 }));
    for (const end of ["", "/", "/api/v1", "/api/v1/"]) expect((await listAt(service.url + end)).code).toBe(0);
    expect(new Set(service.asked.map(({ path }) => path))).toEqual(new Set(["/health", "/api/v1/evaluations/"]));
  });

  it("may know fields and environments that this installation does not: what it says is printed, with the flag that was typed", async () => {
    const answers: Readonly<Record<string, object>> = {
      "/api/v1/evaluations/": { detail: [{ loc: ["query", "limit"], msg: "must be at most 50" }], code: "invalid_request" },
      "/api/v1/hosted-evaluations": { detail: 'There is no environment "mine".', code: "environment_not_found", hint: "This service has theirs." },
    };
    service = await startFakeService(({ path }, response) => sendJson(response, path === "/health" ? 200 : 422, answers[path] ?? HEALTHY));
    expect(await listAt(service.url)).toMatchObject({ code: 2, err: "error: -n: must be at most 50" });
    expect(await listAt(service.url, "secret", ["run", "mine"])).toMatchObject({
      code: 2,
      err: 'error: There is no environment "mine"\n  This service has theirs.',
    });
  });
});

describe("an outage", () => {
  const state = { settled: false, suspended: false, done_rollouts: 0 };
  const frame = (event: string, change: object = {}): string => `event: ${event}\ndata: ${JSON.stringify({ ...state, ...change })}\n\n`;

  it("is told once, with its end, and does not end the following; neither does a page of somebody else on the way", async () => {
    const answers: Handler[] = [
      (_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(frame("progress")),
      (_, response) => void response.destroy(),
      (_, response) => void response.writeHead(502).end("<html>"),
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("sign in"),
      (_, response) => sendJson(response, 429, { detail: "Slow down." }),
      (_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(frame("end", { settled: true, done_rollouts: 9 })),
    ];
    service = await startFakeService((request, response) => answers.shift()?.(request, response));
    const told: string[] = [];
    const watcher = { onState: () => undefined, onLog: () => undefined, onCommit: () => undefined };
    const options = { patienceMs: 20_000, maxWaitMs: 50, signal: new AbortController().signal };
    const end = await followRun(new ServiceClient(service.url), "1a2b3c4d", { seq: 0 }, watcher, {
      ...options,
      onOutage: () => told.push("out"),
      onReturn: () => told.push("back"),
    });
    expect(end).toMatchObject({ settled: true, done_rollouts: 9 });
    expect(told).toEqual(["out", "back"]);
    expect(answers).toEqual([]);
  });

  it("is waited for by a download too, but not a refusal, and not for ever", async () => {
    const statuses = [503, 503, 200];
    service = await startFakeService((_, response) => sendJson(response, statuses.shift() ?? 404, { detail: "x", code: "storage_unavailable" }));
    const client = new ServiceClient(service.url);
    const told: string[] = [];
    const patience = { maxWaitMs: 10, signal: new AbortController().signal, onOutage: () => told.push("out"), onReturn: () => told.push("back") };
    await patiently(() => client.json("GET", "/x"), { ...patience, patienceMs: 20_000 });
    expect(told).toEqual(["out", "back"]);
    await expect(patiently(() => client.json("GET", "/x"), { ...patience, patienceMs: 20_000 })).rejects.toMatchObject({ status: 404 });
    statuses.push(...Array<number>(1000).fill(503));
    await expect(patiently(() => client.json("GET", "/x"), { ...patience, patienceMs: 100 })).rejects.toMatchObject({ status: 503 });
  });

  it("that the user's own Ctrl-C makes is none", async () => {
    const stop = new AbortController();
    const reason = new Error("interrupted");
    service = await startFakeService((_, response) => {
      response.writeHead(200).write("half of it");
      stop.abort(reason);
    });
    const client = new ServiceClient(service.url);
    const told: string[] = [];
    const download = async (): Promise<void> => {
      for await (const _ of chunksOf(await client.file("1a2b3c4d", "results.jsonl", stop.signal)));
    };
    const patience = { patienceMs: 20_000, maxWaitMs: 10, signal: stop.signal, onOutage: () => told.push("out"), onReturn: () => told.push("back") };
    await expect(patiently(download, patience)).rejects.toBe(reason);
    expect(told).toEqual([]);
  });
});
