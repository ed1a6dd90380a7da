/** A folder of results and a stand-in for the service, for tests of what `-R` does with them. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { GivenOptions } from "../../../src/cli/command-line/flags.ts";
import { ServiceClient } from "../../../src/cli/connection/http-client.ts";
import type { RunWish } from "../../../src/cli/eval-run/wish/run-wish.ts";
import { startRun } from "../../../src/cli/eval-run/start/start-run.ts";
import { type FakeRequest, type FakeService, sendJson, startFakeService } from "../cli/cli-fake-service.ts";
import { openDoor } from "../door/fake-ports.ts";

export const RUN = "1a2b3c4d";
export const METADATA = {
  env_id: "gsm8k",
  env_args: {},
  model: "org/m",
  base_url: "http://127.0.0.1:1/v1",
  num_examples: 2,
  rollouts_per_example: 2,
  sampling_args: { n: 1, extra_body: {}, max_tokens: null },
  state_columns: [],
  pass_threshold: 0.5,
  edgewise: { run_id: RUN, status: "RUNNING", env_version: "1.0.0", dataset_digest: "d".repeat(64) },
};
export const ROW = `{"example_id":0,"reward":1,"error":null}\n`;
export const INFRA_ROW = `{"example_id":0,"reward":0,"error":{"error":"ModelError","code":"connection_failed"}}\n`;
export const MODEL_ROW = `{"example_id":0,"reward":0,"error":{"error":"ModelError","code":"bad_request"}}\n`;

export const evaluation = (runId: string, edgewise: object = {}, metadata: object = {}) => ({
  evaluation_id: runId,
  status: "RUNNING",
  error_message: null,
  eval_config: {},
  metadata: { ...METADATA, sampling_args: { max_tokens: null }, ...metadata },
  edgewise: { run_id: runId, phase: "open", settled: false, suspended: false, owed_rollouts: 1, seq: 12, done_rollouts: 0, total_rollouts: 4, ...edgewise },
});

/** Says what a creation would measure, as the service does. */
const DOOR = openDoor({ baseUrl: METADATA.base_url }, { PRIME_API_KEY: "sk" }, (run) => run, [
  { id: "gsm8k", version: "1.0.0", description: "", source: "", defaults: { rollouts_per_example: 2 }, check: () => null },
]);
export const notFound = [404, { detail: "No such run.", code: "not_found" }] as const;

/** Cleared away after each test of the file that asks for it. */
export function resumeBench() {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "edgewise-resume-"));
  });
  /** Rows that the service has of any run, and what tells their history from that of a copy. */
  const there = { rows: ROW, mark: "1.1-1-0" };
  beforeEach(() => {
    Object.assign(there, { rows: ROW, mark: "1.1-1-0" });
  });
  let service: FakeService | null = null;
  const close = async (): Promise<void> => {
    await service?.close();
  };
  afterEach(async () => {
    rmSync(root, { recursive: true, force: true });
    await close();
    service = null;
  });

  /** A results folder below the root; the newest has the largest `age`. */
  function folder(runId: string, options: { metadata?: object | string; rows?: string | null; age?: number } = {}): string {
    const metadata = options.metadata ?? { ...METADATA, edgewise: { ...METADATA.edgewise, run_id: runId } };
    const model = typeof metadata === "object" && "model" in metadata ? String(metadata.model) : METADATA.model;
    const path = join(root, "outputs", "evals", `gsm8k--${model.replaceAll("/", "--")}`, runId);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "metadata.json"), typeof metadata === "string" ? metadata : JSON.stringify(metadata));
    if (options.rows !== null) writeFileSync(join(path, "results.jsonl"), options.rows ?? ROW);
    utimesSync(path, 1000 + (options.age ?? 0), 1000 + (options.age ?? 0));
    return path;
  }

  const wish = (given: GivenOptions, change: Partial<RunWish> = {}): RunWish => ({
    envId: "gsm8k",
    reference: "gsm8k",
    given,
    dataset: null,
    base: join(root, "outputs"),
    cwd: root,
    envVersion: "1.0.0",
    ...change,
  });

  async function start(given: GivenOptions, handler: (request: FakeRequest) => readonly [number, unknown], change: Partial<RunWish> = {}) {
    service = await startFakeService(async (request, response) => {
      if (request.path.endsWith("/rows")) {
        const marks = { "x-edgewise-after-mark": there.mark, "x-edgewise-next-mark": there.mark };
        return void response.writeHead(200, { "x-edgewise-next": "1", "x-edgewise-more": "0", ...marks }).end(there.rows);
      }
      if (!request.path.endsWith("/evaluation-settings")) return sendJson(response, ...handler(request));
      const answer = await DOOR.call("POST", "/evaluation-settings", request.body);
      sendJson(response, answer.status, await answer.json());
    });
    return await startRun(new ServiceClient(service.url), wish(given, change), new AbortController().signal);
  }
  const posted = (suffix: string): readonly unknown[] =>
    (service?.asked ?? []).filter(({ method, path }) => method === "POST" && path.endsWith(suffix)).map(({ body }) => JSON.parse(body) as unknown);
  const asked = (suffix: string): number => (service?.asked ?? []).filter(({ path }) => path.endsWith(suffix)).length;
  return { root: () => root, folder, start, posted, asked, there, close };
}
