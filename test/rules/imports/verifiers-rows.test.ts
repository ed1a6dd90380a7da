import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { imported } from "../../support/results/imported-runs.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures");

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-import-verifiers-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A folder as verifiers wrote it in 2025, with rows of `[id, what was asked, reward]`. */
function oldFolder(rows: readonly (readonly [id: number, asked: string, reward: number])[], answer = (asked: string): string => asked.toUpperCase()): void {
  mkdirSync(join(cwd, "old"));
  const text = rows.map(([id, asked, reward]) =>
    JSON.stringify({
      id,
      prompt: [{ role: "user", content: asked }],
      completion: [{ role: "assistant", content: "said" }],
      task: "default",
      reward,
      generation_ms: 12.5,
      scoring_ms: 0,
      total_ms: 12.5,
      answer: answer(asked),
      correct: reward,
      turn: 3,
    }),
  );
  writeFileSync(join(cwd, "old/results.jsonl"), `${text.join("\n")}\n`);
  writeFileSync(
    join(cwd, "old/metadata.json"),
    JSON.stringify({ env: "words", model: "m", num_examples: 15, rollouts_per_example: 1, avg_reward: 0, avg_correct: 0.5, date: "2025-09-01" }),
  );
}

const importOld = async () => {
  const { code, err, runs } = await imported(cwd, "old");
  const [run] = runs;
  if (run === undefined) throw new Error(err);
  return { code, ...run, imported: run.metadata.edgewise.imported as { readonly notes: readonly string[]; readonly stated: object } };
};

describe("old rows of verifiers", () => {
  it("whose id is wrong are grouped by what is in them: row i is of example i mod n", async () => {
    // The data set twice over, the ids counting rows divided by attempts: a passes both times, b neither, c once.
    oldFolder([
      [0, "a", 1],
      [0, "b", 0],
      [1, "c", 1],
      [1, "a", 1],
      [2, "b", 0],
      [2, "c", 0],
    ]);
    const { rows, metadata, imported: origin } = await importOld();
    expect(rows.map(({ example_id, rollout_index, reward, source_id }) => [example_id, rollout_index, reward, source_id])).toEqual([
      [0, 0, 1, "0"],
      [0, 1, 1, "1"],
      [1, 0, 0, "0"],
      [1, 1, 0, "2"],
      [2, 0, 1, "1"],
      [2, 1, 0, "2"],
    ]);
    // By the ids, pass@2 would be 1 and pass^2 a third.
    expect(metadata).toMatchObject({ num_examples: 3, rollouts_per_example: 2, pass_at_k: { 1: 0.5, 2: 2 / 3 }, pass_all_k: { 2: 1 / 3 } });
    expect(origin.notes).toEqual([expect.stringContaining("row i is of example i mod 3")]);
    // Averages are of the rows, whatever the old metadata said; a number beside the metrics that it names is none.
    expect(metadata).toMatchObject({ avg_reward: 0.5, avg_metrics: { correct: 0.5 } });
    expect(rows[0]).toMatchObject({ turn: 3, timing: { generation_ms: 12.5 } });
  });

  it("whose id is right are grouped by it", async () => {
    oldFolder([
      [0, "a", 1],
      [1, "b", 0],
      [0, "a", 0],
      [1, "b", 0],
    ]);
    const { rows, imported: origin } = await importOld();
    expect(rows.map(({ example_id, prompt }) => [example_id, (prompt as { content: string }[])[0]?.content])).toEqual([
      [0, "a"],
      [0, "a"],
      [1, "b"],
      [1, "b"],
    ]);
    expect(origin.notes).toEqual([]);
  });

  it("with equal prompts are told apart by their answers", async () => {
    let row = 0;
    oldFolder(
      [
        [0, "guess", 1],
        [0, "guess", 0],
        [1, "guess", 1],
        [1, "guess", 0],
      ],
      () => ["crane", "slate"][row++ % 2] ?? "",
    );
    const { rows } = await importOld();
    expect(rows.map(({ answer }) => answer)).toEqual(["crane", "crane", "slate", "slate"]);
  });

  it.each([
    ["all are equal", ["a", "a", "a", "a"], "group them differently"],
    ["neither reading is pure", ["a", "b", "b", "a"], "neither `id` nor the order of the rows"],
  ])("are not grouped where %s, with the reason on the run, and no pass@k or interval", async (_, asked, reason) => {
    oldFolder(asked.map((each, index) => [Math.floor(index / 2), each, index % 2] as const));
    const { rows, metadata, path } = await importOld();
    expect(rows.map(({ example_id, reward }) => [example_id, reward])).toEqual([
      [undefined, 0],
      [undefined, 1],
      [undefined, 0],
      [undefined, 1],
    ]);
    expect(metadata).toMatchObject({
      avg_reward: 0.5,
      pass_at_k: {},
      pass_all_k: {},
      edgewise: { grouping_problem: expect.stringContaining(reason) as string, reward_ci95: null },
    });
    expect((await runInProcess(["verify", path], { cwd })).code).toBe(0);
    expect((await runInProcess(["export", path, "-f", "jsonl", "-o", "out"], { cwd })).code).toBe(0);
  });
});

describe("folders of verifiers", () => {
  it.each(["verifiers-0.1.9", ...readdirSync(join(FIXTURES, "verifiers-folders")).map((name) => `verifiers-folders/${name}`)])(
    "of every version are imported with their rewards and messages: %s",
    async (folder) => {
      const { code, runs } = await imported(cwd, join(FIXTURES, folder));
      expect(code).toBe(0);
      const [run] = runs;
      const theirs = readFileSync(join(FIXTURES, folder, "results.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(run?.rows.map(({ example_id, reward, prompt }) => ({ example_id, reward, prompt }))).toEqual(
        theirs.map(({ example_id, reward, prompt }) => ({ example_id, reward, prompt })),
      );
      expect(new Set(run?.rows.map(({ example_id, rollout_index }) => `${String(example_id)} ${String(rollout_index)}`)).size).toBe(theirs.length);
      expect((await runInProcess(["verify", run?.path ?? ""], { cwd })).code).toBe(0);
    },
  );

  it("of 0.4 are imported from their traces, with the settings beside them", async () => {
    const { code, runs } = await imported(cwd, join(FIXTURES, "verifiers-traces/0.4.0/traces.jsonl"));
    expect(code).toBe(0);
    expect(runs[0]?.metadata).toMatchObject({
      env_id: "tiny-sum",
      model: "scripted",
      num_examples: 5,
      rollouts_per_example: 2,
      avg_reward: 1.05,
      avg_metrics: { correct: 0.8 },
      edgewise: { imported: { tool: "verifiers", tool_version: "0.4.0" } },
    });
  });

  it("that were imported are not gone on with here", async () => {
    oldFolder([[0, "a", 1]]);
    const { path } = await importOld();
    const { code, err } = await runInProcess(["eval", "run", "arithmetic", "-m", "m", "-R", path], { cwd });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("cannot be resumed: it was imported from another program's log") });
  });

  it("that are ours are refused, and half folders told", async () => {
    oldFolder([[0, "a", 1]]);
    const { path } = await importOld();
    expect(await imported(cwd, join(path, "results.jsonl"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("is a results folder of Edgewise already"),
    });
    rmSync(join(cwd, "old/metadata.json"));
    expect(await imported(cwd, "old/results.jsonl")).toMatchObject({ code: 1, err: expect.stringContaining("old/metadata.json: is not there") });
  });
});
