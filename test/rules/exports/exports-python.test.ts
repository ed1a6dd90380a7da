import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { ROWS, writeRun } from "../../support/results/exported-run.ts";

/** A Python with `datasets`, `pandas` and `polars`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
if (PYTHON === "") console.log("skipped: EDGEWISE_TEST_PYTHON is not set (exports read by datasets, pandas and polars)");

const cwd = mkdtempSync(join(tmpdir(), "edgewise-export-python-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Found {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly features: Readonly<Record<string, string>>;
  readonly pandas?: { readonly rewards: readonly number[]; readonly dtypes: Readonly<Record<string, string>> };
  readonly polars?: { readonly rewards: readonly number[]; readonly prompt: string };
}

describe.skipIf(PYTHON === "")("an export as Python reads it", () => {
  it.each(["parquet", "jsonl", "csv"])("agrees with results.jsonl: %s", { timeout: 120_000 }, async (format) => {
    writeRun(join(cwd, "run"));
    expect((await runInProcess(["export", "run", "-f", format, "-o", format], { cwd })).code).toBe(0);
    const script = join(import.meta.dirname, "../../support/results/read-export.py");
    const env = { ...process.env, HF_HUB_OFFLINE: "1" };
    const { stdout } = await promisify(execFile)(PYTHON, [script, join(cwd, format), join(cwd, "cache")], { env, maxBuffer: 1e8 });
    const { rows, features, pandas, polars } = JSON.parse(stdout) as Found;
    const rewards = ROWS.map(({ reward }) => reward);
    expect(rows.map(({ reward }) => reward)).toEqual(rewards);
    expect(rows.map(({ example_id, rollout_index, correct }) => [example_id, rollout_index, correct])).toEqual(
      ROWS.map(({ example_id, rollout_index, correct = null }) => [example_id, rollout_index, correct]),
    );
    if (format === "csv") return expect(rows.map((row) => row["error.code"])).toEqual([null, "timeout", null, null]);
    expect(rows.map(({ error }) => (error as { code: string } | null)?.code ?? null)).toEqual([null, "timeout", null, null]);
    expect(rows[0]).toMatchObject({
      completion: [{ role: "assistant", tool_calls: [{ id: "call_1", name: "add", arguments: '{"a": 1}' }] }, { tool_call_id: "call_1" }, { content: "=2" }],
      token_usage: { input_tokens: 20, output_tokens: 10 },
      timing: { generation_ms: 1.5 },
    });
    expect(rows.map(({ completion }) => (completion as unknown[] | null)?.length ?? null)).toEqual([3, null, 0, 1]);
    expect(features).toMatchObject({ example_id: "Value('int64')", reward: "Value('float64')", is_truncated: "Value('bool')" });
    if (format !== "parquet") return;
    expect(pandas).toMatchObject({ rewards, dtypes: { example_id: "int64", rollout_index: "int32", reward: "float64" } });
    expect(polars).toMatchObject({ rewards, prompt: expect.stringContaining("List(Struct({'role': String") });
  });
});
