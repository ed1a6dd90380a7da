import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createdIn, type Exchange, type Recording } from "../../../tools/prime-client/exchange.ts";
import { Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";
import { sentTraces } from "../../support/door/traces-upload.ts";
import { type ClientAnswer, readAsClient, TERMINAL } from "../../support/door/prime-reads.ts";

/** What the real client sent, check by check (`tools/prime-client-check.ts --record`). */
const FIXTURES = join(import.meta.dirname, "../../fixtures/prime-client");
const recordings = readdirSync(FIXTURES).map((name) => JSON.parse(readFileSync(join(FIXTURES, name), "utf8")) as Recording);
const TOKEN = "e2e-token";
const END_MS = 30_000;

let place: Workplace;
let model: ModelServer;
let service = "";
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
  const serve = place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN, CHECK_API_KEY: "of-the-check" });
  await serve.says("Edgewise listens on", 40_000);
  service = /listens on (\S+)/.exec(serve.stdout())?.[1] ?? "";
}, 60_000);
afterAll(async () => {
  place.remove();
  await model.close();
});

describe("the prime client, as recorded", () => {
  it("was recorded for every command of the contract", () => {
    const names = recordings.map(({ check }) => check);
    for (const begin of [
      "run",
      "run-follow",
      "run-every-flag",
      "config-ablation",
      "list",
      "get",
      "samples",
      "logs",
      "stop",
      "wrong-key",
      "run-missing",
      "env-bundled",
      "sdk-create",
      "sdk-cancel",
      "push",
      "push-run-id",
      "push-found",
      "push-refused",
      "sdk-push",
      "vf-eval",
      "vf-eval-opted-out",
      "vf-eval-stopped",
    ]) {
      expect(
        names.some((name) => name.startsWith(begin)),
        begin,
      ).toBe(true);
    }
    expect(recordings.flatMap(({ exchanges }) => exchanges).length).toBeGreaterThan(100);
  });

  it.each(recordings)("$check: gets the answers it can read", async ({ check, exchanges, script }) => {
    model.setScript(script);
    const runs: string[] = [];
    for (const exchange of exchanges) {
      const { json, status } = await replay(exchange, runs);
      expect(status, `${exchange.method} ${exchange.path}`).toBe(exchange.status);
      if (exchange.created === 0) continue;
      const created = createdIn(exchange.path, json);
      expect(created).toHaveLength(exchange.created);
      runs.push(...created);
    }
    model.setScript({});
    const streamed = STREAMED[check];
    if (streamed !== undefined) await hasEpisodes(runs[0] ?? "", streamed);
    // What goes on costs the next check time.
    for (const id of runs)
      await send({ method: "PATCH", path: `/api/v1/hosted-evaluations/${id}/cancel`, headers: { authorization: `Bearer ${TOKEN}` }, body: null });
  });
});

/** Episodes that `vf-eval` had sent when it ended, in whichever form. */
const STREAMED: Readonly<Record<string, number>> = { "vf-eval": 8, "vf-eval-opted-out": 2 };

async function hasEpisodes(id: string, episodes: number): Promise<void> {
  for (const deadline = Date.now() + END_MS; ; await sleep(100)) {
    const { text } = await send({ method: "GET", path: `/api/v1/evaluations/${id}`, headers: { authorization: `Bearer ${TOKEN}` }, body: null });
    const evaluation = JSON.parse(text) as { status: string };
    if (!TERMINAL.includes(evaluation.status) && Date.now() < deadline) continue;
    // What it averaged itself is what the rows say.
    return expect(evaluation).toMatchObject({ status: "COMPLETED", total_samples: episodes, edgewise: { pushed: { differences: [] } } });
  }
}

/** Sends what the client sent; asks again, as the client does, until a run that had ended has ended. */
async function replay(exchange: Exchange, runs: readonly string[]) {
  const filled = (text: string): string =>
    text
      .replaceAll("{model}", model.url)
      .replaceAll("{token}", TOKEN)
      .replaceAll(/\{run_(\d+)\}/g, (_, index: string) => runs[Number(index)] ?? "");
  const { method } = exchange;
  const path = filled(exchange.path);
  const upload = exchange.traces === undefined ? null : await sentTraces(filled(exchange.traces.lines), { metadata: JSON.parse(exchange.traces.metadata) });
  const body = upload?.body ?? (exchange.body === null ? null : filled(exchange.body));
  const recorded = Object.fromEntries(Object.entries(exchange.headers).map(([name, value]) => [name, filled(value)]));
  const headers = { ...recorded, ...upload?.headers };
  const wanted = exchange.evaluation_status;
  for (const deadline = Date.now() + END_MS; ; await sleep(100)) {
    const answer = await send({ method, path, headers, body });
    const json = readAsClient(method, path, typeof body === "string" ? body : null, answer);
    if (wanted === null || !TERMINAL.includes(wanted) || json.status === wanted || Date.now() > deadline) {
      if (wanted !== null && TERMINAL.includes(wanted)) expect(json.status).toBe(wanted);
      return { json, status: answer.status };
    }
  }
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** Header by header as recorded, which `fetch` would not do. */
function send({ method, path, headers, body }: Sent): Promise<ClientAnswer> {
  const began = performance.now();
  const { "accept-encoding": _, ...plain } = headers;
  const length = body === null ? (headers["content-length"] === undefined ? {} : { "content-length": "0" }) : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, service), { method, headers: { ...plain, ...length } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const contentType = response.headers["content-type"] ?? "";
        resolve({ status: response.statusCode ?? 0, contentType, text, ms: performance.now() - began });
      });
    });
    sent.once("error", reject);
    sent.end(body ?? undefined);
  });
}
