import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EdgewiseError } from "../../../../src/errors/result.ts";
import type { EvaluationRequest } from "../../../../src/evaluators/engine/evaluation-request.ts";
import { type EvaluationEngine, Evaluator } from "../../../../src/evaluators/suite/evaluator.ts";
import type { EndedRun } from "../../../../src/evaluators/suite/reduce-run.ts";
import type { RolloutOutput } from "../../../../src/rollouts/rows/output.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgewise-evaluator-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const row = (reward: number, metrics: Record<string, number> = {}, more: object = {}): RolloutOutput =>
  ({ prompt: [], completion: [], reward, metrics, error: null, ...more }) as RolloutOutput;
const text = (nll: number, tokens: number): RolloutOutput =>
  row(-nll / tokens, { nll_sum: nll, nll_tokens: tokens, text_perplexity: Math.exp(nll / tokens) }, { scored: { tokens: ["a"], logprobs: [-1], mask: [1] } });

const ROWS: Record<string, readonly RolloutOutput[]> = { sst2: [row(1), row(0), row(1), row(1)], tinystories_ppl: [text(10, 5), text(2, 4)] };

/** Runs nothing: each environment has its rows. Who asks under a known key is given what was there. */
class Engine implements EvaluationEngine {
  readonly asked: EvaluationRequest[] = [];
  readonly made = new Set<string>();
  readonly down = new Set<string>();
  errors: Record<string, number> = {};

  async checkEvaluation({ environment }: EvaluationRequest): Promise<void> {
    if (ROWS[environment] === undefined)
      throw new EdgewiseError("environment_not_found", `there is no environment ${environment}`, { hint: "this service has: sst2, tinystories_ppl" });
  }

  async runEvaluation(request: EvaluationRequest): Promise<EndedRun> {
    this.asked.push(request);
    const { environment, key = "" } = request;
    if (this.down.has(environment)) throw new EdgewiseError("endpoint_unavailable", "killed");
    const rows = ROWS[environment] ?? [];
    this.made.add(key);
    return {
      runId: "0000aaaa",
      status: "COMPLETED",
      errors: this.errors,
      failure: null,
      rows: async function* () {
        yield* rows;
      },
    };
  }
}

const config = (more: object = {}) => ({ results: folder, evaluation: [{ name: "sst2" }, { name: "tinystories_ppl", args: { max_chars: 100 } }], ...more });
const resultsAt = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(folder, ...path, "results.json"), "utf8"));

