import type { ServerResponse } from "node:http";
import type { AiBinding, ClientPorts } from "../../../src/clients/client.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { eventText, type Said, type Voice } from "./client-voices.ts";
import { json, type Play } from "./scripted-endpoint.ts";

/** Voices before a real server: what it does with a request. */

/** The events one after the other; `until` cuts the connection off after so many. */
export const streams =
  (events: readonly JsonObject[], { done = true, until = events.length, gapMs = 1 }: { done?: boolean; until?: number; gapMs?: number } = {}): Play =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
    void writeAll(response, events.slice(0, until), gapMs).then(() => {
      if (until < events.length) response.destroy();
      else response.end(done ? "data: [DONE]\n\n" : "");
    });
  };

async function writeAll(response: ServerResponse, events: readonly JsonObject[], gapMs: number): Promise<void> {
  for (const event of events) {
    // In two writes, so that no event can count on arriving whole.
    const text = Buffer.from(eventText(event));
    const middle = Math.floor(text.length / 2);
    response.write(text.subarray(0, middle));
    await new Promise((resolve) => setTimeout(resolve, gapMs));
    response.write(text.subarray(middle));
  }
}

export const answers = (voice: Voice, said: Said): Play => json(200, voice.whole(said));
export const answersInPieces = (voice: Voice, said: Said, options: Parameters<typeof streams>[1] = {}): Play =>
  streams(voice.stream(said), { done: voice.done, ...options });

/** A binding that asks a scripted server: what differs from the platform's is only where the model is. */
export const scriptedBinding = (url: string): AiBinding => ({
  run: (model, inputs, { extraHeaders, signal }) =>
    fetch(new URL("/run", url), {
      method: "POST",
      headers: { "content-type": "application/json", "x-model": model, ...extraHeaders },
      body: JSON.stringify(inputs),
      signal,
    }),
});

export const portsFor = (voice: Voice, url: string): Partial<ClientPorts> => (voice.type === "workers_ai" ? { ai: scriptedBinding(url) } : {});
