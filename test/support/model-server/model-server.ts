import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { BatchServer } from "./batches/batch-server.ts";
import type { BatchLedger } from "./batches/batch-ledger.ts";
import { JSON_TYPE, readJson, send, sendJson } from "./json-http.ts";
import { answerTo, type ChatMessage, completionBody, promptOf, type Refusal, refusal, refusalOf } from "./model-answers.ts";
import { type AdmittedRequest, LimitedGate } from "./limited/limited-gate.ts";
import { Ledger, type LedgerEntry } from "./model-ledger.ts";
import { type Fault, faultPicker, parseScript, type Script, type ScriptInput } from "./model-script.ts";

/**
 * A model server on loopback that does what it is told and remembers what it was asked.
 *
 *   POST /v1/chat/completions   as OpenAI has it, without streaming
 *   GET  /v1/models
 *   GET  /stats                 `?model=M` of one model; `?requests=1` adds every request, `?calls=1` the count per prompt and session
 *   DELETE /stats               starts a new page of the ledger
 *   POST /script                a new script; request numbers and times of its rules count from here
 *   GET  /limited               what a script's `limited` took and refused, `?from=MS&to=MS` since the script was set
 *   /v1/files, /v1/batches, /v1/messages/batches   as OpenAI and Anthropic have them; each request of a batch is answered as the script says
 *   GET  /batches               what came of them: files, batches, calls, requests that are paid; DELETE forgets all of it
 *   POST /batches {"to": "completed", "done": 0.5, "batch_id": ID}   ends batches that wait to be told, or says how far they are
 *   POST /batches/release       lets go of calls that a rule holds
 *   POST /down {"ms": N}        refuses connections for so long
 */
