import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { BenchmarkEvaluator } from "../../../src/evaluators/benchmark/benchmark-evaluator.ts";
import type { BenchmarkEvaluatorOptions } from "../../../src/evaluators/benchmark/benchmark-options.ts";
import { BenchmarkRegistry, BENCHMARKS } from "../../../src/evaluators/benchmark/benchmark-registry.ts";
import { Engine } from "../../../src/evaluators/engine/engine.ts";
import type { EvaluationRequest } from "../../../src/evaluators/engine/evaluation-request.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-benchmarks-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const benchmark = (path: string, metadata = ""): void => {
  mkdirSync(join(cwd, path), { recursive: true });
  writeFileSync(join(cwd, path, "tasks.jsonl"), `${JSON.stringify({ task_id: "a", instruction: "?", verifier: { kind: "e2b" } })}\n`);
  writeFileSync(join(cwd, path, "metadata.yaml"), metadata);
};

const ROWS = [
  { example_id: 0, reward: 1, error: null, info: { task_id: "a", verifier: {}, metadata: {} } },
  { example_id: 1, reward: 0, error: null, info: { task_id: "b", verifier: {}, metadata: {} } },
];

/** An engine whose runs have these rows, and which says what it was asked for. */
function engineOf(asked: EvaluationRequest[], failure: EdgewiseError | null = null): Engine {
  const runEvaluation = async (request: EvaluationRequest) => {
    asked.push(request);
    if (failure !== null) throw failure;
    return {
      runId: "1",
      failure: null,
      notRun: 3,
      rows: async function* () {
        yield* ROWS;
      },
    };
  };
  return Object.assign(Object.create(Engine.prototype) as Engine, { cwd, runEvaluation });
}

async function evaluated(options: Partial<BenchmarkEvaluatorOptions>, modelPath: string | null = "ckpt", failure: EdgewiseError | null = null) {
  const asked: EvaluationRequest[] = [];
  const warnings: string[] = [];
  const onWarn = (line: string) => warnings.push(line);
  const evaluator = new BenchmarkEvaluator({ name: "val", benchmark: "gsm8k", service: engineOf(asked, failure), onWarn, ...options });
  const told = await evaluator.evaluate({ url: "http://127.0.0.1:8000/v1" }, { modelPath, step: 49 });
  return { told, asked, warnings, run: asked[0]?.options };
}

