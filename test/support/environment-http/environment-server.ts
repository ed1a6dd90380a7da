import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Channel } from "../../../src/environment-protocol/channel.ts";

/** What a server does with a batch in place of taking it and saying so. */
export type OnPost = "take" | "take-and-lose" | "lose" | "hang" | { readonly status: number; readonly body?: string; readonly type?: string };

export interface ServerOptions {
  readonly token?: string;
  /** How often a stream says that it is there; default: not at all. Milliseconds. */
  readonly beatMs?: number;
  readonly version?: number;
  /** In place of every answer, or null. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** By the number of the batch, and how often it has come before. */
  readonly onPost?: (n: number, before: number) => OnPost;
  /** How long a batch is on its way. Milliseconds. */
  readonly slowMs?: number;
}

/** One conversation as the server has it. */
export interface Served {
  readonly channel: Channel;
  /** Batches in the order in which they were taken; beats are empty ones. */
  readonly batches: (readonly { readonly type: string }[])[];
  /** Numbers in the order in which they came, those of batches that had come before too. */
  readonly numbers: number[];
  /** Requests with batches that were under way together. */
  most: number;
  /** Whether its stream is there. */
  isOpen: boolean;
  readonly write: (text: string) => void;
  /** Ends the stream as one that is over, or as one that broke. */
  readonly end: () => void;
  readonly cut: () => void;
}

export interface EnvironmentServer {
  readonly url: string;
  readonly token: string;
  readonly conversations: readonly Served[];
  /** Ends all that is open, as the end of its process does, and hears nothing any more. */
  readonly kill: () => Promise<void>;
}

const json = (response: ServerResponse, status: number, code: string, message: string): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { code, message } }));
};

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * A server of the transport that docs/environment-protocol.md has ("Over HTTP"), on loopback. `speak` is given the environment's end of each conversation.
 */
export async function environmentServer(speak: (channel: Channel, served: Served) => void, options: ServerOptions = {}): Promise<EnvironmentServer> {
  const { token = "a-token-of-the-test", beatMs, version = 1, instead, onPost = () => "take", slowMs = 0 } = options;
  const conversations = new Map<string, Served & { readonly taken: { n: number }; readonly seen: Map<number, number>; underWay: number }>();

  const all: Served[] = [];
  /** Under way. */
  const units = new Set<string>();

  const begin = (response: ServerResponse): void => {
    const name = randomUUID();
    const nothing = (): void => undefined;
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const channel: Channel = {
      send: (batch) => {
        for (const { type, unit } of batch as { type: string; unit?: number }[]) if (type === "played") units.delete(`${name} ${unit}`);
        if (served.isOpen) response.write(`${JSON.stringify(batch)}\n`);
      },
      onBatch: nothing,
      onBroken: nothing,
      // What was said last is heard first.
      close: () => response.end(),
    };
    const served = {
      channel,
      batches: [],
      numbers: [],
      most: 0,
      underWay: 0,
      isOpen: true,
      taken: { n: 0 },
      seen: new Map<number, number>(),
      write: (text: string) => void response.write(text),
      end: () => void response.end(),
      cut: () => void response.destroy(),
    };
    conversations.set(name, served);
    all.push(served);
    response.write(`${JSON.stringify({ conversation: name, v: version })}\n`);
    const beat = beatMs === undefined ? undefined : setInterval(() => response.write("[]\n"), beatMs);
    response.on("close", () => {
      clearInterval(beat);
      served.isOpen = false;
      channel.onBroken({ code: "environment_failed", message: "the engine is gone" });
    });
    speak(channel, served);
  };

  const post = async (request: IncomingMessage, response: ServerResponse, name: string, n: number): Promise<void> => {
    const served = conversations.get(name);
    if (served === undefined || !served.isOpen) return json(response, 404, "conversation_over", "there is no such conversation");
    served.most = Math.max(served.most, ++served.underWay);
    try {
      const text = await textOf(request);
      if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
      const before = served.seen.get(n) ?? 0;
      served.seen.set(n, before + 1);
      served.numbers.push(n);
      const does = onPost(n, before);
      if (does === "hang") return;
      if (does === "lose") return void request.socket.destroy();
      if (typeof does === "object") return void response.writeHead(does.status, { "content-type": does.type ?? "text/plain" }).end(does.body ?? "");
      if (n > served.taken.n + 1) return json(response, 409, "out_of_order", `batch ${served.taken.n + 1} has not come`);
      if (n === served.taken.n + 1) {
        served.taken.n = n;
        const batch = JSON.parse(text) as { type: string; unit?: number }[];
        for (const { type, unit } of batch) if (type === "play") units.add(`${name} ${unit}`);
        served.batches.push(batch);
        if (batch.length > 0) served.channel.onBatch(batch);
      }
      if (does === "take-and-lose") return void request.socket.destroy();
      response.writeHead(204).end();
    } finally {
      served.underWay--;
    }
  };

  const server = createServer((request, response) => {
    if (instead?.(request, response) === true) return;
    if (request.headers.authorization !== `Bearer ${token}`)
      return json(response, 401, "unauthorized", `the token ${request.headers.authorization ?? "(none)"} is none`);
    const url = new URL(request.url ?? "/", "http://server");
    const [, base, name] = url.pathname.split("/");
    if (base === "health")
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ protocol: version, environment: "env", version: "1", conversations: conversations.size, units: units.size }));
    if (request.method !== "POST" || base !== "conversations") return json(response, 404, "not_found", "there is nothing here");
    if (name === undefined) return begin(response);
    void post(request, response, name, Number(url.searchParams.get("n")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    conversations: all,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
