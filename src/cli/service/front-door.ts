/**
 * The port of the local service. What `door-rules.ts` lets pass is streamed to the runtime and back, byte for byte as it comes; the runtime
 * itself listens where no page and no other user reaches it. The port stays while the runtime is started again.
 */
import { type ClientRequest, createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { NO_UPGRADE, passedHeaders, passing, type Refusal, refused } from "./door-rules.ts";

/** Where the runtime listens. */
export type RuntimeAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

export interface FrontDoor {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on `port` of the loopback address (0 = any free one); rejects with the system's error. `runtime` is asked at every request: where it listens, or what is said in its place. */
export async function openFrontDoor(port: number, runtime: () => RuntimeAddress | Refusal): Promise<FrontDoor> {
  // An upload may take as long as it takes.
  const server = createServer({ requestTimeout: 0 }, (request, response) => pass(request, response, runtime()));
  // A switch of protocol arrives here with its socket; without a listener Node takes it for an ordinary request.
  server.on("upgrade", (_request, socket) => refuseSocket(socket, NO_UPGRADE));
  server.on("connect", (_request, socket) => refuseSocket(socket, refused("invalid_request", "The service is no proxy.").refusal));
  server.on("clientError", (_error, socket) => refuseSocket(socket, { ...refused("invalid_request", "This is no HTTP request.").refusal, status: 400 }));
  await listening(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function pass(request: IncomingMessage, response: ServerResponse, runtime: RuntimeAddress | Refusal): void {
  const { method = "", url = "", headers, rawHeaders } = request;
  const verdict = passing({ method, target: url, headerNames: Object.keys(headers) });
  if ("refusal" in verdict) return refuse(request, response, verdict.refusal);
  if ("status" in runtime) return refuse(request, response, runtime);
  const upstream = httpRequest({
    ...runtime,
    method,
    path: verdict.path,
    // A socket of its own: one that is kept may have been closed by the runtime when it is used again.
    agent: false,
    headers: [...passedHeaders(rawHeaders), ...framingOf(request)],
  });
  // Whoever has left wants nothing more: streams of a run end.
  response.once("close", () => upstream.destroy());
  upstream.once("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", passedHeaders(answer.rawHeaders));
    // Event streams say nothing for a while.
    response.flushHeaders();
    // A half answer is cut on the other side too, so that nobody takes it for a whole one.
    pipeline(answer, response, () => undefined);
  });
  upstream.on("error", () => {
    // The runtime has ended or is being started again: as from a port where nobody listens, and commands try again.
    if (!response.headersSent) request.socket.destroy();
  });
  if (isSmall(request)) endWithBody(request, upstream);
  else request.pipe(upstream);
}

/** Bytes of a body that is held until it is whole. */
const SMALL_BODY_BYTES = 64 * 1024;

const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= SMALL_BODY_BYTES;

/**
 * Head and body go out in one write. The runtime may answer and close once it has the head, and a body that comes after that is an error at
 * which Node forgets the answer.
 */
function endWithBody(request: IncomingMessage, upstream: ClientRequest): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  request.once("end", () => void upstream.end(Buffer.concat(chunks)));
}

/** How the body ends, which is said anew on each connection; without either there is none. */
function framingOf({ method, headers }: IncomingMessage): readonly string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  const hasNone = headers["content-length"] === undefined && method !== "GET" && method !== "HEAD";
  return hasNone ? ["Content-Length", "0"] : [];
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, body }: Refusal): void {
  // What is still on its way belongs to a request that was refused.
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), connection: "close" }).end(text);
  request.resume();
}

function refuseSocket(socket: Duplex, { status, body }: Refusal): void {
  socket.on("error", () => undefined);
  if (!socket.writable) return void socket.destroy();
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + text, () => socket.destroy());
}
