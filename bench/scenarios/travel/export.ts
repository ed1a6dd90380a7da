import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measure } from "../../measure.ts";
import { peakOf } from "../../peak-memory.ts";
import type { Scenario } from "../../scenario.ts";

const SMALL = 20_000;
const LARGE = 200_000;
const ROLLOUTS = 2;
const MIB = 1024 * 1024;
const LOOK_MS = 20;
const COMMAND = fileURLToPath(new URL("../../../bin/edgewise.js", import.meta.url));

/** A finished results folder as Parquet, CSV and JSON Lines: rows per second, and the memory of the command, which must not grow with the rows. */
export const exporting: Scenario = async (places) => {
  const { folder } = places("export");
  const small = await resultsFolder(join(folder, "small"), SMALL);
  const large = await resultsFolder(join(folder, "large"), LARGE);
  const measures: Measure[] = [];
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "export", name, value, unit });
  for (const format of ["parquet", "jsonl", "csv"]) {
    const few = await exported(folder, small, format);
    const many = await exported(folder, large, format);
    measures.push(
      measure(`${format}: ${LARGE} rows of ${Math.round(statSync(join(large, "results.jsonl")).size / LARGE)} bytes`, LARGE / many.seconds, "rows/s"),
      measure(`${format}: peak memory of ${LARGE} rows`, many.peak / MIB, "MiB"),
      { ...measure(`${format}: peak memory beside that of ${SMALL} rows`, many.peak / few.peak, "ratio"), target: { at_most: 1.2 } },
    );
  }
  return measures;
};

function exported(cwd: string, run: string, format: string): Promise<Cost> {
  const out = join(cwd, "out");
  rmSync(out, { recursive: true, force: true });
  return costOf(cwd, ["export", run, "-f", format, "-o", out]);
}

/** Of one command: how long it took, and its highest resident memory in bytes. */
export interface Cost {
  readonly seconds: number;
  readonly peak: number;
}

/** `env`: beside that of this process. */
export async function costOf(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Cost> {
  const began = performance.now();
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd, env: { ...process.env, ...env }, stdio: "ignore" });
  let peak = 0;
  // The kernel keeps the highest value: the last look before the end has all but its last moment.
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, LOOK_MS);
  const [code] = (await once(child, "exit")) as [number | null];
  clearInterval(look);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, peak };
}

/** `otherAnswers`: every second example has another answer, so that it is not the same example. */
export async function resultsFolder(path: string, rows: number, otherAnswers = false): Promise<string> {
  mkdirSync(path, { recursive: true });
  const file = createWriteStream(join(path, "results.jsonl"));
  for (let row = 0; row < rows; row++) if (!file.write(`${JSON.stringify(rowOf(row, otherAnswers))}\n`)) await once(file, "drain");
  file.end();
  await once(file, "close");
  const own = { run_id: "0000abcd", status: "COMPLETED" };
  writeFileSync(
    join(path, "metadata.json"),
    JSON.stringify({ env_id: "x", model: "m", num_examples: rows / ROLLOUTS, rollouts_per_example: ROLLOUTS, avg_metrics: { correct: 0.5 }, edgewise: own }),
  );
  return path;
}

function rowOf(row: number, otherAnswers: boolean): object {
  const changed = otherAnswers && Math.floor(row / ROLLOUTS) % 2 === 1;
  const words = `lorem ipsum ${(row * 7919) % 10_007} `;
  return {
    example_id: Math.floor(row / ROLLOUTS),
    prompt: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: `what is ${row} + ${row * 3}? ${words.repeat(8)}` },
    ],
    completion: [{ role: "assistant", content: words.repeat(20) + row * 4 }],
    answer: `${row * 4}${changed ? " or so" : ""}`,
    task: "x",
    info: { row },
    reward: row % 2,
    error: null,
    timing: { generation_ms: 1.5 * row, scoring_ms: 0.1, total_ms: 2 * row, start_time: 1.7e9 },
    is_completed: true,
    is_truncated: false,
    stop_condition: "no_tools",
    metrics: { correct: row % 2 },
    tool_defs: [],
    token_usage: { input_tokens: 100, output_tokens: 50 },
    correct: row % 2,
    rollout_index: row % ROLLOUTS,
  };
}
