import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aggregatorOf, runFacts } from "../../../../src/exports/run-facts.ts";
import { certaintyOf } from "../../../../src/report/metadata.ts";
import { RowsDigester } from "../../../../src/rollouts/rows/rows-digest.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-verify-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const verified = (...args: readonly string[]) => runInProcess(["verify", ...args], { cwd });
const results = (): string => join(cwd, "run/results.jsonl");
const change = (from: string, to: string): void => {
  const text = readFileSync(results(), "utf8");
  expect(text).toContain(from);
  writeFileSync(results(), text.replace(from, to));
};

/** A folder of which all is as it says, with the digest of its rows. */
async function soundRun(): Promise<void> {
  writeRun(join(cwd, "run"));
  const digester = new RowsDigester();
  await digester.add(readFileSync(results()));
  const own = { ...METADATA.edgewise, rows_digest: await digester.result(), truncated_rollouts: 0, reward_without_errors: 0.25 };
  writeRun(join(cwd, "run"), { edgewise: own });
}

describe("verify", () => {
  it("says of a folder that is as it was that it is, number by number", async () => {
    await soundRun();
    const { code, out } = await verified("run");
    expect([code, out[0]]).toEqual([0, "run: verified"]);
    expect(out.join("\n")).toMatch(/ok {5}4 rows\n {2}ok {5}sha256 of the sorted rows [0-9a-f]{64}\n {2}ok {5}reward 0\.1875\n/);
    expect(out.join("\n")).toContain("ok     pass@2 0.5");
    expect((await verified("run/results.jsonl")).code).toBe(0);
  });

  it.each([
    ["a reward", '"reward":0.25', '"reward":0.75', "row 3 (example 1, rollout 0)", "reward: stated 0.1875, the rows give 0.3125"],
    ["a byte of an answer", '"content":"=2"', '"content":"=3"', "row 1 (example 0, rollout 0)", ""],
    ["a row that is longer", '"answer":"-1"', '"answer":"minus one"', "row 4 (example 1, rollout 1)", ""],
  ])("names the row in which %s was changed", async (_, from, to, row, number) => {
    await soundRun();
    change(from, to);
    const { code, out } = await verified("run");
    expect([code, out[0]]).toEqual([1, "run: WRONG"]);
    expect(out.join("\n")).toContain(`WRONG  ${row} is not as it was when the run settled`);
    expect(out.join("\n")).toContain(number);
    expect(out.filter((line) => line.includes("(example"))).toHaveLength(1);
  });

  it("names the rollout that is gone, and one that is there twice", async () => {
    await soundRun();
    const lines = readFileSync(results(), "utf8").trim().split("\n");
    writeFileSync(results(), `${[lines[0], lines[2], lines[3], lines[3]].join("\n")}\n`);
    const { code, out } = await verified("run");
    expect(code).toBe(1);
    expect(out.join("\n")).toContain("WRONG  example 0 lacks rollout 1");
    expect(out.join("\n")).toContain("WRONG  example 1 has rollout 1 twice");
    writeFileSync(results(), `${lines.slice(0, 3).join("\n")}\n`);
    expect((await verified("run")).out.join("\n")).toContain("WRONG  rows: 4 when the run settled, 3 now");
  });

  it("of a row that is no JSON any more names it", async () => {
    await soundRun();
    change('{"example_id":1', '{"example_id:1');
    expect(await verified("run")).toMatchObject({ code: 1, err: expect.stringContaining("row 3 of run is no JSON object") });
  });

  it("of a folder without a digest compares the numbers, and says what cannot be told", async () => {
    writeRun(join(cwd, "run"), { avg_metrics: { correct: 0.5, gone: 1 } }, ROWS);
    const { code, out } = await verified("run");
    expect(code).toBe(1);
    expect(out.join("\n")).toContain("no digest of its rows is stated");
    expect(out.filter((line) => line.includes("WRONG  "))).toEqual([
      expect.stringMatching(/correct: stated 0\.5, the rows give 0\.333/),
      expect.stringContaining("gone: stated 1, the rows give none"),
    ]);
  });

  it("holds intervals, of metrics and rates too, and bounds against the rows", async () => {
    await soundRun();
    const metadata = JSON.parse(readFileSync(join(cwd, "run/metadata.json"), "utf8")) as { readonly edgewise: object };
    const facts = runFacts(metadata);
    if (facts === null) throw new Error("no run");
    const rows = aggregatorOf(facts);
    for (const row of ROWS) rows.add(row);
    const numbers = certaintyOf(rows.result());
    expect(Object.keys(numbers)).toEqual(["metric_estimates", "pass_at_k_ci95", "pass_all_k_ci95", "error_bounds"]);
    const state = (sure: object): string => writeRun(join(cwd, "run"), { edgewise: { ...metadata.edgewise, ...sure } });
    state(numbers);
    const { code, out } = await verified("run");
    expect([code, out.filter((line) => line.includes("WRONG"))]).toEqual([0, []]);
    expect(out.join("\n")).toMatch(/ok {5}interval of correct from [\s\S]*ok {5}pass@1 interval from [\s\S]*ok {5}error bounds: best /);
    const [low, high] = numbers.pass_at_k_ci95?.["1"] ?? [0, 0];
    const bounds = { ...numbers.error_bounds, worst: 0.5 };
    state({
      ...numbers,
      pass_at_k_ci95: { 1: [low, high - 0.001] },
      error_bounds: bounds,
      metric_estimates: { gone: { n: 2, mean: 1, stderr: null, ci95: null } },
    });
    expect((await verified("run")).out.filter((line) => line.includes("WRONG  "))).toEqual([
      expect.stringContaining("examples of gone: stated 2, the rows give none"),
      expect.stringContaining("mean of examples of gone: stated 1, the rows give none"),
      expect.stringContaining("pass@1 interval to: stated"),
      expect.stringContaining("error bounds: worst: stated 0.5, the rows give -0.0625"),
    ]);
  });

  it("of Python's verifiers makes the numbers again", async () => {
    const fixtures = join(import.meta.dirname, "../../../fixtures/verifiers-folders");
    const { code, out } = await verified(join(fixtures, "0.1.12-finished"), join(fixtures, "0.1.14-finished"));
    expect([code, out.filter((line) => line.endsWith(": verified")).length]).toEqual([0, 2]);
  });
});
