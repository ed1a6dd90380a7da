import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface HeartbeatServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Stands in for a monitor on loopback: `GET /ping/{name}` counts, and answers after `?ms=N` with `?status=N`; `GET /seen/{name}`
 * gives what was counted (heartbeats-seen.ts).
 */
export async function startHeartbeatServer(): Promise<HeartbeatServer> {
  const seen = new Map<string, { total: number; in_flight: number; peak_in_flight: number; requests: string[] }>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const [, route, name = ""] = pathname.split("/");
    const entry = seen.get(name) ?? { total: 0, in_flight: 0, peak_in_flight: 0, requests: [] };
    seen.set(name, entry);
    if (route === "seen") return void response.end(JSON.stringify(entry));
    entry.total++;
    entry.in_flight++;
    entry.peak_in_flight = Math.max(entry.peak_in_flight, entry.in_flight);
    entry.requests.push(`${request.method} ${request.url}`);
    response.once("close", () => entry.in_flight--);
    setTimeout(() => response.writeHead(Number(searchParams.get("status") ?? 200)).end("ok"), Number(searchParams.get("ms") ?? 0));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
