import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScoreTableBuilder } from "../../../../src/metrics/comparison/score-table.ts";
import { planRuns } from "../../../../src/metrics/gate/plan.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { writeScoredFolder } from "../../../support/results/scored-folder.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-plan-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const plan = (...args: readonly string[]) => runInProcess(["plan", ...args], { cwd, columns: 200 });

describe("plan", () => {
  it("takes scores for coins where nothing is known", async () => {
    const { code, out } = await plan("--detect", "0.03");
    expect(code).toBe(0);
    expect(out[0]).toBe("To find a difference of 0.03 in 80 of 100 tries, at 5 %:");
    // (1.959964 + 0.841621)^2 * 2 * 0.25 / 0.03^2 = 4360.6
    expect(out.find((line) => /^ +1 /.test(line))).toMatch(/^ +1 +4,361 +8,722$/);
    expect(out.find((line) => /^ +4 /.test(line))).toMatch(/^ +4 +1,091 +8,728$/);
    expect(out.at(-1)).toContain("where they do not, it takes more, and more rollouts help less");
    const surer = JSON.parse((await plan("--detect", "0.03", "--power", "0.9", "--alpha", "0.01", "-o", "json")).out.join("\n")) as {
      paired: { examples: number }[];
    };
    expect(surer.paired[0]?.examples).toBe(8267);
    expect((await plan("--detect", "0.03", "-o", "markdown")).out.filter((line) => line.startsWith("| "))).toHaveLength(7);
  });

  it("weighs more examples against more rollouts by what varies between and within examples", () => {
    const builder = new ScoreTableBuilder({ trusted: true });
    let number = 0;
    // Half of the examples always pass, the other half every other time.
    for (let example_id = 0; example_id < 100; example_id++)
      for (let k = 0; k < 4; k++)
        builder.add({ example_id, prompt: "", answer: "", reward: example_id < 50 || k % 2 === 0 ? 1 : 0, error: null, metrics: {} }, ++number);
    const pilot = { name: "pilot", model: "m", metadata: {}, range: [0, 1] as const, table: builder.table() };
    const report = planRuns(pilot, { detect: 0.05, metric: "reward", alpha: 0.05, power: 0.8 });
    const within = (50 * 4 * 0.25) / 300;
    const z = 2.8015852;
    expect(report.basis).toMatchObject({ run: "pilot", mean: 0.75, examples: 100, attempts: 4 });
    expect(report.basis.within).toBeCloseTo(within, 12);
    expect(report.paired.map(({ examples }) => examples)).toEqual([1, 2, 4, 8, 16].map((k) => Math.ceil((z ** 2 * 2 * within) / k / 0.05 ** 2)));
    const between = report.basis.between ?? 0;
    expect(report.unpaired?.[2]?.examples).toBe(Math.ceil((z ** 2 * (2 * between + (2 * within) / 4)) / 0.05 ** 2));
    // 262 examples with 4 rollouts, or 11 rollouts at each of the 100.
    expect(report.from_here).toMatchObject({
      more_examples: Math.ceil((z ** 2 * within) / 2 / 0.05 ** 2) - 100,
      more_attempts: Math.ceil((z ** 2 * 2 * within) / 100 / 0.05 ** 2) - 4,
    });
    expect(planRuns(pilot, { detect: 0.5, metric: "reward", alpha: 0.05, power: 0.8 }).from_here).toMatchObject({ more_examples: 0, more_attempts: 0 });
  });

  it("takes all variance of single rollouts for luck, and says so", async () => {
    writeScoredFolder(cwd, "pilot", 400, (i) => i % 10 < 7);
    const { code, out } = await plan("--detect", "0.03", "--baseline", "pilot");
    expect(code).toBe(0);
    const text = out.join("\n");
    expect(text).toContain("pilot: mean 0.700 over 400 examples with single rollouts, which vary by 0.2105 in all");
    expect(text).toContain("single rollouts do not tell examples from luck");
    expect(text).toMatch(/for 0\.03: 3,27\d more examples, in both runs/);
    expect((await plan("--detect", "0.03", "--baseline", "pilot", "--metric", "lenght")).err).toContain("pilot has no lenght");
    for (const args of [[], ["--detect", "0"], ["--detect", "0.1", "--power", "1"], ["--detect", "0.1", "--metric", "length"]])
      expect((await plan(...args)).code).toBe(2);
  });
});
