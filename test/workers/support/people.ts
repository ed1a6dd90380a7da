import { reset } from "cloudflare:test";
import { vi } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import type { Scope } from "../../../src/teams/scopes.ts";
import { restoreClock, service, setVars, silenceQueue, STEADY } from "./service.ts";

/** A deployed service with people: `OWNER_TOKEN` is its owner's. */
export const OWNER_TOKEN = "the-owner";
export const MASTER_KEY = `ewk_${"k".repeat(42)}A`;
export const DEPLOYED = {
  EDGEWISE_TOKEN: OWNER_TOKEN,
  EDGEWISE_MASTER_KEY: MASTER_KEY,
  MODELS_API_KEY: "sk-secret",
  KEY_VARS: "MODELS_API_KEY@models.example",
};

export function deploy(): void {
  Object.assign(service, DEPLOYED);
}
export function undeploy(): void {
  for (const name of Object.keys(DEPLOYED)) delete (service as unknown as Record<string, unknown>)[name];
}

export class Door {
  /** One isolate: what it knows of tokens is its own. */
  readonly #app = createApp(portsOf);

  call(token: string | null, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const form = body instanceof URLSearchParams;
    const raw = body instanceof Uint8Array;
    const sent = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": raw ? "application/octet-stream" : form ? "application/x-www-form-urlencoded" : "application/json" }),
      ...(raw ? { "content-length": String(body.byteLength) } : {}),
      ...headers,
    };
    const url = path.startsWith("//") ? `https://edgewise.example${path.slice(1)}` : `https://edgewise.example/api/v1${path}`;
    return Promise.resolve(
      this.#app.request(
        url,
        { method, headers: sent, ...(body === undefined ? {} : { body: (raw || form ? body : JSON.stringify(body)) as BodyInit }) },
        service,
      ),
    );
  }

  /** The status of a call, and nothing of its body. */
  async status(token: string | null, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<number> {
    const response = await this.call(token, method, path, body, headers);
    await response.arrayBuffer();
    return response.status;
  }

  async json<T = { data: Record<string, unknown> }>(...args: Parameters<Door["call"]>): Promise<T> {
    const response = await this.call(...args);
    if (!response.ok) throw new Error(`${args[1]} ${args[2]}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Makes the teams where they are not there, with this user in them. */
  async join(user: string, teams: readonly string[], scopes: readonly Scope[] = ["admin"]): Promise<void> {
    for (const team of teams) {
      await this.json(OWNER_TOKEN, "PUT", `/teams/${team}`, {});
      await this.json(OWNER_TOKEN, "PUT", `/teams/${team}/members/${user}`, { scopes });
    }
  }

  /** The text of a new token. */
  async token(user: string, teams: readonly string[], scopes: readonly Scope[], more: { expires_in?: string } = {}): Promise<string> {
    const { data } = await this.json<{ data: { token: string } }>(OWNER_TOKEN, "POST", "/tokens", { name: `${user}'s`, user, teams, scopes, ...more });
    return data.token;
  }
}

/** A deployed service of one test, and Ada of the team `acme` at its door, whose token may this much. No queue delivers by itself. */
export async function openTeam(scopes: readonly Scope[]): Promise<{ readonly door: Door; readonly ada: string }> {
  setVars(STEADY);
  silenceQueue();
  deploy();
  const door = new Door();
  await door.join("ada", ["acme"]);
  return { door, ada: await door.token("ada", ["acme"], scopes) };
}

/** What `openTeam` made is gone, clock and spies are as before. */
export async function closeTeam(): Promise<void> {
  restoreClock();
  vi.restoreAllMocks();
  undeploy();
  await reset();
}

export const CREATION = {
  environment_ids: ["reverse-text"],
  inference_model: "scripted",
  eval_config: { num_examples: 3, rollouts_per_example: 1, api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY" },
};

export async function created(door: Door, token: string, changes: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const { evaluation_id } = await door.json<{ evaluation_id: string }>(token, "POST", "/hosted-evaluations", { ...CREATION, ...changes }, headers);
  return evaluation_id;
}
