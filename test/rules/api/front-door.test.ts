import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, get, type IncomingMessage, request, type Server } from "node:http";
import { connect, createServer as createRawServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { APP_PATHS, passing } from "../../../src/cli/service/door-rules.ts";
import { type FrontDoor, openFrontDoor } from "../../../src/cli/service/front-door.ts";
import { guardedServers } from "../../../src/cli/service/runtime/process.ts";

describe("what passes the door", () => {
  const asked = (target: string, method = "GET", ...headerNames: string[]) => passing({ method, target, headerNames });

  it("is a path of the app, in one notation", () => {
    expect(asked("/health")).toEqual({ path: "/health" });
    expect(asked("/api/v1/evaluations/?limit=5", "POST", "host", "content-type")).toEqual({ path: "/api/v1/evaluations/?limit=5" });
    expect(asked("/api/../dashboard/%2e%2e/health")).toEqual({ path: "/health" });
    expect(asked("/")).toEqual({ path: "/" });
  });

  it("is every route that the app has", () => {
    const { routes } = createApp(() => {
      throw new Error("not asked");
    });
    const firsts = new Set(routes.map(({ path }) => path.split("/")[1] ?? "").filter((first) => first !== "*"));
    expect([...firsts].filter((first) => !(APP_PATHS as readonly string[]).includes(first))).toEqual([]);
    expect(firsts.size).toBeGreaterThan(3);
  });

  it.each([
    ["/cdn-cgi/local/r2/public/edgewise/x"],
    ["/api/../cdn-cgi/local/scheduled"],
    ["/api/%2e%2e/cdn-cgi/local/platform-proxy"],
    ["/\\evil.example/health"],
    ["/api/..//evil.example/"],
    ["//"],
    ["//evil.example/health"],
    ["http://evil.example/health"],
    ["*"],
    [""],
    ["health"],
    ["/unknown"],
  ])("is not the target %j", (target) => {
    const { refusal } = asked(target) as { refusal?: { status: number } };
    expect([404, 422]).toContain(refusal?.status);
  });

  it.each([
    ["GET", "mf-route-override"],
    ["GET", "mf-cf-blob"],
    ["POST", "mf-original-url"],
    ["GET", "upgrade"],
    ["TRACE", "host"],
    ["CONNECT", "host"],
  ])("is not %s with %s", (method, header) => {
    expect(asked("/health", method, header)).toMatchObject({ refusal: { status: 422, body: { code: "invalid_request" } } });
  });
});

let folder: string;
let runtime: Server;
let door: FrontDoor;
let seen: { method: string; url: string; headers: Record<string, unknown> }[];
let answer: (request: IncomingMessage, response: import("node:http").ServerResponse) => void;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "edgewise-door-"));
  seen = [];
  answer = (_request, response) => response.end("answered");
  runtime = createServer((asked, response) => {
    seen.push({ method: asked.method ?? "", url: asked.url ?? "", headers: asked.headers });
    answer(asked, response);
  });
  const socketPath = join(folder, "s");
  await new Promise<void>((resolve) => runtime.listen(socketPath, resolve));
  door = await openFrontDoor(0, () => ({ socketPath }));
});
afterEach(async () => {
  await door.close();
  runtime.closeAllConnections();
  await new Promise((resolve) => runtime.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** What comes back for bytes as they are. */
const raw = (bytes: string, port = door.port): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(text));
  });
const url = (path: string): string => `http://127.0.0.1:${door.port}${path}`;

