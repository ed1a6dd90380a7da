import OpenAI from "openai";
import { createEmbeddedApp } from "../../../src/embedded-api/app.ts";
import { Turns } from "../../../src/embedded-api/turns.ts";
import type { EmbeddedModel } from "../../../src/embedded-model/model.ts";
import { committedModel } from "./committed-model.ts";

export interface EmbeddedStage {
  readonly model: EmbeddedModel;
  /** The official SDK, which believes that it speaks to a server. */
  readonly openai: OpenAI;
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
  /** Waits that were asked for. */
  readonly slept: readonly number[];
  /** How often computing made way for everything else. */
  pauses(): number;
}

/** The embedded routes without a server. */
export async function embeddedStage(): Promise<EmbeddedStage> {
  const model = await committedModel();
  const slept: number[] = [];
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return new Promise((resolve) => setImmediate(resolve));
  };
  const app = createEmbeddedApp({
    model,
    turns: new Turns({ now: () => performance.now(), pause }),
    now: () => 1_700_000_000_000,
    sleep: async (ms) => void slept.push(ms),
    random: Math.random,
  });
  const answer = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => app.fetch(new Request(url, init));
  return {
    model,
    slept,
    openai: new OpenAI({ apiKey: "any", baseURL: "http://embedded/v1", maxRetries: 0, fetch: answer }),
    pauses: () => pauses,
    post: (path, body, signal) =>
      answer(`http://embedded/v1${path}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
