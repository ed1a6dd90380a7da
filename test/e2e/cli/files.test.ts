import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLineOf } from "../../../src/cli/state/processes.ts";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, until } from "../../support/cli/cli-process.ts";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { type JsonRow, readText } from "../../support/results/results-check.ts";

const LONG = { timeout: 90_000 };

/** Keys of a row as verifiers has them, with `rollout_index` after the flattened metrics and the state columns last. */
const ROW_KEYS = [
  ...[
    "example_id",
    "prompt",
    "completion",
    "answer",
    "task",
    "reward",
    "error",
    "timing",
    "is_completed",
    "is_truncated",
    "stop_condition",
    "metrics",
    "tool_defs",
  ],
  ...["token_usage", "similarity", "num_turns", "rollout_index", "model", "nothing"],
];
const ERROR_ROW_KEYS = ROW_KEYS.flatMap((key) => (key === "token_usage" ? ["error_chain", "long_error_chain"] : key));
/** verifiers' keys of the metadata, and our own last. */
const METADATA_KEYS = [
  ...["env_id", "env_args", "model", "base_url", "num_examples", "rollouts_per_example", "sampling_args", "time_ms", "avg_reward", "avg_metrics", "avg_error"],
  ...["pass_at_k", "pass_all_k", "pass_threshold", "usage", "version_info", "state_columns", "tools", "edgewise"],
];
const EDGEWISE_KEYS = [
  ...["run_id", "status", "version", "env_version", "env_digest", "response_models", "dataset_digest", "order_seed", "settings"],
  ...[
    "reward_stderr",
    "reward_ci95",
    "reward_range",
    "n_clusters",
    "metric_estimates",
    "pass_at_k_ci95",
    "pass_all_k_ci95",
    "error_bounds",
    "errored_rollouts",
    "truncated_rollouts",
    "reward_without_errors",
    "tokens_total",
    "rows_digest",
  ],
];

/** Reads the folder as the Python tools do: a JSON text per line, numbers by name, nothing of ours. */
const READER = `
import json, sys
from pathlib import Path
folder = Path(sys.argv[1])
def strict(text):
    raise ValueError(text)
rows = [json.loads(line, parse_constant=strict) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
meta = json.loads((folder / "metadata.json").read_text(encoding="utf-8"), parse_constant=strict)
assert [r["example_id"] for r in rows] == sorted(r["example_id"] for r in rows)
assert all(isinstance(r["reward"], (int, float)) and isinstance(r["timing"]["total_ms"], (int, float)) for r in rows)
mean = sum(r["reward"] for r in rows) / len(rows)
print(json.dumps({"rows": len(rows), "mean": mean, "stored": meta["avg_reward"], "num_turns": meta["avg_metrics"]["num_turns"]}))
`;
const python = ["python3", "python"].find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);