export interface ModelServer {
  /** Base URL of the API, ends in `/v1`. */
  readonly url: string;
  /** Base URL of `/stats`, `/script` and `/down`. */
  readonly controlUrl: string;
  readonly ledger: Ledger;
  /** See `GET /batches`. */
  batches(): BatchLedger;
  setScript(script: ScriptInput): void;
  /** From now on answers wait until the function that it gives back is called: what a test looks at meanwhile lasts as long as it looks. */
  hold(): () => void;
  /** Cuts every connection and refuses new ones, until `comeUp`. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

interface Playing {
  readonly script: Script;
  readonly pick: ReturnType<typeof faultPicker>;
  readonly since: number;
  readonly attempts: Map<string, number>;
  readonly gate: LimitedGate | null;
  requests: number;
}

interface CompletionRequest {
  readonly model?: unknown;
  readonly messages?: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly user?: string;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

const HOST = "127.0.0.1";

export async function startModelServer(script: ScriptInput = {}, port = 0): Promise<ModelServer> {
  const ledger = new Ledger();
  const sockets = new Set<Socket>();
  let playing = play(script);
  const batches = new BatchServer(() => playing.script);
  const setScript = (next: unknown): void => {
    playing = play(next);
    batches.scriptChanged();
  };
  let held: PromiseWithResolvers<void> | null = null;

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 400, { error: { message: error instanceof Error ? error.message : String(error) } });
      else response.destroy();
    });
  });
  // Idle connections stay as long as the client likes: a server that closes them races with the next request.
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.on("connection", (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await listen(server, port);
  const bound = (server.address() as AddressInfo).port;

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", `http://${HOST}`);
    if (await batches.answers(request, response, url)) return;
    switch (`${request.method} ${url.pathname}`) {
      case "POST /v1/chat/completions":
        return complete(request, response);
      case "GET /v1/models":
        return sendJson(response, 200, {
          object: "list",
          data: (playing.script.models ?? ["scripted"]).map((id) => ({ id, object: "model", owned_by: "tests" })),
        });
      case "GET /stats": {
        const model = url.searchParams.get("model") ?? undefined;
        const requests = url.searchParams.has("requests") ? { requests: ledger.entries(model) } : {};
        const calls = url.searchParams.has("calls") ? { calls: ledger.calls(model) } : {};
        return sendJson(response, 200, { ...ledger.stats(model), ...requests, ...calls });
      }
      case "DELETE /stats":
        ledger.clear();
        return sendJson(response, 200, ledger.stats());
      case "POST /script":
        setScript(await readJson(request));
        return sendJson(response, 200, playing.script);
      case "GET /limited": {
        const [from, to] = ["from", "to"].map((name) => Number(url.searchParams.get(name) ?? Number.NaN)) as [number, number];
        if (playing.gate === null) throw new TypeError("the script has no limits");
        return sendJson(response, 200, playing.gate.figures(Number.isNaN(from) ? 0 : from, Number.isNaN(to) ? performance.now() - playing.since : to));
      }
      case "POST /down": {
        const { ms } = (await readJson(request)) as { ms: number };
        sendJson(response, 200, { ms });
        response.once("close", () => void goDown().then(() => setTimeout(() => void comeUp(), ms)));
        return;
      }
      default:
        return send(response, refusal(404, `no route ${request.method} ${url.pathname}`, "invalid_request_error", "not_found"));
    }
  }

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await readJson(request)) as CompletionRequest;
    const model = String(body.model);
    const messages = body.messages ?? [];
    const prompt = promptOf(messages);
    const header = request.headers["x-session-id"];
    const entry = ledger.begin({ model, prompt, session: typeof header === "string" ? header : null });
    response.once("close", () => ledger.end(entry, "aborted"));

    const { script, pick, attempts, since, gate } = playing;
    const nth = ++playing.requests;
    const attempt = (attempts.get(prompt) ?? 0) + 1;
    attempts.set(prompt, attempt);
    const admitted = gate === null ? null : ask(gate, script, body);
    if (admitted !== null && "status" in admitted) {
      ledger.end(entry, "limited");
      return send(response, admitted);
    }
    const outputTokens = script.usage?.completion_tokens ?? 0;
    // An answer is over when it is handed to the socket: the client's next request is never here before that.
    response.once("finish", () => admitted?.end(outputTokens));
    response.once("close", () => admitted?.end(0));
    const fault = pick({ nth, attempt, prompt, model, age_ms: performance.now() - since });

    const latency =
      (typeof script.latency_ms === "number" ? script.latency_ms : between(...script.latency_ms)) + (fault?.kind === "slow_headers" ? fault.ms : 0);
    if (latency > 0) await new Promise((resolve) => setTimeout(resolve, latency));
    while (held !== null) await held.promise;
    if (response.destroyed) return;

    const refused = refuse(script, request, body.stream === true, model) ?? (fault === null ? null : refusalOf(fault, model));
    if (refused !== null) {
      ledger.end(entry, fault?.kind ?? "refused");
      return send(response, refused);
    }
    const text = completionBody({ n: entry.n, model, content: answerTo(script, messages, attempt), usage: script.usage }, fault);
    for (const [name, value] of Object.entries(admitted?.headers ?? {})) response.setHeader(name, value);
    answer(response, entry, text, fault);
  }

  function answer(response: ServerResponse, entry: LedgerEntry, text: string, fault: Fault | null): void {
    switch (fault?.kind) {
      case "never":
        return;
      case "close_before_headers":
        ledger.end(entry, fault.kind);
        response.socket?.destroy();
        return;
      case "close_mid_body": {
        const half = Buffer.from(text).subarray(0, Math.floor(text.length / 2));
        response.writeHead(200, { ...JSON_TYPE, "content-length": Buffer.byteLength(text) });
        ledger.end(entry, fault.kind);
        response.write(half, () => response.socket?.destroy());
        return;
      }
      case "malformed_json":
        ledger.end(entry, fault.kind);
        send(response, { status: 200, headers: {}, body: text.slice(0, Math.floor(text.length / 2)) });
        return;
      case "slow_body":
        response.writeHead(200, JSON_TYPE);
        response.flushHeaders();
        setTimeout(() => {
          ledger.end(entry, fault.kind);
          response.end(text);
        }, fault.ms);
        return;
      default:
        ledger.end(entry, fault?.kind ?? "answered");
        send(response, { status: 200, headers: {}, body: text });
    }
  }

  async function goDown(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  const comeUp = (): Promise<void> => listen(server, bound);

  return {
    url: `http://${HOST}:${bound}/v1`,
    controlUrl: `http://${HOST}:${bound}`,
    ledger,
    batches: () => batches.ledger(),
    setScript,
    hold: () => {
      const mine = Promise.withResolvers<void>();
      held = mine;
      return () => {
        if (held === mine) held = null;
        mine.resolve();
      };
    },
    goDown,
    comeUp,
    close: goDown,
  };
}

function play(input: unknown): Playing {
  const script = parseScript(input);
  const gate = script.limited === null ? null : new LimitedGate(script.limited);
  return { script, pick: faultPicker(script.faults), since: performance.now(), attempts: new Map(), gate, requests: 0 };
}

/** Its tokens are those of the script's `usage`, and its max_tokens where the request has none. */
function ask(gate: LimitedGate, { usage }: Script, body: CompletionRequest): Refusal | AdmittedRequest {
  const { prompt_tokens: input, completion_tokens: output } = usage ?? { prompt_tokens: 0, completion_tokens: 0 };
  const model = String(body.model);
  return gate.ask({ input_tokens: input, output_tokens: body.max_completion_tokens ?? body.max_tokens ?? output }, model, body.user ?? model);
}

/** What a real server would refuse, scripted or not. */
function refuse(script: Script, request: IncomingMessage, stream: boolean, model: string): Refusal | null {
  if (script.api_key !== null && request.headers.authorization !== `Bearer ${script.api_key}`) return refusalOf({ kind: "status", status: 401 }, model);
  if (script.models !== null && !script.models.includes(model)) return refusalOf({ kind: "model_not_found" }, model);
  return stream ? refusal(400, "This server does not stream.", "invalid_request_error", "unsupported") : null;
}

const between = (low: number, high: number): number => low + Math.random() * (high - low);

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
