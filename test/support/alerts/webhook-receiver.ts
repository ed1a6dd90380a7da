/** A receiver of webhooks on loopback, which keeps what it was sent and verifies nothing by itself. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  /** Of the path that it came to, without the slash. */
  readonly to: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** What it answers from now on; 200 at first. */
  answer(status: number, body?: string): void;
  /** What comes to this path is kept, and not answered any more. */
  hangAt(path: string): void;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const hanging = new Set<string>();
  let [status, said] = [200, "thanks"];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const to = (request.url ?? "").slice(1);
      received.push({
        to,
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        body: Buffer.concat(chunks).toString("utf8"),
      });
      if (!hanging.has(to)) response.writeHead(status).end(said);
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next, body = "") => {
      [status, said] = [next, body];
    },
    hangAt: (path) => void hanging.add(path),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
