import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { imported } from "../../../support/results/imported-runs.ts";
import { writeScoredFolder } from "../../../support/results/scored-folder.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-compare-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

type Row = Readonly<Record<string, unknown>>;

const writeFolder = (...folder: [name: string, examples: number, passes: (example: number) => boolean, rest?: Row]): void => writeScoredFolder(cwd, ...folder);

const compare = (...args: readonly string[]) => runInProcess(["compare", ...args], { cwd, columns: 200 });

describe("compare", () => {
  beforeEach(() => {
    writeFolder("a", 60, (i) => i < 40);
    writeFolder("b", 60, (i) => i < 40 && i >= 15);
  });

  it("says by how much, how sure, and what pairing bought", async () => {
    const { code, out } = await compare("a", "b");
    expect(code).toBe(0);
    expect(out[0]).toBe("Baseline:  a (model-a): 60 examples, 60 rollouts");
    expect(out).toContain("joined: 60 examples");
    expect(out.find((line) => line.startsWith("reward"))).toMatch(
      /^reward +60 +0\.667 +0\.417 +-0\.250 +-0\.372 to -0\.158 +6\.1e-5 +1\.2e-4 +McNemar, exact$/,
    );
    expect(out).toContain("examples: 15 worse, 0 better, 45 equal");
    expect(out.join("\n")).toMatch(
      /pairing: the runs correlate by 0\.\d\d, so the standard error is 0\.0564 instead of 0\.0888: worth 2\.5 times the examples/,
    );
    expect(out.join("\n")).toMatch(/this design finds differences from 0\.16\d on/);
  });

  it("counts examples that share something as one observation with -g", async () => {
    const { code, out } = await compare("a", "b", "-g", "passage");
    expect([code, out.find((line) => line.startsWith("reward"))]).toEqual([0, expect.stringMatching(/^reward +60 .*sign flips$/)]);
    expect(out).toContain("over 5 values of passage, whose examples count as one observation each");
    expect(await compare("a", "b", "-g", "topic")).toMatchObject({ code: 2, err: expect.stringContaining("a: -g/--cluster-by topic: no row has it") });
  });

  it("shows what lost most, with both transcripts", async () => {
    const { out } = await compare("a", "b", "--show", "2");
    const text = out.join("\n");
    expect(text).toContain("lost most:\n  example 0: 1.000 to 0.000 (-1.000)\n  example 1: 1.000 to 0.000 (-1.000)");
    expect(text).toMatch(/=== example 1: 1\.000 to 0\.000 ===[\s\S]*question 1[\s\S]*--- a ---[\s\S]*a says 1[\s\S]*--- b ---[\s\S]*b says 1/);
  });

  it("is there for programs and for pages too", async () => {
    const json = await compare("a", "b", "a", "-o", "json", "--metric", "length");
    const { baseline, comparisons } = JSON.parse(json.out.join("\n")) as { baseline: Row; comparisons: { metrics: Row[] }[] };
    expect(baseline).toMatchObject({ run: "a", examples: 60 });
    expect(comparisons.map(({ metrics }) => metrics.map(({ metric }) => metric))).toEqual([
      ["reward", "length"],
      ["reward", "length"],
    ]);
    const markdown = await compare("a", "b", "-o", "markdown");
    expect(markdown.out[0]).toBe("### b against a");
    expect(markdown.out.filter((line) => line.startsWith("| "))).toHaveLength(4);
  });

  it("refuses what is not comparable, and says what would make it so", async () => {
    writeFolder("c", 60, () => true, { edgewise: { env_digest: `v2:${"c".repeat(64)}` } });
    const refused = await compare("a", "c");
    expect([refused.code, refused.out]).toEqual([2, []]);
    expect(refused.err).toContain("not comparable: a and c: the code of environment e is not the same");
    expect(refused.err).toContain("--accept-code-change");
    expect((await compare("a", "c", "--accept-code-change")).out.join("\n")).toContain("(accepted)");
    expect((await compare("a")).code).toBe(2);
    const unknown = await compare("a", "b", "--metric", "lenght");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("a has no lenght")]);
    expect((await compare("a", "b", "--show", "many")).code).toBe(2);
  });

  it("compares what the Python library wrote, with a warning", async () => {
    mkdirSync(join(cwd, "python"));
    const rows = Array.from({ length: 20 }, (_, i) => ({
      id: i,
      prompt: [{ role: "user", content: `question ${i}` }],
      completion: [],
      answer: String(i),
      reward: 1.0,
      correct: 1.0,
    }));
    writeFileSync(join(cwd, "python/results.jsonl"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
    writeFileSync(join(cwd, "python/metadata.json"), JSON.stringify({ env: "e", model: "old", num_examples: 20, rollouts_per_example: 1 }));
    const { code, out } = await compare("python", "b");
    expect(code).toBe(0);
    expect(out.join("\n")).toContain("warning: whether both were scored by the same code is not known");
    expect(out.join("\n")).toContain("joined: 20 examples, 40 only in the candidate");
  });
});

