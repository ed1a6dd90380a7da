import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WORKERS_AI_BASE_URL } from "../../../src/config/endpoints/providers.ts";
import { eventText, VOICES, type Voice } from "../../support/clients/client-voices.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, rowsOf } from "../support/runs.ts";
import { setVars, STEADY } from "../support/service.ts";

let fleet: Fleet;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});

/** Answers in the provider's form, whole or in pieces as it was asked. */
function answer(voice: Voice, body: string): Response {
  const said = { text: "four" };
  if ((JSON.parse(body) as { stream?: boolean }).stream !== true) return Response.json(voice.whole(said));
  const events = voice.stream(said).map(eventText).join("");
  return new Response(`${events}${voice.done ? "data: [DONE]\n\n" : ""}`, { headers: { "content-type": "text/event-stream" } });
}

/** Each client with its SDK, in the runtime that deployments have. */
describe.each(VOICES.map((voice) => [voice.type, voice] as const))("a run with %s", (api_client_type, voice) => {
  it.each([
    ["whole", {}],
    ["in pieces", { stream: true }],
  ])("takes answers %s", async (_how, sampling) => {
    const urls: string[] = [];
    const model = {
      fetch: async (url: string, init: RequestInit): Promise<Response> => {
        urls.push(new URL(url).pathname);
        return answer(voice, String(init.body));
      },
    };
    const ai = {
      run: async (name: string, inputs: object): Promise<Response> => {
        urls.push(name);
        return answer(voice, JSON.stringify(inputs));
      },
    };
    fleet = new Fleet({ model, ai });
    const config = await createRun({
      api_client_type,
      ...(api_client_type === "workers_ai" ? { base_url: WORKERS_AI_BASE_URL } : {}),
      num_examples: 3,
      rollouts_per_example: 1,
      sampling_args: { max_tokens: null, ...sampling },
    });
    await fleet.settled(config.run_id);
    const rows = await rowsOf(config);
    expect(rows.map(({ error, completion }) => [error, completion])).toEqual([1, 2, 3].map(() => [null, [{ role: "assistant", content: "four" }]]));
    expect(new Set(urls)).toEqual(new Set([api_client_type === "workers_ai" ? config.model : voice.path]));
  });
});
