import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadataOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const library = fileURLToPath(new URL("../../../dist/evaluators.js", import.meta.url));
const reversed = (text: string): string => [...text].reverse().join("");

let place: Workplace;
let model: ModelServer;
let cli: string;
beforeAll(async () => {
  place = new Workplace();
  cli = place.command;
  // It answers with what it was asked, reversed.
  model = await startModelServer();
  const words = ["stressed", "drawer", "lever", "noon", "live", "spam", "tide", "mood"];
  const tasks = words.map((instruction, at) => {
    const verifiers = [
      { kind: "in_process", function: "exact_match", expected: reversed(instruction).toUpperCase(), params: { ignore_case: true } },
      { kind: "in_process", function: "contains", expected: "no such text" },
      { kind: "in_process", function: "regex_match", expected: `^${reversed(instruction)}$` },
    ];
    return { task_id: `w-${at}`, instruction, verifier: verifiers[at % 3], metadata: at === 7 ? {} : { source: { kind: at < 4 ? "long" : "short" } } };
  });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(place.folder, path)), { recursive: true });
    writeFileSync(join(place.folder, path), text);
  };
  write("words/tasks.jsonl", tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  write("words/metadata.yaml", "name: reversed words\nseed: 7\n");
  for (const name of ["contained/a", "contained/b", "harbor"]) {
    write(`${name}/task.toml`, "[environment]\n");
    write(`${name}/instruction.md`, "stressed");
  }
  write("contained/a/evsys_verifier.json", JSON.stringify({ fn_name: "exact_match", expected: "desserts" }));
});
afterAll(async () => {
  place.remove();
  await model.close();
});

const run = (folder: string, more = "") => {
  place.command = cli;
  return place.run(["eval", "run", "benchmark", "-m", "scripted", "-b", model.url, "-a", `{"path": "./${folder}"${more}}`]);
};

describe("a benchmark folder", () => {
  it("is played by the command, and by an evaluator in Node that is killed and asked again, with the same score", async () => {
    const { code, stdout, stderr } = await place.run(["eval", "run", "./words", "-m", "scripted", "-b", model.url]);
    expect(stderr).not.toContain("error");
    expect(code).toBe(0);
    expect(stdout + stderr).toMatch(/Run [0-9a-f]{8}: benchmark reversed words with scripted/);
    expect(stdout).toContain("reward: avg - 0.625");
    expect(stdout).toContain("Results: outputs/evals/benchmark--scripted/");
    expect(metadataOf(place.results)).toMatchObject({ num_examples: 8, avg_reward: 0.625 });
    expect(rowsOf(place.results).map(({ reward }) => reward)).toEqual([1, 0, 1, 1, 0, 1, 1, 0]);

    model.setScript({ latency_ms: 300 });
    place.command = join(place.folder, "trainer.mjs");
    writeFileSync(
      place.command,
      `import { BenchmarkEvaluator } from ${JSON.stringify(library)};
       const kept = [];
       const store = { createEval: async ({ step }) => "eval " + step, addPredictions: async (rows) => void kept.push(...rows) };
       const evaluator = new BenchmarkEvaluator({
         name: "words", benchmark: "./words", runEvery: 50, nConcurrent: 2, store, runId: "train", breakdownKeys: ["source.kind"], metrics: ["avg", "pass@1", "pass@2"],
       });
       const told = evaluator.isDue(49) ? await evaluator.evaluate({ url: ${JSON.stringify(model.url)}, model: "scripted" }, { modelPath: "ckpt", step: 49 }) : null;
       console.log(JSON.stringify({ told, kept: kept.map(({ eval_id, task_id, step }) => [eval_id, task_id, step].join(" ")), run: evaluator.scores.runId }));`,
    );
    const before = model.ledger.stats().total;
    const first = place.start([]);
    await until(() => model.ledger.stats().total >= before + 3, 30_000);
    first.child.kill("SIGKILL");
    await first.ended;
    model.setScript({});
    const ended = await place.run([]);
    expect(ended.stderr).toMatch(/^evaluator words: there is no metric "pass@2"/);
    expect(ended.code).toBe(0);
    const { told, kept } = JSON.parse(ended.stdout) as { told: Record<string, number>; kept: readonly string[] };
    expect(told).toEqual({
      avg: 0.625,
      "pass@1": 0.625,
      "avg[source.kind=long]": 0.75,
      "pass@1[source.kind=long]": 0.75,
      "avg[source.kind=short]": 2 / 3,
      "pass@1[source.kind=short]": 2 / 3,
      "avg[source.kind=__missing__]": 0,
      "pass@1[source.kind=__missing__]": 0,
      n_tasks: 8,
      n_not_run: 0,
    });
    expect(kept).toEqual(Array.from({ length: 8 }, (_, at) => `eval 50 w-${at} 50`));
  }, 90_000);

  it("with a task that needs a container is refused before a model is asked, or played without it; a task of Harbor is refused at once", async () => {
    const before = model.ledger.stats().total;
    const refused = await run("contained");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain("benchmark task b cannot be run: its verifier (harbor) needs a container");
    expect(await run("harbor")).toMatchObject({ code: 2, stderr: expect.stringContaining("is a task of Harbor") });
    expect(await run("nothing")).toMatchObject({ code: 2, stderr: expect.stringContaining("tasks.jsonl") });
    expect(model.ledger.stats().total).toBe(before);
    const without = await run("contained", ', "not_run": "skip"');
    expect(without).toMatchObject({ code: 0, stdout: expect.stringContaining("reward: avg - 1.000") });
    expect(without.stdout).toContain("not run: 1 task of the data set");
    const folder = without.stdout.match(/^Results: (.*)$/m)?.[1] ?? "";
    expect(JSON.parse(readFileSync(join(place.folder, folder, "metadata.json"), "utf8"))).toMatchObject({ num_examples: 1, edgewise: { n_not_run: 1 } });
  }, 90_000);
});