describe("the door", () => {
  it.each([
    ["CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n", 422],
    ["GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 422],
    ["GET // HTTP/1.1\r\nHost: localhost\r\n\r\n", 422],
    ["OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 422],
    ["GET http://evil.example/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 422],
    ["POST /health HTTP/1.1\r\nHost: localhost\r\nMF-CF-Blob: {\r\nContent-Length: 100000\r\n\r\n", 422],
    ["GET /cdn-cgi/local/r2/public/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404],
    ["nonsense\r\n\r\n", 400],
    ["POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400],
  ])("answers %j with %i in the one error format, and the runtime hears nothing of it", async (bytes, status) => {
    const text = await raw(bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))).toEqual({ detail: expect.any(String), code: expect.any(String) });
    expect(seen).toEqual([]);
  });

  it("passes on method, path, query, headers and status, but not what belongs to a connection", async () => {
    answer = (_request, response) => response.writeHead(206, "Part", { "content-range": "bytes 0-1/9", "x-own": "é" }).end("ab");
    const response = await fetch(url("/api/v1/x?a=%20b"), { method: "DELETE", headers: { range: "bytes=0-1", "x-forwarded-proto": "https" } });
    expect([response.status, response.headers.get("content-range"), await response.text()]).toEqual([206, "bytes 0-1/9", "ab"]);
    expect(seen).toEqual([
      { method: "DELETE", url: "/api/v1/x?a=%20b", headers: expect.objectContaining({ range: "bytes=0-1", host: `127.0.0.1:${door.port}` }) },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty("x-forwarded-proto");
  });

  it("hands over each part of a stream as it comes, and tells the runtime when the reader leaves", async () => {
    let send = (_text: string): void => undefined;
    const left = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.flushHeaders();
        send = (text) => void response.write(text);
        response.once("close", resolve);
      };
    });
    const abort = new AbortController();
    const response = await fetch(url("/api/v1/evaluations/x/events"), { signal: abort.signal });
    const reader = response.body?.getReader();
    for (const text of ["data: 1\n\n", "data: 2\n\n"]) {
      send(text);
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text);
    }
    abort.abort();
    await left;
  });

  it("streams an upload of 32 MB, and lets an early refusal through", async () => {
    const size = 32 * 2 ** 20;
    const body = Buffer.alloc(size, "x");
    const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
    answer = (asked, response) => {
      const hash = createHash("sha256");
      asked.on("data", (chunk: Buffer) => hash.update(chunk)).once("end", () => response.end(hash.digest("hex")));
    };
    expect(await (await fetch(url("/api/v1/datasets/x"), { method: "PUT", body })).text()).toBe(digest(body));
    expect(seen[0]?.headers).toMatchObject({ "content-length": String(size) });
    answer = (_asked, response) => response.writeHead(413, { connection: "close" }).end("too large");
    const status = await new Promise((resolve, reject) => {
      const upload = request(url("/api/v1/datasets/x"), { method: "PUT", headers: { "content-length": size } });
      upload.once("response", (response) => resolve(response.resume().statusCode)).once("error", reject);
      upload.write(body.subarray(0, 1000));
    });
    expect(status).toBe(413);
  });

  it("breaks off an answer that the runtime broke off, and closes where no runtime answers, as a port where nobody listens", async () => {
    answer = (_asked, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    };
    await expect(fetch(url("/health")).then((response) => response.text())).rejects.toThrow();
    await new Promise<void>((resolve) => {
      runtime.close(() => resolve());
      runtime.closeAllConnections();
    });
    await expect(fetch(url("/health"))).rejects.toThrow();
    await new Promise<void>((resolve) => runtime.listen(join(folder, "s"), resolve));
    answer = (_asked, response) => response.end("again");
    expect(await (await fetch(url("/health"))).text()).toBe("again");
  });
});

describe("the port on which the runtime reaches its parent", () => {
  it("is guarded from the moment it is made: nothing that lacks the secret or names no path comes to its handler", async () => {
    const heard: string[] = [];
    const undo = guardedServers();
    const { createServer: make } = (await import("node:http")).default;
    const server = make((asked, response) => {
      heard.push(asked.url ?? "");
      response.end();
    });
    undo();
    server.on("upgrade", (asked) => heard.push(`upgrade ${asked.url}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
      for (const [target, more] of [
        ["//", ""],
        ["/core/log", ""],
        ["//", upgrade],
        ["//", "MF-Loopback-Secret: guess\r\n"],
      ])
        await raw(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`, port);
      expect(heard).toEqual([]);
      await new Promise((resolve) => get({ port, path: "/core/log", headers: { "MF-Loopback-Secret": "s" } }, resolve));
      expect(heard).toEqual(["/core/log"]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("a small request", () => {
  it("goes to the runtime in one write, so that no answer is lost to a body that comes too late", async () => {
    // Counts what arrives at once, as the runtime's end of the socket sees it.
    const writes: string[] = [];
    const path = join(folder, "raw");
    const raw = createRawServer((socket) => {
      socket.on("data", (chunk) => {
        writes.push(chunk.toString());
        socket.end("HTTP/1.1 422 Unprocessable\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
      });
    });
    await new Promise<void>((resolve) => raw.listen(path, resolve));
    const front = await openFrontDoor(0, () => ({ socketPath: path }));
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": "9" };
      const sent = request({ host: "127.0.0.1", port: front.port, method: "POST", path: "/api/v1/hosted-evaluations", headers }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      });
      sent.once("error", reject);
      sent.flushHeaders();
      sent.write('{"a"');
      setTimeout(() => sent.end(": 12}"), 50);
    });
    expect(status).toBe(422);
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatch(/\r\n\r\n\{"a": 12\}$/);
    await front.close();
    await new Promise<void>((resolve) => raw.close(() => resolve()));
  });
});
