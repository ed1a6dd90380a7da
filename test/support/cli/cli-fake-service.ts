/** A stand-in for the service in tests of the command line: answers what a handler says, over real HTTP on loopback. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface FakeService {
  readonly url: string;
  /** Everything asked so far, as `METHOD path`. */
  readonly asked: readonly FakeRequest[];
  close(): Promise<void>;
}

export type Handler = (request: FakeRequest, response: ServerResponse) => void | Promise<void>;

export async function startFakeService(handler: Handler): Promise<FakeService> {
  const asked: FakeRequest[] = [];
  const server: Server = createServer((raw, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of raw) chunks.push(chunk as Buffer);
      const url = new URL(raw.url ?? "/", "http://localhost");
      const request = {
        method: raw.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: raw.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      asked.push(request);
      await handler(request, response);
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
