/** A proxy on this machine between a client and the service, that keeps what passes. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { RawExchange } from "./exchange.ts";

export interface Recorder {
  readonly url: string;
  /** Everything since the last call. */
  take(): readonly RawExchange[];
  close(): Promise<void>;
}

export async function startRecorder(target: string): Promise<Recorder> {
  let passed: RawExchange[] = [];
  const server = createServer((incoming, outgoing) => {
    const sent: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => sent.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(sent);
      const { method = "GET", url: path = "/", headers } = incoming;
      const forwarded = request(new URL(path, target), { method, headers: { ...headers, host: new URL(target).host } }, (response) => {
        const got: Buffer[] = [];
        response.on("data", (chunk: Buffer) => got.push(chunk));
        response.on("end", () => {
          const { statusCode: status = 0, headers: answered } = response;
          const answer = Buffer.concat(got);
          const plain = answered["content-encoding"] === "gzip" ? gunzipSync(answer) : answer;
          passed.push({ method, path, headers, body, status, answer: plain.toString("utf8") });
          const { "transfer-encoding": _, ...rest } = answered;
          outgoing.writeHead(status, { ...rest, "content-length": answer.byteLength }).end(answer);
        });
      });
      forwarded.on("error", () => outgoing.destroy());
      forwarded.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = passed;
      passed = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
