import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { deafServer, echoServer } from "../../support/clients/scoring-servers.ts";
import type { ScoringServer } from "../../support/clients/scoring-client.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, rowsOf, viewOf } from "../support/runs.ts";
import { pause, service, setVars, STEADY } from "../support/service.ts";

let fleet: Fleet;
beforeEach(() => setVars({ ...STEADY, EXECUTOR_REQUESTS: "16" }));
afterEach(async () => {
  await fleet.close();
  await reset();
});

const TEXTS = Array.from({ length: 100 }, (_, at) => `The number of this text is ${at} and no other`);

/** A server that counts what comes: texts of each request, and requests at once. */
class Counted {
  readonly sizes: number[] = [];
  peak = 0;
  #now = 0;
  readonly #server: ScoringServer;

  constructor(server: ScoringServer) {
    this.#server = server;
  }

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const body = JSON.parse(String(init.body)) as JsonObject;
    this.sizes.push(Array.isArray(body.prompt) ? body.prompt.length : 1);
    this.peak = Math.max(this.peak, ++this.#now);
    await pause(20);
    const answer = await this.#server(new URL(url).pathname, body);
    this.#now--;
    return answer instanceof Response ? answer : Response.json(answer);
  };
}

async function play(model: Counted, changes: Parameters<typeof createRun>[0] = {}): Promise<RunConfig> {
  const rows = TEXTS.map((text) => `${JSON.stringify({ text })}\n`).join("");
  const digest = await sha256Hex(rows);
  await service.BUCKET.put(datasetKey(digest), rows);
  fleet = new Fleet({ model, executors: 1 });
  const config = await createRun({
    env_id: "perplexity",
    env_args: { dataset: `sha256:${digest}` },
    api_client_type: "openai_completions",
    num_examples: -1,
    max_concurrent: 2,
    ...changes,
  });
  await fleet.settled(config.run_id);
  expect((await viewOf(config.run_id)).status).toMatch(/COMPLETED|FAILED/);
  return config;
}

describe("a run that scores texts", () => {
  it("has those of rollouts that are open together in one request, within its limit of requests", async () => {
    const model = new Counted(echoServer());
    const config = await play(model);
    const rows = await rowsOf(config);
    expect(rows).toHaveLength(TEXTS.length);
    expect(rows.filter(({ error }) => error !== null)).toEqual([]);
    // Without the probe of two texts.
    const sizes = model.sizes.slice(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(TEXTS.length);
    expect(Math.max(...sizes)).toBeGreaterThan(20);
    expect(sizes.length).toBeLessThan(TEXTS.length / 5);
    expect(model.peak).toBeLessThanOrEqual(2);
  });

  it("ends by name where the server gives no log-probabilities of prompts, and has no score", async () => {
    const model = new Counted(deafServer);
    const config = await play(model);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "FAILED", failure: { code: "prompt_logprobs_unsupported" } });
    // The probe's alone, whatever was open.
    expect(model.sizes.length).toBeLessThan(10);
  });
});
