import type { Sleep } from "../../clients/client.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import { readText } from "../../clients/transport/response-body.ts";
import { isPublicAddress, parseUrl } from "../../config/endpoints/addresses.ts";
import { parseShallow } from "../../config/json-depth.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { InfraError } from "../../errors/rollout-errors.ts";
import { MIB } from "../../limits.ts";
import type { OpenEnvConnect, OpenEnvResult, OpenEnvServer, OpenEnvSession } from "./openenv-server.ts";
import { OpenEnvRefusal, OpenEnvSocket, type Socket } from "./openenv-socket.ts";

/** The way to servers. No redirect is followed: it would lead to an address that nobody has looked at. */
export interface OpenEnvNetwork {
  readonly fetch: (url: string, init: { readonly signal: AbortSignal; readonly redirect: "manual" }) => Promise<Response>;
  readonly socket: (url: string) => Socket;
  /** Whether addresses of this machine and its network are called; else public https alone. */
  readonly allowPrivate: boolean;
  readonly sleep?: Sleep;
}

/** As the reference waits for them (`health_request_timeout_seconds`, `schema_request_timeout_seconds`). */
const HEALTH_MS = 2_000;
const SCHEMA_MS = 5_000;
/** A schema becomes a part of every rollout's state. */
const MAX_SCHEMA_BYTES = MIB;
/** A server plays as many sessions as it was started for (one, where it says nothing): how long one is waited for, and how often it is asked. */
const ROOM_MS = 600_000;
const ROOM_POLL_MS = [250, 500, 1_000, 2_000] as const;

/** The platform's own way: the global `fetch` and `WebSocket`, which Node has from 22 on. */
export const platformNetwork = (allowPrivate: boolean): OpenEnvNetwork => ({
  fetch: (url, init) => fetch(url, init),
  socket: (url) => {
    if (typeof WebSocket === "undefined")
      throw new EdgewiseError("environment_failed", "this Node has no WebSocket, which OpenEnv servers are talked to by", {
        hint: "Node 22 and later have it.",
      });
    return new WebSocket(url) as unknown as Socket;
  },
  allowPrivate,
});

/** Reaches servers of the package `openenv-core`: what they are by HTTP, episodes over one WebSocket each. Throws `invalid_request` for an address that may not be called. */
export const openEnvConnect =
  (network: OpenEnvNetwork): OpenEnvConnect =>
  (baseUrl) =>
    new Server(checkedAddress(baseUrl, network.allowPrivate), network);

function checkedAddress(baseUrl: string, allowPrivate: boolean): string {
  const url = parseUrl(baseUrl);
  const fits = allowPrivate ? url?.protocol === "http:" || url?.protocol === "https:" : url?.protocol === "https:" && isPublicAddress(baseUrl);
  if (url === null || !fits || url.search !== "" || url.hash !== "")
    throw new EdgewiseError(
      "invalid_request",
      `the OpenEnv server ${JSON.stringify(baseUrl.slice(0, 200))} is no ${allowPrivate ? "http or" : "public"} https address`,
    );
  return baseUrl.replace(/\/+$/, "");
}

class Server implements OpenEnvServer {
  readonly #base: string;
  readonly #network: OpenEnvNetwork;

  constructor(base: string, network: OpenEnvNetwork) {
    this.#base = base;
    this.#network = network;
  }

  async healthy(): Promise<boolean> {
    const response = await this.#network.fetch(`${this.#base}/health`, { signal: AbortSignal.timeout(HEALTH_MS), redirect: "manual" });
    await response.body?.cancel();
    return response.ok;
  }

  async actionSchema(): Promise<JsonObject> {
    try {
      const response = await this.#network.fetch(`${this.#base}/schema`, { signal: AbortSignal.timeout(SCHEMA_MS), redirect: "manual" });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { action } = parseShallow(await readText(response, MAX_SCHEMA_BYTES)) as { readonly action?: unknown };
      if (typeof action !== "object" || action === null || Array.isArray(action)) throw new Error("it has no object `action`");
      return action as JsonObject;
    } catch (cause) {
      throw new InfraError(`/schema of the OpenEnv server cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }

  async session(signal: AbortSignal | null = null): Promise<OpenEnvSession> {
    const { sleep = realSleep } = this.#network;
    for (let waited = 0, attempt = 0; ; attempt++) {
      const socket = new OpenEnvSocket(this.#network.socket(`${this.#base.replace(/^http/, "ws")}/ws`));
      try {
        await socket.ask("state").catch(unlessRefusedElsewhere);
        return new Session(socket);
      } catch (thrown) {
        socket.close();
        if (!isFull(thrown)) throw thrown;
        if (waited >= ROOM_MS) throw new InfraError(`the OpenEnv server has no room for a session: ${thrown.message}`, { cause: thrown });
        const wait = ROOM_POLL_MS[Math.min(attempt, ROOM_POLL_MS.length - 1)] ?? 0;
        await sleep(wait, signal);
        waited += wait;
      }
    }
  }
}

const isFull = (thrown: unknown): thrown is OpenEnvRefusal => thrown instanceof OpenEnvRefusal && thrown.code === "CAPACITY_REACHED";

/** Any answer shows that there is a session, but for those that there is none. */
function unlessRefusedElsewhere(thrown: unknown): void {
  if (!(thrown instanceof OpenEnvRefusal) || thrown.code === "CAPACITY_REACHED") throw thrown;
  if (thrown.code === "FACTORY_ERROR" || thrown.code === "SESSION_ERROR")
    throw new InfraError(`the OpenEnv server began no session: ${thrown.message}`, { cause: thrown });
}

class Session implements OpenEnvSession {
  readonly #socket: OpenEnvSocket;
  #calls = 0;

  constructor(socket: OpenEnvSocket) {
    this.#socket = socket;
  }

  async reset(seed: number): Promise<OpenEnvResult> {
    return resultOf(await this.#socket.ask("reset", { seed }));
  }

  async step(action: JsonObject): Promise<OpenEnvResult> {
    return resultOf(await this.#socket.ask("step", action));
  }

  async listTools(): Promise<JsonObject[]> {
    const answer = await this.#socket.ask("mcp", { jsonrpc: "2.0", id: ++this.#calls, method: "tools/list", params: {} });
    const { result, error } = answer as { readonly result?: { readonly tools?: unknown } | null; readonly error?: { readonly message?: unknown } | null };
    if (error !== undefined && error !== null) throw new InfraError(`the OpenEnv server lists no tools: ${String(error.message)}`);
    const tools = (Array.isArray(result?.tools) ? result.tools : []).filter((tool): tool is JsonObject => typeof tool === "object" && tool !== null);
    if (tools.length === 0) throw new InfraError("the OpenEnv server has no tools");
    return tools;
  }

  async close(): Promise<void> {
    this.#socket.close();
  }
}

function resultOf(data: JsonObject): OpenEnvResult {
  if (!("observation" in data)) throw new InfraError("the OpenEnv server answered without an observation");
  // Rewards may be booleans.
  const reward = typeof data.reward === "boolean" ? Number(data.reward) : data.reward;
  return { observation: data.observation as Json, reward: typeof reward === "number" ? reward : null, done: data.done === true };
}