describe.concurrent("a results folder", () => {
  it(
    "holds rows and metadata in the order of keys that verifiers has, strict JSON, and a log in its format",
    LONG,
    inPlace({ accuracy: 0.5, faults: [{ when: { nth: 3 }, fault: { kind: "empty_content" } }] }, async (bench) => {
      const { place } = bench;
      const { code, stderr } = await place.run(
        bench.reverse("-n", "6", "-r", "2", "-c", "1", "-C", "model,nothing,reward", "-S", '{"top_p": 0.9}', "-t", "50"),
      );
      expect(code, stderr).toBe(3);
      const text = readText(place.results, "results.jsonl");
      expect(text.endsWith("}\n")).toBe(true);
      expect(keysOfRows(bench.rows)).toEqual(grid(6, 2));
      for (const row of bench.rows) {
        expect(Object.keys(row)).toEqual(row.error === null ? ROW_KEYS : ERROR_ROW_KEYS);
        expect(row).toMatchObject({ task: "reverse-text", model: "scripted", nothing: null, is_completed: true, tool_defs: [] });
        expect(Object.keys(row.timing as object)).toEqual(["generation_ms", "scoring_ms", "total_ms", "start_time"]);
        expect(row.prompt).toEqual([
          { role: "system", content: expect.stringContaining("Reverse the text") },
          { role: "user", content: [...String(row.answer)].reverse().join("") },
        ]);
      }
      const errored = bench.rows.filter(({ error }) => error !== null);
      expect(errored).toHaveLength(1);
      expect(errored[0]).toMatchObject({
        completion: [],
        reward: 0,
        error: { error: "EmptyModelResponseError", error_chain_str: expect.stringMatching(/^EmptyModelResponseError/), code: "empty_response" },
      });
      const right = bench.rows.find(({ reward }) => reward === 1);
      expect(right).toMatchObject({
        completion: [{ role: "assistant", content: `<reversed_text>${right?.answer}</reversed_text>` }],
        similarity: 1,
        metrics: { similarity: 1, num_turns: 1 },
      });

      expect(Object.keys(bench.metadata)).toEqual(METADATA_KEYS);
      expect(Object.keys(bench.metadata.edgewise)).toEqual(EDGEWISE_KEYS);
      expect(bench.metadata).toMatchObject({
        sampling_args: { n: 1, extra_body: {}, top_p: 0.9, max_tokens: 50 },
        state_columns: ["model", "nothing", "reward"],
      });
      expect(bench.metadata.edgewise).toMatchObject({ response_models: { seen: [{ model: "scripted", system_fingerprint: null, answers: 11 }] } });
      // Two rows for example 1, of which one has no usage: means are over the rows that have it.
      expect(bench.metadata.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
      for (const line of readText(place.results, "eval.log").trimEnd().split("\n")) {
        expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d - edgewise\.run - (INFO|WARNING|ERROR) - \S.*$/);
      }
      expect(readText(place.results, "eval.log")).toMatch(/- ERROR - First empty_response: /);
    }),
  );

  it.skipIf(python === undefined)(
    "is read by Python line by line, whatever the texts hold, and gives the stored mean",
    LONG,
    inPlace({ answer: "echo" }, async (bench) => {
      const { place } = bench;
      const texts = ["aba", "naïve — 漢字 🙂", "line\u2028separator\u2029and\u0085next", 'quotes " and \\ and \t tab', "\u0000\u001f\ud83d", "abc"];
      writeFileSync(join(place.folder, "rows.jsonl"), texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
      const { code, stderr } = await place.run(bench.reverse("-n", "-1", "-r", "2", "-a", '{"dataset":"./rows.jsonl"}'));
      expect(code, stderr).toBe(0);
      const { status, stdout, stderr: trouble } = spawnSync(python ?? "", ["-c", READER, place.results], { encoding: "utf8" });
      expect(status, trouble).toBe(0);
      const read = JSON.parse(stdout) as { rows: number; mean: number; stored: number; num_turns: number };
      expect(read).toMatchObject({ rows: 12, num_turns: 1 });
      expect(read.mean).toBe(read.stored);
      expect(read.mean).toBeLessThan(1);
    }),
  );

  it(
    "of gsm8k with a file of questions: numbers compared as numbers",
    LONG,
    inPlace({ answer: { text: "So it is $1,234.0 in all.\n\\boxed{1,234}" } }, async (bench) => {
      const { place, model } = bench;
      mkdirSync(join(place.folder, "data"));
      const answers = ["1234", "She has 1,000 and 234.\n#### 1,234", "#### 1234.00", "#### 12", "#### -1234"];
      writeFileSync(join(place.folder, "data/test.jsonl"), answers.map((answer, i) => `${JSON.stringify({ question: `Question ${i}?`, answer })}\n`).join(""));
      const run = (...more: readonly string[]): string[] => ["eval", "run", "gsm8k", "-m", "scripted", "-b", model.url, "-r", "1", ...more];
      const { code, stderr } = await place.run(run("-n", "50", "-a", '{"dataset": "data/test.jsonl"}'));
      expect(code, stderr).toBe(0);
      expect(bench.rows.map(({ reward }) => reward)).toEqual([1, 1, 1, 0, 0]);
      expect(bench.rows.map(({ answer }) => answer)).toEqual(["1234", "1,234", "1234.00", "12", "-1234"]);
      expect(bench.metadata).toMatchObject({ env_id: "gsm8k", num_examples: 5, avg_reward: 0.6, avg_metrics: { correct_answer: 0.6 } });
      const missing = await place.run(run("-a", '{"dataset": "data/other.jsonl"}'));
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("data/other.jsonl does not exist") });
      // Without a data set it is the Hub's, here one that nobody serves.
      const hub = { HF_ENDPOINT: "http://127.0.0.1:9", HF_DATASETS_SERVER: "http://127.0.0.1:9" };
      const unreachable = await place.run(run(), hub);
      expect(unreachable.code).toBe(1);
      expect(unreachable.stderr).toMatch(
        /FAILED: Reading the examples failed 2 times in a row: The data set http:\/\/127\.0\.0\.1:9\/parquet\?dataset=openai%2Fgsm8k could not be fetched/,
      );
      writeFileSync(join(place.folder, "data/broken.jsonl"), '{"question": "Q", "answer": "#### 1"}\n{"question"');
      const broken = await place.run(run("-n", "-1", "-a", '{"dataset": "data/broken.jsonl"}'));
      expect(broken.code).toBe(1);
      expect(broken.stderr).toMatch(/FAILED: .*line 2/);
      expect(model.ledger.stats().total).toBe(5);
    }),
  );
});

describe.concurrent("a run that is stopped", () => {
  it(
    "with `eval stop`: what is open is finished, nothing new is begun, the code is 1, and it can go on",
    LONG,
    inPlace({ latency_ms: 400 }, async (bench) => {
      const { place, model } = bench;
      const cli = place.start(bench.reverse("-n", "40", "-r", "2", "-c", "4"));
      await until(() => model.ledger.stats().total >= 8, 20_000);
      const stopped = await place.run(["eval", "stop", String(place.results.split("/").at(-1))]);
      expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
      expect(await cli.ended).toBe(1);
      expect(cli.stderr()).toMatch(/error: run [0-9a-f]{8} ended CANCELLED/);
      const kept = bench.rows.length;
      // Every answer that was given is in the files: nothing that was open is thrown away.
      expect(model.ledger.stats().outcomes).toEqual({ answered: kept });
      expect(kept % 2).toBe(0);
      expect(kept).toBeLessThan(80);
      expect(bench.metadata).toMatchObject({ edgewise: { status: "CANCELLED" } });
      model.setScript({});
      const again = await place.run(["eval", "run", "reverse-text", "-R", place.results]);
      expect(again.code, again.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(40, 2));
      expect(model.ledger.stats().total).toBe(80);
      expect((await place.run(["eval", "stop", "00000000"])).stderr).toContain("the service knows no run 00000000");
    }),
  );
});