describe("a benchmark evaluator", () => {
  it("asks for a run as its fields say, and tells what was not run", async () => {
    const chatTemplate = { system_prompt: "S", enable_thinking: false };
    const { told, asked, run, warnings } = await evaluated({ limit: 2, numSamples: 2, temperature: 0.5, nConcurrent: 3, chatTemplate });
    expect(told).toEqual({ mean_reward: 0.5, pass_rate: 0.5, n_tasks: 2, n_not_run: 3 });
    expect(asked[0]?.environment).toBe("gsm8k");
    expect(run).toEqual({
      model: "ckpt",
      api_base_url: "http://127.0.0.1:8000/v1",
      num_examples: 2,
      rollouts_per_example: 2,
      max_concurrent: 3,
      sampling_args: { max_tokens: 256, temperature: 0.5, extra_body: { chat_template_kwargs: { enable_thinking: false } } },
      env_args: { system_prompt: "S" },
    });
    expect(warnings).toEqual([]);
    await expect(evaluated({ chatTemplate: { user_template: "{prompt}" } })).rejects.toThrow(/user_template is of benchmark folders/);
  });

  it("runs nothing with a limit of 0 or less, and all without one", async () => {
    const { told, asked } = await evaluated({ limit: -3 });
    expect(told).toEqual({ mean_reward: 0, pass_rate: 0, n_tasks: 0 });
    expect(asked).toEqual([]);
    expect((await evaluated({})).run?.num_examples).toBe(-1);
  });

  it("tries a rollout twice more with the engine harbor, in any case, which takes the system prompt alone; and only with a model's path and name", async () => {
    const harbor = {
      engine: "Harbor",
      modelName: "m",
      benchmark: "./words",
      chatTemplate: { system_prompt: "S", user_template: "<{prompt}>", enable_thinking: true },
    };
    benchmark("words");
    const { run, warnings } = await evaluated(harbor);
    expect(run).toMatchObject({ model: "m", max_retries: 2, env_args: { path: "./words", system_prompt: "S" } });
    expect(run?.sampling_args).not.toHaveProperty("extra_body");
    expect(run?.env_args).not.toHaveProperty("user_template");
    expect(warnings).toEqual([expect.stringContaining("system_prompt alone is used")]);
    const live = await evaluated(harbor, null);
    expect(live.run).not.toHaveProperty("max_retries");
    expect(live.run).toMatchObject({
      env_args: { user_template: "<{prompt}>" },
      sampling_args: { extra_body: { chat_template_kwargs: { enable_thinking: true } } },
    });
    expect(live.warnings).toEqual([]);
  });

  it("is kept where there is a store and a run's id, under the benchmark's own id, and fails by no store", async () => {
    benchmark("words", "id: words-1");
    const kept: unknown[] = [];
    const store = { createEval: async ({ benchmark_id, step }: { benchmark_id: string | null; step: number | null }) => void kept.push([benchmark_id, step]) };
    expect((await evaluated({ benchmark: "./words", store })).told).toMatchObject({ n_tasks: 2 });
    expect(kept).toEqual([]);
    expect((await evaluated({ benchmark: "./words", store, runId: "r" })).warnings).toEqual([expect.stringContaining("gave the evaluation no id")]);
    await evaluated({ benchmark: "./words", store, runId: "r", benchmarkId: "b" });
    expect(kept).toEqual([
      ["words-1", 50],
      ["b", 50],
    ]);
    const broken = { createEval: () => Promise.reject(new Error("down")) };
    const { told, warnings } = await evaluated({ store: broken, runId: "r" });
    expect(told).toMatchObject({ mean_reward: 0.5 });
    expect(warnings).toEqual([expect.stringContaining("down")]);
    expect((await evaluated({ store: null, runId: "r" })).warnings).toEqual([]);
  });
});

describe("a benchmark that is named by an id", () => {
  it("is the one that was registered, else a folder by its name, its id or its name in metadata.yaml; an environment's id is the environment's", async () => {
    benchmark("elsewhere/words");
    benchmark("benchmarks/capitals", "id: caps\nname: Capitals of Europe");
    benchmark("benchmarks/gsm8k");
    benchmark("more/sums");
    BENCHMARKS.register("words", join(cwd, "elsewhere/words"));
    const path = async (id: string, more: Partial<BenchmarkEvaluatorOptions> = {}) => (await evaluated({ benchmark: id, ...more })).run?.env_args?.path;
    expect(await path("words")).toBe(join(cwd, "elsewhere/words"));
    for (const id of ["capitals", "caps", "Capitals of Europe"]) expect(await path(id)).toBe(join("benchmarks", "capitals"));
    expect(await path("sums", { benchmarksDir: "./more" })).toBe(join("more", "sums"));
    expect(await path("gsm8k")).toBeUndefined();
    rmSync(join(cwd, "elsewhere"), { recursive: true });
    await expect(path("words")).rejects.toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("there are no tasks in") }),
    );
  });

  it("is told with those that there are where there is none, and no id is taken twice", async () => {
    benchmark("benchmarks/capitals");
    const failure = new EdgewiseError("environment_not_found", "there is none", { hint: "this service has: gsm8k" });
    await expect(evaluated({ benchmark: "capital" }, "ckpt", failure)).rejects.toThrow(
      expect.objectContaining({
        code: "environment_not_found",
        message: 'evaluator val: "capital" is neither a benchmark nor an environment',
        hint: expect.stringMatching(/this service has: gsm8k; benchmarks: .*capitals/),
      }),
    );
    const registry = new BenchmarkRegistry();
    registry.register("a", dirname(cwd));
    expect(() => registry.register("a", cwd)).toThrow(/called "a" already/);
    expect([registry.ids, registry.find("b")]).toEqual([["a"], null]);
  });
});