describe("an export", () => {
  it.each(["parquet", "csv", "jsonl"])("in %s is compared as the run that it is of, though its card does not say whose code scored", async (format) => {
    writeFolder("a", 60, (i) => i < 40);
    writeFolder("b", 60, (i) => i < 40 && i >= 15);
    await runInProcess(["export", "a", "-f", format, "-o", "a-out"], { cwd });
    await runInProcess(["export", "a", "b", "-f", format, "-o", "both"], { cwd });
    const { code, out } = await compare("a-out", "b", "--show", "1", "-o", "json");
    const { comparisons } = JSON.parse(out.join("\n")) as { comparisons: Row[] };
    const direct = JSON.parse((await compare("a", "b", "--show", "1", "-o", "json")).out.join("\n")) as { comparisons: Row[] };
    expect([code, comparisons]).toEqual([0, [{ ...direct.comparisons[0], warnings: ["whether both were scored by the same code is not known"] }]]);
    const both = await compare("both", "--show", "1");
    expect(both.out).toContain("Baseline:  both, run 0a1b2c3d (model-a): 60 examples, 60 rollouts");
    expect(both.out).toContain("Candidate: both, run 0a1b2c3d (model-b): 60 examples, 60 rollouts");
    expect(both.out).toContain("examples: 15 worse, 0 better, 45 equal");
    expect(both.out.join("\n")).toMatch(/question 0[\s\S]*a says 0[\s\S]*b says 0/);
  });

  it("that is not whole, or of which no card tells, is refused by name", async () => {
    writeFolder("a", 60, (i) => i < 40);
    await runInProcess(["export", "a", "-f", "jsonl", "-o", "out"], { cwd });
    const file = join(cwd, "out/data/train-00000-of-00001.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").split("\n").slice(0, 50).join("\n"));
    expect(await compare("a", "out")).toMatchObject({ code: 1, err: expect.stringContaining("out has 50 rows, and its card states 60") });
    rmSync(file);
    expect(await compare("a", "out")).toMatchObject({ code: 1, err: expect.stringContaining("train-00000-of-00001.jsonl cannot be read") });
    writeFileSync(file, "");
    rmSync(join(cwd, "out/README.md"));
    expect(await compare("a", "out")).toMatchObject({ code: 2, err: expect.stringContaining("whose card does not say of which runs it is") });
  });
});

describe("imported logs", () => {
  const LOGS = fileURLToPath(new URL("../../../fixtures/imports/", import.meta.url));

  it("are compared with a warning, since who scored them is not known, and say how sure their metrics are", async () => {
    mkdirSync(join(cwd, "logs"));
    const log = (date: string, change: (samples: string) => string): void => {
      const from = "2026-11-22T13-46-34.648424";
      cpSync(join(LOGS, `lm-eval/results_${from}.json`), join(cwd, `logs/results_${date}.json`));
      const samples = readFileSync(join(LOGS, `lm-eval/samples_words_reversed_${from}.jsonl`), "utf8");
      writeFileSync(join(cwd, `logs/samples_words_reversed_${date}.jsonl`), change(samples));
    };
    log("2026-11-22T13-46-34.648424", (samples) => samples);
    log("2026-11-23T13-46-34.648424", (samples) => samples.replaceAll('"exact_match": 1.0', '"exact_match": 0.0'));
    const { runs } = await imported(cwd, "logs", join(LOGS, "inspect/reversed-words.eval"));
    const words = runs.filter(({ metadata }) => metadata.env_id === "words_reversed");
    expect(words).toHaveLength(2);
    for (const { metadata } of words) {
      const names = Object.keys(metadata.avg_metrics);
      expect(Object.keys(metadata.edgewise.metric_estimates as Row)).toEqual(names);
    }
    const { code, out } = await compare(...words.map(({ path }) => path));
    expect([code, out.join("\n")]).toEqual([0, expect.stringContaining("warning: whether both were scored by the same code is not known")]);
    expect(out.find((line) => line.startsWith("joined: "))).toBe("joined: 4 examples");
    const inspect = runs.find(({ metadata }) => metadata.env_id === "reversed_words")?.path ?? "";
    const refused = await compare(words[0]?.path ?? "", inspect);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("the environments are words_reversed and reversed_words")]);
  });

  it("of which another score is the reward are refused", async () => {
    const source = (rewardIs: string): Row => ({ edgewise: { env_digest: null, origin: "imported", imported: { format: "inspect", reward_is: rewardIs } } });
    writeFolder("a", 10, () => true, source("the score `match`"));
    writeFolder("b", 10, () => true, source("the score `includes`"));
    const { code, err } = await compare("a", "b");
    expect([code, err]).toEqual([2, expect.stringContaining("the reward is the score `match` in the one and the score `includes` in the other")]);
    expect((await compare("a", "b", "--accept-code-change")).code).toBe(0);
  });

  it("whose rows name no example are joined by what they ask; by nothing where that is not known either, with the reason", async () => {
    writeFolder("a", 20, (i) => i < 12);
    const problem = "rows name no example, so rollouts are not grouped: no pass@k and no interval";
    const unnamed = (name: string, prompts: boolean): void => {
      const lines = Array.from({ length: 20 }, (_, i) => ({
        ...(prompts ? { prompt: [{ role: "user", content: `question ${19 - i}` }], answer: String(19 - i) } : {}),
        reward: i % 2,
        info: { level: i % 3 },
        metrics: { short: i % 2 },
      }));
      mkdirSync(join(cwd, name));
      writeFileSync(join(cwd, name, "results.jsonl"), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
      const edgewise = { run_id: "0a1b2c3d", status: "COMPLETED", grouping_problem: problem, origin: "imported" };
      writeFileSync(join(cwd, name, "metadata.json"), JSON.stringify({ env_id: "e", model: "m", num_examples: 20, rollouts_per_example: 1, edgewise }));
    };
    unnamed("asked", true);
    unnamed("blank", false);
    const joined = await compare("a", "asked");
    expect(joined.out.join("\n")).toContain("warning: 20 rows of the candidate name no example: those that ask the same are taken for attempts at one");
    expect(joined.out).toContain("joined: 20 examples");
    const refused = await compare("blank", "a");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("blank: 20 rows name no example and rows have no prompts")]);
    expect((await compare("blank", "a", "--unpaired")).out.join("\n")).toContain("each is taken for one");
    // Neither groups nor slices of it have an interval.
    const report = await runInProcess(["eval", "report", "asked", "-g", "level", "--by", "level", "-o", "json"], { cwd });
    expect(JSON.parse(report.out.join("\n"))).toMatchObject({
      grouping_problem: problem,
      reward_ci95: null,
      pass_at_k: {},
      metric_estimates: {},
      slices: [{ reward: { ci95: null, stderr: null } }, { reward: { ci95: null } }, { reward: { ci95: null } }],
    });
    const text = (await runInProcess(["eval", "report", "asked", "-g", "level"], { cwd })).out;
    expect(text).toContain(`reward 95% interval: none (${problem})`);
  });
});

