import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, readJson, send, sendJson } from "../json-http.ts";
import type { Script } from "../model-script.ts";
import { anthropicReply, anthropicRoute } from "./anthropic-routes.ts";
import type { BatchLedger, EndBatch } from "./batch-ledger.ts";
import { refused, type Reply } from "./batch-replies.ts";
import { BatchStore, isOver, type Provider } from "./batch-store.ts";
import { openAiReply, openAiRoute } from "./openai-routes.ts";

/** The scripted server's routes of files and batches, OpenAI's and Anthropic's, and its own to look at them and tell them (`/batches`). */
export class BatchServer {
  readonly #script: () => Script;
  #store: BatchStore;
  #held: (() => void)[] = [];

  constructor(script: () => Script) {
    this.#script = script;
    this.#store = new BatchStore(script);
  }

  scriptChanged(): void {
    this.#store.scriptChanged();
  }

  /** Answers the request where it is one of these; whether it was. */
  async answers(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean> {
    const method = request.method ?? "GET";
    if (url.pathname === "/batches" || url.pathname === "/batches/release") {
      await this.#told(method, url.pathname, request, response);
      return true;
    }
    for (const provider of ["openai", "anthropic"] as const) {
      const known = (provider === "openai" ? openAiRoute : anthropicRoute)(method, url.pathname);
      if (known === null) continue;
      await this.#call(provider, known, request, response, url);
      return true;
    }
    return false;
  }

  async #call(
    provider: Provider,
    { route, id }: NonNullable<ReturnType<typeof openAiRoute>>,
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
  ): Promise<void> {
    const store = this.#store;
    const script = this.#script();
    const fault = store.faults.ofCall(route);
    const body = await readBody(request);
    const log = (what: string | null): void => void store.calls.push({ n: store.calls.length + 1, route, provider, at_ms: Date.now(), what });
    if (fault?.kind === "cut") {
      log(null);
      return void response.socket?.destroy();
    }
    if (fault?.kind === "hold" && !fault.effect) {
      log(null);
      await this.#hold();
    }
    let reply: Reply;
    if (!isKnown(provider, request, script)) reply = refused(provider, 401, "Incorrect API key provided.", provider === "openai" ? "invalid_api_key" : null);
    else if (fault?.kind === "status") {
      const headers: Record<string, string> = fault.retry_after_s === undefined ? {} : { "retry-after": String(fault.retry_after_s) };
      reply = refused(provider, fault.status, fault.message ?? `Scripted status ${fault.status}.`, fault.code, headers);
    } else {
      const call = {
        route,
        id,
        request: { type: request.headers["content-type"] ?? "", body: async () => body },
        query: url.searchParams,
        fault,
        origin: `http://${request.headers.host}`,
      };
      reply = await (provider === "openai" ? openAiReply : anthropicReply)(store, script, call);
    }
    if (!(fault?.kind === "hold" && !fault.effect)) log(reply.what);
    if (fault?.kind === "hold" && fault.effect) await this.#hold();
    if (fault?.kind === "answer_lost") return void response.socket?.destroy();
    if (fault?.kind === "half_body") {
      const whole = Buffer.from(reply.text);
      response.writeHead(reply.status, { "content-length": whole.length });
      response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.socket?.destroy());
      return;
    }
    send(response, { status: reply.status, headers: reply.headers ?? {}, body: reply.text });
  }

  async #told(method: string, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path === "/batches/release") {
      const held = this.#held;
      this.#held = [];
      for (const release of held) release();
      return sendJson(response, 200, { released: held.length });
    }
    if (method === "DELETE") this.#store = new BatchStore(this.#script);
    if (method === "POST") this.#end((await readJson(request)) as EndBatch);
    sendJson(response, 200, this.ledger());
  }

  #end({ batch_id, to, done }: EndBatch): void {
    const found = this.#store.batches.filter((batch) => (batch_id === undefined || batch.id === batch_id) && !isOver(this.#store.phase(batch)));
    for (const batch of found) {
      if (done !== undefined) batch.done = done;
      if (to === "failed") batch.errors = [{ code: "server_error", message: "The batch failed.", line: null }];
      if (to !== undefined) batch.told = to;
    }
  }

  async #hold(): Promise<void> {
    await new Promise<void>((resolve) => this.#held.push(resolve));
  }

  ledger(): BatchLedger {
    const store = this.#store;
    const batches = store.batches.map((batch) => ({
      id: batch.id,
      provider: batch.provider,
      state: store.phase(batch),
      requests: batch.requests.length,
      custom_ids: batch.requests.map(({ custom_id }) => custom_id),
      input_file_id: batch.input_file_id,
      metadata: batch.metadata,
      created_ms: batch.created_ms,
      paid:
        batch.results?.filter((result) => result.kind === "answer" && result.status === 200 && result.fault?.kind !== "lost").map(({ prompt }) => prompt) ?? [],
    }));
    const files = [...store.files.values()].map(({ id, filename, text }) => ({ id, filename, bytes: Buffer.byteLength(text) }));
    return { files, batches, calls: store.calls, held: this.#held.length, paid: batches.reduce((sum, { paid }) => sum + paid.length, 0) };
  }
}

function isKnown(provider: Provider, { headers }: IncomingMessage, { api_key }: Script): boolean {
  if (api_key === null) return true;
  return provider === "openai" ? headers.authorization === `Bearer ${api_key}` : headers["x-api-key"] === api_key;
}
