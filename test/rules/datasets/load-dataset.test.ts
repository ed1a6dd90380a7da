import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { rowOf } from "../../../src/rollouts/rows/row.ts";
import { createState } from "../../../src/rollouts/state/state.ts";

/** A Python that has `datasets`: only it can say what `load_dataset` makes of a file. */
const python = process.env.EDGEWISE_TEST_PYTHON ?? "";
if (python === "") console.log("skipped: EDGEWISE_TEST_PYTHON is not set (a Python with `datasets`; tests of load_dataset)");

const READER = `
import sys
from datasets import load_dataset
rows = load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2])
print(len(rows), rows.features["reward"].dtype, rows.features["bonus"].dtype, rows[-1]["reward"], rows[-1]["metrics"]["close"], rows[-1]["timing"]["scoring_ms"])
`;

describe.runIf(python !== "")("load_dataset", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgewise-load-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("reads a file of more than 20 MB whose numbers are whole in its first 10 MB", () => {
    const path = join(folder, "results.jsonl");
    const file = openSync(path, "w");
    const rows = 3_000;
    for (let example_id = 0; example_id < rows; example_id++) {
      const part = example_id < rows / 2 ? 1 : 0.25;
      const state = createState(
        { example_id, prompt: [{ role: "user", content: "?" }], task: "t" },
        { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 },
      );
      Object.assign(state, {
        completion: [{ role: "assistant", content: "word ".repeat(1_500) }],
        reward: part,
        metrics: { close: part },
        timing: { start_time: 1_777_000_000, generation_ms: 400, scoring_ms: part, total_ms: 400 + part },
        usage: { input_tokens: 20, output_tokens: 10 },
        bonus: part,
      });
      writeSync(file, `${rowOf(state, { rolloutIndex: 0, stateColumns: ["bonus"] }).line}\n`);
    }
    closeSync(file);
    expect(statSync(path).size).toBeGreaterThan(20e6);
    const { status, stdout, stderr } = spawnSync(python, ["-c", READER, path, join(folder, "cache")], { encoding: "utf8", timeout: 120_000 });
    expect([status, stderr.split("\n").at(-2) ?? ""]).toEqual([0, expect.any(String)]);
    expect(stdout.trim()).toBe(`${rows} float64 float64 0.25 0.25 0.25`);
  }, 150_000);
});
