import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClientPorts, Endpoint, RetryNotice } from "../../../src/clients/client.ts";
import { createClient } from "../../../src/clients/create-client.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { ClientType, JsonObject } from "../../../src/config/plan/run-config.ts";
import type { Client, ModelRequest } from "../../../src/rollouts/types.ts";
import { EndpointPause } from "../../../src/clients/endpoint-pause.ts";
import { Gate } from "../../../src/clients/gate.ts";

/** What the server does with one request. */
export type Play = (response: ServerResponse, request: IncomingMessage, body?: JsonObject) => void;

export interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: JsonObject;
  /** Milliseconds since the server started. */
  readonly at: number;
}

export interface ScriptedEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Models that `GET /v1/models` lists; null = there is no such route. Looks are not among the requests seen. */
  offers: readonly string[] | null;
  readonly looks: readonly string[];
  readonly lookHeaders: readonly IncomingMessage["headers"][];
  readonly seen: readonly Seen[];
  /** Requests being answered now, and the most there were. */
  readonly load: { now: number; most: number };
}

export function completion(content: unknown, extra: JsonObject = {}): JsonObject {
  const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
  return {
    id: "c1",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: content as string }, finish_reason: "stop" }],
    usage,
    ...extra,
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
export const says = (content: string): Play => json(200, completion(content));
export const refuses = (status: number, error: JsonObject = { message: "no" }, headers: Record<string, string> = {}): Play => json(status, { error }, headers);
/** Headers and half of the answer, then the end of the connection. */
export const cutMidBody: Play = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
  response.write('{"id": "c1", "choi');
  setTimeout(() => response.destroy(), 20);
};
export const hangsUp: Play = (response) => void response.destroy();
export const neverAnswers: Play = () => undefined;

/**
 * A clock that stands until the server has had a request, and is then an hour on: a time limit that ends every attempt which is not answered at
 * once, and none before it was heard, however busy the machine is.
 */
export function lateOnceHeard(server: ScriptedEndpoint): () => number {
  const begin = Date.now();
  return () => begin + (server.seen.length > 0 ? 3_600_000 : 0);
}

/** A server on loopback that plays its script request by request; the last play is repeated. */
export async function scriptedEndpoint(...script: Play[]): Promise<ScriptedEndpoint> {
  const seen: Seen[] = [];
  const load = { now: 0, most: 0 };
  const begin = performance.now();
  const looks: string[] = [];
  const lookHeaders: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      looks.push(request.url ?? "");
      lookHeaders.push(request.headers);
      const listed = endpoint.offers !== null && request.url === "/v1/models";
      return json(listed ? 200 : 404, listed ? { object: "list", data: endpoint.offers?.map((id) => ({ id, object: "model" })) } : { detail: "Not Found" })(
        response,
        request,
      );
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as JsonObject;
      seen.push({ path: request.url ?? "", headers: request.headers, body, at: performance.now() - begin });
      load.now++;
      load.most = Math.max(load.most, load.now);
      response.on("close", () => load.now--);
      const play = script[Math.min(seen.length, script.length) - 1];
      play?.(response, request, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: ScriptedEndpoint = {
    offers: null,
    looks,
    lookHeaders,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    load,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

export interface TestClient {
  readonly client: Client;
  readonly gate: Gate;
  readonly pause: EndpointPause;
  readonly retries: RetryNotice[];
  /** Waits asked for by the request layer itself, in milliseconds; they pass at once. */
  readonly slept: number[];
}

/** A client of `url` with real requests and no real waiting, except in pauses. */
export function testClient(
  url: string,
  options: { type?: ClientType; endpoint?: Partial<Endpoint>; ports?: Partial<ClientPorts>; permits?: number } = {},
): TestClient {
  const retries: RetryNotice[] = [];
  const slept: number[] = [];
  const gate = new Gate(options.permits ?? 4);
  const pause = new EndpointPause({ now: Date.now, sleep, random: () => 0 });
  const client = createClient(
    options.type ?? "openai_chat_completions",
    { base_url: url, api_key: "sk-very-secret-1234", api_key_var: "TEST_KEY", headers: {}, ...options.endpoint },
    {
      gate,
      pause,
      fetch: (input, init) => fetch(input, init),
      now: Date.now,
      sleep: async (ms, signal) => {
        slept.push(ms);
        await sleep(0, signal);
      },
      random: () => 0,
      onRetry: (notice) => void retries.push(notice),
      timeouts: {},
      ...options.ports,
    },
  );
  return { client, gate, pause, retries, slept };
}

export const ask = (fields: Partial<ModelRequest> = {}): ModelRequest => ({
  prompt: [{ role: "user", content: "hello" }],
  model: "m-1",
  sampling_args: { n: 1, extra_body: {}, max_tokens: null },
  tools: [],
  state: { example_id: 7 },
  signal: null,
  ...fields,
});