const SECRETS = { MY_MODEL_KEY: "sk-distinctive-0123456789abcdef", OTHER_API_KEY: "other-distinctive-fedcba9876", PRIME_API_KEY: "pit-distinctive-13579" };

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

/** Files below `folder` that hold one of the secrets, in whatever encoding of bytes a text may have. */
const filesWithSecrets = (folder: string): readonly string[] =>
  filesBelow(folder).filter((path) => {
    const bytes = readFileSync(path);
    return Object.values(SECRETS).some(
      (secret) =>
        bytes.includes(secret) || bytes.includes(Buffer.from(secret, "utf16le")) || bytes.includes(Buffer.from(secret).toString("base64").slice(0, 20)),
    );
  });

describe.concurrent("keys", () => {
  it(
    "reach the model server and nothing else: no file, no message, no answer of the service, no command line",
    LONG,
    inPlace({ api_key: SECRETS.MY_MODEL_KEY, latency_ms: 60 }, async (bench) => {
      const { place, model } = bench;
      const temporary = join(place.folder, "tmp");
      mkdirSync(temporary);
      writeFileSync(join(place.folder, ".dev.vars"), `FROM_FILE_KEY=${SECRETS.MY_MODEL_KEY}\n`);
      const env = { ...SECRETS, TMPDIR: temporary, EDGEWISE_EXECUTORS: "2" };
      const said: string[] = [];
      const ended = async (cli: CliProcess): Promise<number | string> => {
        const code = await cli.ended;
        said.push(cli.stdout(), cli.stderr());
        return code;
      };
      const cli = place.start(bench.reverse("-n", "80", "-r", "2", "-c", "4", "-k", "MY_MODEL_KEY"), env);
      await until(() => model.ledger.stats().total >= 20, 20_000);
      const { port, workerd_pid } = readLock(place.state) ?? {};
      said.push(commandLineOf(workerd_pid ?? 0) ?? "", commandLineOf(cli.pid) ?? "");
      expect(said[0]).toContain("workerd");
      said.push(...(await whatTheServiceSays(`http://127.0.0.1:${port}`, String(place.results.split("/").at(-1)))));
      // Killed in the middle, so that nothing gets a chance to clean up.
      process.kill(-cli.pid, "SIGKILL");
      process.kill(workerd_pid ?? 0, "SIGKILL");
      await ended(cli);

      // From .dev.vars, and quoted back by the server in what it says of a request.
      model.setScript({
        api_key: SECRETS.MY_MODEL_KEY,
        faults: [{ when: { nth: 2 }, fault: { kind: "status", status: 422, message: `bad key ${SECRETS.MY_MODEL_KEY}!` } }],
      });
      const resumed = place.start(["eval", "run", "reverse-text", "-R", place.results, "-k", "FROM_FILE_KEY"], { TMPDIR: temporary });
      expect(await ended(resumed), resumed.stderr()).toBe(0);
      expect(resumed.stderr()).toContain("bad key [secret]!");
      expect(bench.rows.filter(({ error }: JsonRow) => error !== null)).toHaveLength(1);
      model.setScript({ faults: [{ fault: { kind: "status", status: 401, message: `Incorrect API key provided: ${SECRETS.MY_MODEL_KEY}` } }] });
      const refused = place.start(bench.reverse("-n", "2", "-k", "MY_MODEL_KEY"), env);
      expect(await ended(refused)).toBe(1);
      expect(refused.stderr()).toContain("Incorrect API key provided: [secret]");

      for (const text of said) for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
      expect(existsSync(join(place.state, "service.log"))).toBe(true);
      expect(filesBelow(place.state).some((path) => path.endsWith(".sqlite"))).toBe(true);
      expect(filesWithSecrets(place.folder)).toEqual([join(place.folder, ".dev.vars")]);
    }),
  );
});

async function whatTheServiceSays(url: string, id: string): Promise<readonly string[]> {
  const paths = [
    `evaluations/${id}`,
    "evaluations/",
    `evaluations/${id}/files/metadata.json`,
    `evaluations/${id}/files/eval.log`,
    `evaluations/${id}/rows?after=0&limit_bytes=1000000`,
  ];
  const texts = await Promise.all(paths.map(async (path) => (await fetch(`${url}/api/v1/${path}`)).text()));
  const events = await fetch(`${url}/api/v1/evaluations/${id}/events?after=0`);
  const reader = events.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  expect(texts[0]).toContain(id);
  return [...texts, new TextDecoder().decode(first?.value)];
}