describe("an evaluator", () => {
  it("of a checkpoint writes a number for each evaluation in the place of its job, and is done then", async () => {
    const evaluator = Evaluator.fromCheckpoint("org/step-100", { config: config(), engine: new Engine() });
    expect(evaluator.done).toBe(false);
    const stored = await evaluator();
    expect(stored).toEqual({ job: "org--step-100", project: "general", group: "default", results: { sst2: 0.75, tinystories_ppl: expect.closeTo(3.7937, 4) } });
    expect(resultsAt("general", "default", "org--step-100")).toEqual(stored);
    expect(evaluator.done).toBe(true);
  });

  it("passes on how to reduce and what to keep, and gives each sample", async () => {
    const engine = new Engine();
    const evaluator = Evaluator.fromCheckpoint("m", { config: config({ project: "p", group: "g", job: "j" }), engine });
    const { scores, intermediates } = await evaluator.evaluate({
      reduce: "none",
      returnIntermediates: true,
      temperature: 0.5,
      topP: 0.9,
      chunkSize: 3,
      samplesPerPrompt: 2,
    });
    expect(scores).toEqual({ sst2: [1, 0, 1, 1], tinystories_ppl: [expect.closeTo(7.3891, 4), expect.closeTo(1.6487, 4)] });
    expect(intermediates?.tinystories_ppl).toEqual([1, 2].map(() => ({ tokens: ["a"], logprobs: [-1], mask: [1] })));
    expect(engine.asked[1]?.options).toEqual({
      model: "m",
      num_examples: -1,
      rollouts_per_example: 2,
      env_args: { max_chars: 100, chunk_size: 3 },
      sampling_args: { temperature: 0.5, top_p: 0.9, logprobs: true },
      state_columns: ["scored"],
    });
    const messages = Evaluator.fromCheckpoint("m", { config: config({ job: "k", provider: "anthropic" }), engine });
    await messages.evaluate({ returnIntermediates: true });
    expect(engine.asked.at(-1)?.options.sampling_args).toEqual({});
    expect((await evaluator.evaluate({ reduce: "sum" })).scores).toEqual({ sst2: 3, tinystories_ppl: expect.closeTo(3.7937, 4) });
    await expect(evaluator.evaluate({ reduce: "max" as "mean" })).rejects.toThrow("it can be mean, sum, none");
  });

  it("is told by name of an evaluation that is not there before any begins, and writes nothing", async () => {
    const engine = new Engine();
    const evaluator = Evaluator.fromCheckpoint("m", { config: config({ evaluation: [{ name: "sst2" }, { name: "sst3" }] }), engine });
    await expect(evaluator.run()).rejects.toMatchObject({
      code: "environment_not_found",
      message: "evaluation sst3: there is no environment sst3",
      hint: "this service has: sst2, tinystories_ppl",
    });
    expect(engine.asked).toEqual([]);
    expect(existsSync(evaluator.resultsFile)).toBe(false);
    expect(evaluator.done).toBe(false);
  });

  it("keeps the results and the job that its folder has where a new job is refused, and is not done by them", async () => {
    const engine = new Engine();
    const stored = await Evaluator.fromCheckpoint("m", { config: config(), engine }).run();
    const misspelt = Evaluator.fromCheckpoint("m", { config: config({ evaluation: [{ name: "sst2" }, { name: "tinystories" }] }), engine });
    await expect(misspelt.run()).rejects.toMatchObject({ code: "environment_not_found" });
    expect(misspelt.done).toBe(false);
    expect(resultsAt("general", "default", "m")).toEqual(stored);
    expect(Evaluator.fromCheckpoint("m", { config: config(), engine, resume: true }).done).toBe(true);
  });

  it("that was killed goes on under the same keys, so that what is finished is not run again; without resume it begins anew", async () => {
    const engine = new Engine();
    engine.down.add("tinystories_ppl");
    await expect(Evaluator.fromCheckpoint("m", { config: config(), engine }).run()).rejects.toMatchObject({ code: "endpoint_unavailable" });
    engine.down.clear();
    const again = Evaluator.fromCheckpoint("m", { config: config(), engine, resume: true });
    await again.run();
    expect(engine.made.size).toBe(2);
    await again.run();
    expect(engine.asked).toHaveLength(4);
    const anew = Evaluator.fromCheckpoint("m", { config: config(), engine });
    expect(anew.done).toBe(false);
    await anew.run();
    expect(engine.made.size).toBe(4);
  });

  it("goes on with no job that evaluates something else", async () => {
    await Evaluator.fromCheckpoint("m", { config: config({ job: "j" }), engine: new Engine() }).run();
    expect(() => Evaluator.fromCheckpoint("m2", { config: config({ job: "j" }), engine: new Engine(), resume: true })).toThrow(
      "another model or other evaluations",
    );
    expect(() => Evaluator.fromCheckpoint("m", { config: config({ job: "j", max_concurrent: 4 }), engine: new Engine(), resume: true })).not.toThrow();
  });

  it("is not done by a file that lacks an evaluation", async () => {
    const engine = new Engine();
    const one = Evaluator.fromCheckpoint("m", { config: config(), engine });
    await one.run();
    writeFileSync(one.resultsFile, JSON.stringify({ job: "m", project: "general", group: "default", results: { sst2: 0.75 } }));
    const again = Evaluator.fromCheckpoint("m", { config: config(), engine, resume: true });
    expect(again.done).toBe(false);
    await again.run();
    expect(again.done).toBe(true);
  });

  it("of a trainer is one job a step, at the trainer's address, with the configuration of a file and what is laid over it", async () => {
    const file = join(folder, "evals.toml");
    writeFileSync(
      file,
      `project = "tiny"\nresults = ${JSON.stringify(folder)}\n[[evaluation]]\nname = "sst2"\n[[evaluation]]\nname = "tinystories_ppl"\nlength = 5\n`,
    );
    const engine = new Engine();
    const trainer = { step: 200, model: "ckpt-200", url: "http://127.0.0.1:8000/v1", name: "run 7" };
    await Evaluator.fromTrainer(trainer, { config: file, engine, overlay: { group: "late" } })();
    await Evaluator.fromTrainer(trainer, { config: file, engine, overlay: { group: "late" } })();
    expect(resultsAt("tiny", "late", "run_7-step-200")).toMatchObject({ job: "run_7-step-200", group: "late" });
    expect(engine.asked.map(({ options }) => [options.model, options.api_base_url, options.env_args])).toEqual([
      ["ckpt-200", trainer.url, {}],
      ["ckpt-200", trainer.url, { length: 5 }],
    ]);
  });

  it("has no number where the infrastructure failed, and says what the model alone left without a score", async () => {
    const engine = new Engine();
    engine.errors = { connection_failed: 3 };
    const evaluator = Evaluator.fromCheckpoint("m", { config: config({ evaluation: [{ name: "sst2" }] }), engine });
    await expect(evaluator.run()).rejects.toThrow("3 in connection_failed");
    engine.errors = { scorer_error: 1 };
    ROWS.sst2 = [row(1), row(0, {}, { error: { code: "scorer_error" } })];
    expect(await evaluator.run()).toMatchObject({ results: { sst2: 1 }, unscored: { sst2: 1 } });
  });

  it.each([
    [{}, "evaluation: "],
    [{ evaluation: [] }, "evaluation: "],
    [{ evaluation: [{ name: "a" }, { name: "a" }] }, "two evaluations are called a"],
    [{ evaluation: [{ name: "a", temperature: -1 }] }, "evaluation.0.temperature: must be at least 0"],
    [{ evaluation: [{ name: "a" }], project: "../up" }, "project: must have 1 to 100 letters"],
    [{ evaluation: [{ name: "a" }], grop: "x" }, "grop"],
  ])("refuses a configuration %j by the field", (given, problem) => {
    expect(() => Evaluator.fromCheckpoint("m", { config: given as never, engine: new Engine() })).toThrow(problem);
  });
});
