import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Workplace } from "../../support/cli/cli-process.ts";
import { type JsonRow, jsonRows } from "../../support/results/results-check.ts";
import { Served } from "../../support/cli/served.ts";

/** A Python with `datasets`, `huggingface_hub`, `pandas`, `polars` and `duckdb`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
if (PYTHON === "") console.log("skipped: EDGEWISE_TEST_PYTHON is not set (runs read from the service by datasets, huggingface_hub, pandas, polars and duckdb)");

const ENVIRONMENTS: Readonly<Record<string, readonly object[] | null>> = {
  "alphabet-sort": null,
  arithmetic: null,
  gsm8k: [{ question: "Question 0?", answer: "9*2=18\n#### 18" }],
  math500: [{ question: "Question 0?", answer: "2" }],
  "reverse-text": null,
  "tool-test": null,
  "truthfulqa-mc": [{ question: "Question 0?", mc1_targets: { choices: ["right", "wrong"], labels: [1, 0] } }],
  wordle: null,
};

interface Asked {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Calls a tool first where there are some; every third answer is empty, and every fifth request refused. */
function model(): Server {
  let asked = 0;
  return createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    request.on("end", () => {
      asked += 1;
      const { messages, tools = [] } = JSON.parse(text || "{}") as Asked;
      const send = (status: number, body: object): void => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (asked % 5 === 0) return send(400, { error: { message: "too much of it", type: "invalid_request_error" } });
      const [tool] = tools;
      const calls = tool !== undefined && messages.at(-1)?.role !== "tool";
      const message = calls
        ? { role: "assistant", content: "", tool_calls: [{ id: "call_1", type: "function", function: { name: tool.function.name, arguments: '{"x": 1}' } }] }
        : { role: "assistant", content: asked % 3 === 0 ? "" : '=SUM("é🚀")\n\\boxed{18}' };
      return send(200, {
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "scripted",
        choices: [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }],
        usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
      });
    });
  });
}

interface Row {
  readonly example_id: number;
  readonly rollout_index: number;
  readonly reward: number | null;
  readonly error: { readonly code: string | null } | null;
  readonly completion:
    | readonly { readonly role: string; readonly content: string | null; readonly tool_calls: readonly { readonly arguments: string }[] | null }[]
    | null;
}
interface Found {
  readonly files: readonly string[];
  readonly tree: readonly string[];
  readonly refs: readonly string[];
  readonly sha: string;
  readonly paths: readonly string[];
  readonly rows: readonly Row[];
  readonly streamed: readonly Row[];
  readonly pinned: number;
  readonly downloaded: readonly [number, readonly string[], readonly number[]];
  readonly pandas: readonly number[];
  readonly polars: readonly number[];
  readonly duckdb: readonly number[];
  readonly features: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string | null>>;
}

describe.skipIf(PYTHON === "")("the service as a Hub", () => {
  const place = new Workplace();
  const served = new Served(place);
  const server = model();
  let url = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    await served.start(null, { EDGEWISE_TOKEN: "" });
  });
  afterAll(async () => {
    await served.end("SIGTERM");
    place.remove();
    server.close();
  });

  /** Id of a run over it, and its rows. */
  async function ran(id: string): Promise<readonly [string, readonly JsonRow[]]> {
    const rows = ENVIRONMENTS[id] ?? null;
    if (rows !== null) writeFileSync(join(place.folder, "rows.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const data = rows === null ? [] : ["-a", '{"dataset": "rows.jsonl"}'];
    const { stderr, stdout } = await place.run(["eval", "run", id, "-m", "scripted", "-b", url, ...data, "-n", "3", "-r", "3", "--max-retries", "0"]);
    const run = /Run ([0-9a-f]{8})/.exec(stdout + stderr)?.[1];
    if (run === undefined) throw new Error(stdout + stderr);
    await served.when(run, ({ edgewise }) => edgewise.settled, "to settle");
    return [run, jsonRows(await served.file(run, "results.jsonl"))];
  }

  it.each(Object.keys(ENVIRONMENTS))("gives clients the rows of results.jsonl, typed: %s", { timeout: 180_000 }, async (id) => {
    const [run, rows] = await ran(id);
    const cache = join(place.folder, "cache", id);
    mkdirSync(cache, { recursive: true });
    const env = {
      ...process.env,
      HF_ENDPOINT: served.url,
      HF_TOKEN: "anything",
      HF_HOME: join(cache, "home"),
      HF_HUB_DISABLE_XET: "1",
      HF_HUB_DISABLE_TELEMETRY: "1",
    };
    const script = join(import.meta.dirname, "../../support/results/read-hub.py");
    const { stdout } = await promisify(execFile)(PYTHON, [script, `edgewise/${run}`, cache, "edgewise/0000dead"], { env, maxBuffer: 1e8 });
    const found = JSON.parse(stdout) as Found;
    const rewards = rows.map(({ reward }) => reward);
    for (const read of [found.rows, found.streamed]) {
      expect(read.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward])).toEqual(
        rows.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward]),
      );
      expect(read.map(({ error }) => error?.code ?? null)).toEqual(rows.map(({ error }) => (error as { code: string } | null)?.code ?? null));
      expect(read.map(({ completion }) => (completion ?? []).map(({ role, content }) => [role, content]))).toEqual(
        rows.map(({ completion }) => ((completion ?? []) as { role: string; content: string | null }[]).map(({ role, content }) => [role, content])),
      );
    }
    for (const read of [found.pandas, found.polars, found.duckdb, found.downloaded[2]]) expect(read).toEqual(rewards);
    expect(found.features).toMatchObject({ example_id: "Value('int64')", reward: "Value('float64')", is_truncated: "Value('bool')" });
    expect([found.files, found.paths, found.refs, found.pinned]).toEqual([
      ["README.md", "data/train-00000-of-00001.parquet"],
      ["data/train-00000-of-00001.parquet"],
      [found.sha],
      rows.length,
    ]);
    expect(found.errors).toMatchObject({
      load: expect.stringContaining("DatasetNotFoundError"),
      snapshot: expect.stringMatching(/RepositoryNotFoundError[\s\S]*There is no such run/),
      file: expect.stringContaining("EntryNotFoundError"),
      revision: expect.stringContaining("RevisionNotFoundError"),
    });
    if (id !== "tool-test") return;
    expect(found.rows.some(({ error }) => error !== null)).toBe(true);
    expect(found.rows.flatMap(({ completion }) => completion ?? []).flatMap(({ tool_calls: calls }) => calls ?? [])).toContainEqual(
      expect.objectContaining({ arguments: '{"x": 1}' }),
    );
  });
});
