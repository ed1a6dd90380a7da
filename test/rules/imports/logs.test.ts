import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { type ImportedFolder, imported } from "../../support/results/imported-runs.ts";

/** Written by the programs themselves (tools/import-fixtures/kept.py), with the numbers that they printed. */
const FIXTURES = join(import.meta.dirname, "../../fixtures/imports");
interface Printed {
  readonly env_id: string;
  readonly examples: number;
  readonly rollouts: number;
  readonly errors?: number;
  readonly scores: Readonly<Record<string, number>>;
}
const PRINTED = JSON.parse(readFileSync(join(FIXTURES, "printed.json"), "utf8")) as Readonly<Record<string, readonly Printed[]>>;

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-import-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const importedRuns = async (file: string): Promise<readonly ImportedFolder[]> => {
  const { code, err, runs } = await imported(cwd, join(FIXTURES, file));
  expect({ code, err: err.includes("error:") }).toEqual({ code: 0, err: false });
  return runs;
};
const one = async (file: string): Promise<ImportedFolder> => {
  const [run] = await importedRuns(file);
  if (run === undefined) throw new Error(`${file} was not imported`);
  return run;
};

describe("an imported log", () => {
  it.each(Object.entries(PRINTED))("has the samples, scores and averages that the program printed: %s", async (file, printed) => {
    const runs = await importedRuns(file);
    expect(runs.map(({ metadata, rows }) => ({ env_id: metadata.env_id, examples: metadata.num_examples, rollouts: rows.length }))).toEqual(
      printed.map(({ env_id, examples, rollouts }) => ({ env_id, examples, rollouts })),
    );
    for (const [index, { scores, errors = 0 }] of printed.entries()) {
      const run = runs[index];
      expect(run?.metadata.edgewise).toMatchObject({ origin: "imported", errored_rollouts: errors });
      for (const [name, value] of Object.entries(scores)) expect(run?.metadata.avg_metrics[name], name).toBeCloseTo(value, 3);
    }
  });

  it.each(Object.keys(PRINTED))("is verified, and exported without losing a score: %s", async (file) => {
    const runs = await importedRuns(file);
    expect((await runInProcess(["verify", "outputs"], { cwd })).out.filter((line) => line.includes("WRONG"))).toEqual([]);
    for (const [index, { path, rows }] of runs.entries()) {
      expect((await runInProcess(["export", path, "-f", "jsonl", "-o", `out-${index}`], { cwd })).code).toBe(0);
      const exported = readFileSync(join(cwd, `out-${index}/data/train-00000-of-00001.jsonl`), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(exported.map(({ example_id, rollout_index, reward }) => ({ example_id, rollout_index, reward }))).toEqual(
        rows.map(({ example_id, rollout_index, reward }) => ({ example_id, rollout_index, reward })),
      );
      for (const [at, { metrics }] of rows.entries()) expect(exported[at]).toMatchObject(metrics);
    }
  });

  it("says where it comes from: the program, its version, and the digest of each file", async () => {
    const { metadata } = await one("lm-eval/samples_words_reversed_2026-11-22T13-46-34.648424.jsonl");
    expect(metadata).toMatchObject({
      model: "scripted-model",
      base_url: "http://127.0.0.1:8765/v1/chat/completions",
      sampling_args: { max_gen_toks: 32, temperature: 0 },
      edgewise: {
        status: "COMPLETED",
        imported: {
          format: "lm-eval",
          tool: "lm_eval",
          tool_version: "0.4.13",
          stated: { "exact_match,none": 0.5 },
          sources: [
            { name: "samples_words_reversed_2026-11-22T13-46-34.648424.jsonl", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
            { name: "results_2026-11-22T13-46-34.648424.json" },
          ],
        },
      },
    });
  });

  it("makes one folder, however often and wherever it is imported from", async () => {
    const { path } = await one("openai-evals/match.jsonl");
    const written = statSync(join(path, "results.jsonl")).mtimeMs;
    copyFileSync(join(FIXTURES, "openai-evals/match.jsonl"), join(cwd, "renamed.jsonl"));
    const again = await imported(cwd, "renamed.jsonl");
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining("imported before"), runs: [{ path }] });
    expect(statSync(join(path, "results.jsonl")).mtimeMs).toBe(written);
  });

  it("is found in a folder by what is in it, each once; folders of ours are passed over", async () => {
    cpSync(FIXTURES, join(cwd, "logs"), { recursive: true });
    const first = await imported(cwd, "logs", "-o", "logs/made");
    expect(first.runs).toHaveLength(Object.values(PRINTED).flat().length);
    expect(first.runs[0]?.path).toContain(join("logs", "made", "evals"));
    const second = await imported(cwd, "logs", "-o", "elsewhere");
    expect(second.runs).toHaveLength(first.runs.length);
    const tree = await runInProcess(["eval", "view", "elsewhere"], { cwd });
    expect(tree.out.join("\n")).toContain("reversed_words");
  });
});

