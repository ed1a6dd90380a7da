import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { passing } from "../service/door-rules.ts";

const HOST = "127.0.0.1";

export interface WebServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Answers on this machine alone, at a free port where `port` is 0. Rejects where the port is taken. */
export async function startWebServer(port: number, answer: (request: Request) => Promise<Response>): Promise<WebServer> {
  const server = createServer((request, response) => void serve(request, response, answer));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => resolve());
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://${HOST}:${own}`, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Streams of pages that are open would keep it.
    server.closeAllConnections();
  });
}

async function serve(asked: IncomingMessage, response: ServerResponse, answer: (request: Request) => Promise<Response>): Promise<void> {
  try {
    const door = passing({ method: asked.method ?? "", target: asked.url ?? "", headerNames: Object.keys(asked.headers) });
    await send("refusal" in door ? Response.json(door.refusal.body, { status: door.refusal.status }) : await answer(requestOf(asked, door.path)), response);
  } catch {
    // Whoever asked is gone, or sends what is no request: there is nobody to tell.
    response.destroy();
  }
}

function requestOf(asked: IncomingMessage, path: string): Request {
  const { method = "GET", headers, socket } = asked;
  const { localPort } = socket;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`http://${headers.host ?? `${HOST}:${localPort}`}${path}`, {
    method,
    headers: given,
    ...(hasBody ? { body: Readable.toWeb(asked) as unknown as ReadableStream<Uint8Array>, duplex: "half" } : {}),
  } as RequestInit);
}

async function send(answered: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) response.end();
  else await pipeline(Readable.fromWeb(answered.body as unknown as NodeStream), response);
}
