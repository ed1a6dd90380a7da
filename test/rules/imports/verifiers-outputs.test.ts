import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Aggregates, Aggregator } from "../../../src/metrics/aggregates.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";
import { readInfo } from "../../../src/cli/view/find-runs.ts";
import { namedFolder, rolloutsOfWhole } from "../../../src/cli/results/resume-folder.ts";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { testData } from "../../support/results/test-data.ts";

/** Result folders that the Python library wrote, kept beside the repository (never in it). */
const there = testData("verifiers-outputs");
const FOLDER = there ?? "";

/**
 * Aggregates of a folder with its stored average. `stride`: rows of that age name the example wrongly; row i belongs to example
 * i mod stride. Metrics stood at the top level only.
 */
function read(start: string, stride: number, metric?: string): { result: Aggregates; stored: number } {
  const folder = join(FOLDER, readdirSync(FOLDER).find((name) => name.startsWith(start)) ?? start);
  const rows = readFileSync(join(folder, "results.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const aggregator = new Aggregator({ rolloutsPerExample: rows.length / stride, passThreshold: 0.5 });
  for (let example = 0; example < stride; example++) {
    const unit = rows.filter((_, i) => i % stride === example);
    aggregator.addUnit(unit.map((row) => summaryOfRow(metric === undefined ? row : { ...row, metrics: { [metric]: row[metric] } })));
  }
  const metadata = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")) as { avg_reward: number };
  return { result: aggregator.result(), stored: metadata.avg_reward };
}

describe.runIf(there !== null)("results that the Python library wrote", () => {
  it("wiki-search, 100 x 1: stored average, metric average, Wilson", () => {
    const mini = read("vf-wiki-search--gpt-4.1-mini", 100, "total_tool_calls");
    expect(mini.result.avg_reward).toBe(mini.stored);
    expect(mini.result.avg_metrics.total_tool_calls).toBe(4.45);
    expect(mini.result.reward_ci95).toEqual(wilsonInterval(78, 100));
    const nano = read("vf-wiki-search--gpt-4.1-nano", 100);
    expect(nano.result.avg_reward).toBe(0.63);
    expect(nano.result.reward_ci95?.[0]).toBeCloseTo(0.53221, 5);
    expect(nano.result.reward_ci95?.[1]).toBeCloseTo(0.71818, 5);
    expect(nano.result.pass_at_k).toEqual({});
  });

  it("math-python, 5 x 3: stored average, pass@k over complete examples, clustered interval", () => {
    const { result, stored } = read("vf-math-python", 5, "correct_answer_reward_func");
    expect(result.avg_reward).toBeCloseTo(stored, 14);
    expect(result.avg_metrics.correct_answer_reward_func).toBeCloseTo(stored, 14);
    expect(result.pass_at_k["1"]).toBeCloseTo(stored, 14);
    expect(result.pass_all_k["2"]).toBeCloseTo((4 + 1 / 3) / 5, 14);
    // Means 1, 1, 1, 1, 2/3.
    expect(result.reward_stderr).toBeCloseTo(1 / 15, 12);
  });

  it("tool-test, 5 x 3 under stale metadata: what the rows say", () => {
    const { result, stored } = read("vf-tool-test", 5);
    expect([stored, result.avg_reward, result.rollouts]).toEqual([0, 1, 15]);
    expect(result.reward_ci95).toEqual(wilsonInterval(5, 5));
  });

  it("gsm8k, every completion empty: an average of 0 whose interval says how little that proves", () => {
    const { result, stored } = read("vf-gsm8k", 150);
    expect(result.avg_reward).toBe(stored);
    expect(result.reward_ci95?.[0]).toBe(0);
    expect(result.reward_ci95?.[1]).toBeCloseTo(0.02497, 5);
  });
});

describe.runIf(there !== null)("folders that the Python library wrote, resumed", () => {
  const folderOf = (start: string): string => join(FOLDER, readdirSync(FOLDER).find((name) => name.startsWith(start)) ?? start);

  it.each([
    ["vf-gsm8k", "it before 18 October 2025: its rows do not say which example they are of"],
    ["vf-math-python", "it before 18 October 2025: its metadata calls the environment `env`, and its rows do not say which example they are of"],
    ["vf-tool-test", "it before 18 October 2025: its rows do not say which example they are of"],
  ])("%s is refused, with its age, and can be looked at", (start, reason) => {
    const path = folderOf(start);
    expect(() => namedFolder(path, FOLDER)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(reason), hints: [expect.stringContaining(`eval view ${path}`)] }),
    );
    expect(readInfo(path)).toMatchObject({ model: "gpt-4.1-mini" });
  });

  it.each(["vf-wiki-search--gpt-4.1-mini", "vf-wiki-search--gpt-4.1-nano"])("%s is taken, and has nothing left to do", async (start) => {
    const path = folderOf(start);
    expect(namedFolder(path, FOLDER)).toMatchObject({ metadata: { env_id: "wiki-search", num_examples: 100, rollouts_per_example: 1 } });
    expect(await rolloutsOfWhole(path, {})).toBe(100);
  });

  it("are reported without intervals where their rows do not stand as the folder says, naming the import that groups them", async () => {
    const report = async (start: string): Promise<string> => (await runInProcess(["eval", "report", folderOf(start)], { cwd: FOLDER })).out.join("\n");
    for (const [start, rows] of [
      ["vf-tool-test", "15 rollouts of 5"],
      ["vf-math-python", "15 rollouts of 5"],
      ["vf-gsm8k", "150 rollouts of 50"],
    ] as const)
      expect(await report(start)).toMatch(new RegExp(`95% interval: none \\(rows name no example_id, and ${rows} examples do not stand as .*edgewise import`));
    for (const start of ["vf-wiki-search--gpt-4.1-mini", "vf-wiki-search--gpt-4.1-nano"]) expect(await report(start)).toMatch(/95% interval: 0\.\d+ to/);
  });

  it("are shown with the averages of their rows where their metadata states others", async () => {
    const lines = async (start: string): Promise<string> => (await runInProcess(["eval", "view", folderOf(start)], { cwd: FOLDER })).out.join("\n");
    const stale = await lines("vf-tool-test");
    expect(stale).toMatch(/average reward +1\.000/);
    expect(stale).toMatch(/stale +metadata\.json says reward 0, its rows have 1/);
    for (const start of ["vf-gsm8k", "vf-math-python", "vf-wiki-search--gpt-4.1-mini", "vf-wiki-search--gpt-4.1-nano"])
      expect(await lines(start)).not.toContain("stale");
  });
});