describe("eval report", () => {
  it("makes the report of a folder again, over groups and by a key", async () => {
    writeFolder("a", 60, (i) => i % 5 < 3);
    const report = (...args: readonly string[]) => runInProcess(["eval", "report", "a", ...args], { cwd, columns: 120 });
    const { code, out } = await report("-g", "passage", "--by", "level");
    expect(code).toBe(0);
    expect(out.find((line) => line.startsWith("reward 95% interval"))).toContain("(over 5 values of passage, standard error 0.245)");
    expect(out.slice(out.indexOf("reward by level:") + 1, out.indexOf("reward distribution:")).map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ["level", "examples", "rollouts"],
      ["even", "30", "30"],
      ["odd", "30", "30"],
    ]);
    const json = JSON.parse((await report("--by", "level", "-o", "json")).out.join("\n")) as Row;
    for (const flag of ["-g", "--by"]) {
      const wrong = await report(flag, "topic");
      expect([wrong.code, wrong.out]).toEqual([2, []]);
      expect(wrong.err).toMatch(
        /^error: a: (-g\/--cluster-by|--by) topic: no row has it, in itself or in its info\n +Rows have example_id, .*level, passage; dots lead into objects/,
      );
    }
    expect(json).toMatchObject({ avg_reward: 0.6, n_clusters: 60, metric_estimates: { length: { n: 60 } }, slices: [{ value: "even" }, { value: "odd" }] });
  });

  it("shows averages that a file or the log of an imported run stated wrongly, or not at all, beside those of the rows", async () => {
    writeFolder("a", 20, (i) => i < 10, { avg_reward: 0.75, avg_metrics: { length: 10.5 } });
    writeFolder("b", 20, (i) => i < 10, { avg_reward: 0.5, avg_metrics: {}, edgewise: { imported: { stated: { reward: 0, "length/mean": 10.5 } } } });
    const report = async (name: string) => (await runInProcess(["eval", "report", name], { cwd, columns: 120 })).out;
    expect(await report("a")).toContain("averages that metadata.json stated wrongly: reward 0.750 (rows: 0.500)");
    expect(await report("b")).toContain("averages that the imported log stated wrongly: reward 0.000 (rows: 0.500)");
    const view = await runInProcess(["eval", "view", "b"], { cwd, columns: 120 });
    expect(view.out.join("\n").replaceAll(/\s+/g, " ")).toContain("stale the imported log says reward 0, its rows have 0.500");
    mkdirSync(join(cwd, "python"));
    writeFileSync(join(cwd, "python/results.jsonl"), '{"example_id":0,"prompt":"q","reward":1.0}\n{"example_id":1,"prompt":"r","reward":0.0}\n');
    writeFileSync(join(cwd, "python/metadata.json"), '{"env":"e","model":"old","num_examples":2,"rollouts_per_example":1}');
    const python = await report("python");
    expect(python).toContain("metadata.json states no average reward: it is made from the rows here");
    expect(python).toContain("reward: avg - 0.500, std - 0.500");
    expect((await runInProcess(["eval", "view", "python"], { cwd, columns: 120 })).out.join("\n")).toMatch(/average reward +0\.500/);
  });
});
