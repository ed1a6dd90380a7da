import type { ClientPorts } from "../../../src/clients/client.ts";
import { createClient } from "../../../src/clients/create-client.ts";
import type { ClientType } from "../../../src/config/plan/run-config.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { Client, PromptScore, ScoreRequest } from "../../../src/rollouts/types.ts";
import { scoreTexts } from "../../../src/clients/scoring/score-texts.ts";

/** What a server answers one request: its JSON, or a status with it. */
export type ScoringServer = (path: string, body: JsonObject) => unknown | Promise<unknown>;

export const status = (code: number, body: unknown): Response => Response.json(body, { status: code });

export interface ScoringStage {
  readonly client: Client;
  /** Every request that was sent, the probe's among them. */
  readonly sent: readonly { readonly path: string; readonly body: JsonObject; readonly headers: Headers }[];
  readonly notes: readonly string[];
  /** Waits that were asked for, in milliseconds; they pass at once. */
  readonly slept: readonly number[];
  score(texts: readonly string[], fields?: Partial<ScoreRequest>): Promise<PromptScore[]>;
}

/** A client of a server that is a function, without waiting. */
export function scoringStage(
  server: ScoringServer,
  { type = "openai_completions", headers_from_state, ...ports }: Partial<ClientPorts> & { type?: ClientType; headers_from_state?: Record<string, string> } = {},
): ScoringStage {
  const sent: { path: string; body: JsonObject; headers: Headers }[] = [];
  const notes: string[] = [];
  const slept: number[] = [];
  const client = createClient(
    type,
    { base_url: "http://scores.test/v1", api_key: "sk-very-secret-1234", ...(headers_from_state === undefined ? {} : { headers_from_state }) },
    {
      fetch: async (url, init) => {
        const { pathname } = new URL(url);
        const body = JSON.parse(String(init?.body ?? "{}")) as JsonObject;
        sent.push({ path: pathname, body, headers: new Headers(init?.headers) });
        init?.signal?.throwIfAborted();
        const answer = await server(pathname, body);
        return answer instanceof Response ? answer : Response.json(answer);
      },
      sleep: async (ms) => {
        slept.push(ms);
        await new Promise((resolve) => setImmediate(resolve));
      },
      random: () => 0,
      onNote: (message) => void notes.push(message),
      ...ports,
    },
  );
  const score: ScoringStage["score"] = (texts, fields = {}) => scoreTexts(client, { texts, model: "m", state: {}, signal: null, ...fields });
  return { client, sent, notes, slept, score };
}