describe("a log of Inspect", () => {
  it("has epochs as rollouts of one example, in the order of its data set", async () => {
    const { rows, metadata } = await one("inspect/reversed-words.eval");
    expect(rows.map(({ example_id, rollout_index, source_id }) => [example_id, rollout_index, source_id])).toEqual(
      ["stream", "planet", "orange", "little"].flatMap((word, example) => [0, 1].map((rollout) => [example, rollout, `word-${word}`])),
    );
    expect(metadata).toMatchObject({ rollouts_per_example: 2, pass_at_k: { 1: 0.5 }, edgewise: { imported: { reward_is: "the score `includes`" } } });
    expect(rows[0]).toMatchObject({
      prompt: [{ role: "system" }, { role: "user", content: "Reverse: stream" }],
      completion: [{ role: "assistant", content: "I do not know." }],
      answer: "maerts",
      reward: 0,
      metrics: { includes: 0, match: 0 },
      token_usage: { input_tokens: 20, output_tokens: 10 },
      info: { metadata: { length: 6 } },
    });
  });

  it("keeps a sample that failed without a reward, and with its error", async () => {
    const { rows } = await one("inspect/counted-parts.eval");
    expect(rows[2]).toMatchObject({
      reward: null,
      metrics: {},
      completion: [],
      error: { error: "ValueError", error_chain_repr: "ValueError('this sample always fails')" },
    });
    expect(rows[0]).toMatchObject({ reward: 6, metrics: { length: 6, found: 1 }, info: { scores: { parts: { value: { length: 6, found: "C" } } } } });
  });
});

describe("other programs' logs", () => {
  it("of lm-evaluation-harness have one rollout per document, its filters as metrics, all responses kept", async () => {
    const { rows } = await one("lm-eval/results_2026-11-22T13-46-54.852905.json");
    expect(rows[2]).toMatchObject({
      example_id: 2,
      prompt: [{ role: "user", content: "Reverse: orange" }],
      completion: [{ role: "assistant", content: "I do not know." }],
      reward: 0,
      metrics: { "exact_match,first-word": 0, "exact_match,majority": expect.any(Number) as number },
      info: { doc: { question: "orange" }, resps: [["I do not know.", "egnaro :esreveR", "egnaro :esreveR"]] },
    });
    const [choice] = await importedRuns("lm-eval/results_2026-11-22T13-47-23.019574.json");
    // Likelihoods are no answer of the model.
    expect(choice?.rows[0]).toMatchObject({ prompt: "stream reversed is", completion: null, info: { resps: expect.anything() as unknown } });
  });

  it("of promptfoo are one run per provider and prompt, repeats as rollouts; a failed assertion is no error", async () => {
    const { rows } = await one("promptfoo/two.json");
    expect(rows.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, Number((reward as number).toFixed(2))])).toEqual([
      [0, 0, 1],
      [0, 1, 1],
      [0, 2, 1],
      [1, 0, 0.67],
      [1, 1, 0.67],
      [1, 2, 0],
    ]);
    expect(rows[5]).toMatchObject({ error: null, metrics: { pass: 0, exact: 0, letters: 0 }, info: { vars: { word: "planet" } } });
    const [answered, missing] = await importedRuns("promptfoo/three.json");
    expect(answered?.metadata).toMatchObject({ model: "openai:chat:scripted-model", avg_error: 0 });
    expect(missing?.metadata).toMatchObject({ model: "openai:chat:missing-model", avg_error: 1 });
    // Settings of a provider may hold keys: those that are no sampling arguments stay where they are.
    expect(JSON.stringify(missing?.metadata)).not.toContain("apiKey");
  });

  it("of OpenAI Evals are grouped by sample, whose events stand anywhere", async () => {
    const { rows } = await one("openai-evals/fuzzy.jsonl");
    expect(rows.map(({ source_id }) => source_id)).toEqual([0, 1, 2, 3, 4].map((number) => `words-fuzzy.dev.${number}`));
    for (const { metrics, reward } of rows) expect([metrics.accuracy, metrics.f1_score]).toEqual([reward, reward]);
    expect(rows[1]).toMatchObject({ answer: "tenalp", prompt: [{ role: "system" }, { role: "user", content: "planet" }], token_usage: { input_tokens: 20 } });
  });
});
