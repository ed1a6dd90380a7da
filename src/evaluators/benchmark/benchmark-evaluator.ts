import { METRICS, type MetricEstimate, NOT_RUN_COUNT, TASK_COUNT } from "../../metrics/named/metric-registry.ts";
import { bucketEstimates } from "../../metrics/named/breakdown-names.ts";
import { metadataOfRow } from "../../metrics/named/task-metadata.ts";
import { type TaskOfRows, TaskTable } from "../../metrics/named/task-table.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { fieldsOfInfo } from "../../metrics/one-run/row-key.ts";
import { contentText } from "../../rollouts/messages.ts";
import { connectEngine } from "../engine/connect-engine.ts";
import { Engine } from "../engine/engine.ts";
import { digestOf } from "../engine/evaluation-request.ts";
import type { EvaluationRequest } from "../engine/evaluation-request.ts";
import { benchmarkIds } from "../../cli/datasets/benchmarks-by-id.ts";
import { BENCHMARKS } from "./benchmark-registry.ts";
import type { EvaluationResult } from "../engine/evaluation-result.ts";
import { isDue, reportedStep } from "../due.ts";
import { type BenchmarkEvaluatorOptions, folderOf, isHarbor, requestOf, type Sampler, wholeLimit } from "./benchmark-options.ts";
import { type PredictionRecord, uploadEval } from "./store.ts";

export interface BenchmarkEvaluateOptions {
  /** The checkpoint: the model's name where neither the sampler nor the evaluator has one. */
  readonly modelPath?: string | null;
  /** Counted from 0; uploads have it as it is told, `step + 1`. The same step of the same model is one run, however often it is asked for. */
  readonly step?: number | null;
  readonly signal?: AbortSignal;
}

/** What an evaluation came to. */
export interface BenchmarkScores {
  /** By metric: value, number of tasks, standard error and 95 % interval. */
  readonly estimates: ReadonlyMap<string, MetricEstimate>;
  /** Null where nothing was to be run. */
  readonly runId: string | null;
  /** Attempts that ended in an error: no score stands for them, and they are in no metric. */
  readonly errored: number;
  readonly tasks: number;
  /** Tasks of the benchmark that were not run: beyond `limit`, or that nothing here can verify. Null where the environment does not count its tasks. */
  readonly notRun: number | null;
}

/** Scores a benchmark against a model that a server has, by a run of the engine; in a training loop each time it is due. */
export class BenchmarkEvaluator {
  readonly name: string;
  readonly options: BenchmarkEvaluatorOptions;
  /** Of the newest evaluation; null before the first. */
  scores: BenchmarkScores | null = null;

  constructor(options: BenchmarkEvaluatorOptions) {
    this.name = options.name;
    this.options = options;
    const { numSamples = 1, temperature = 0 } = options;
    if (numSamples > 1 && temperature === 0) this.#warn(`${numSamples} samples at temperature 0 are near-copies of each other`);
  }

  /** Whether a step (from 0) is evaluated. */
  isDue(step: number): boolean {
    return isDue(step, this.options.runEvery ?? 0);
  }

  /**
   * Metrics by name, breakdowns as `<metric>[<key>=<value>]`, `n_tasks`, and of a benchmark folder `n_not_run`. Attaches to the run that a killed caller left. Throws an `EdgewiseError` when the run
   * failed or no attempt has a score: there is no number then.
   */
  async evaluate(sampler: Sampler, { modelPath = null, step = null, signal }: BenchmarkEvaluateOptions = {}): Promise<Record<string, number>> {
    if (wholeLimit(this.options.limit) === 0) return this.#told(null, []);
    const { service = {} } = this.options;
    if (service instanceof Engine) return await this.#evaluate(service, sampler, modelPath, step, signal);
    const { workspaceDir } = this.options;
    await using engine = await connectEngine({
      ...(workspaceDir ? { stateDir: workspaceDir } : {}),
      ...(sampler.keyVar === undefined ? {} : { keyVars: [sampler.keyVar] }),
      ...service,
    });
    return await this.#evaluate(engine, sampler, modelPath, step, signal);
  }

  async #evaluate(engine: Engine, sampler: Sampler, modelPath: string | null, step: number | null, signal?: AbortSignal): Promise<Record<string, number>> {
    const request = requestOf(this.options, sampler, modelPath, engine.cwd);
    const { user_template, enable_thinking } = this.options.chatTemplate ?? {};
    if (isHarbor(this.options, modelPath) && (user_template !== undefined || enable_thinking !== undefined))
      this.#warn("with the engine harbor the chat template's system_prompt alone is used");
    const key = step === null ? {} : { key: JSON.stringify([this.name, step, modelPath, digestOf({ ...request })]) };
    const result = await this.#run(engine, { ...request, ...key, ...(signal === undefined ? {} : { signal }) });
    if (result.failure !== null) throw result.failure;
    const table = new TaskTable(metadataOfRow);
    let number = 0;
    for await (const row of result.rows()) table.add(row, ++number);
    const told = this.#told(result, table.tasks);
    await this.#upload(result, told, step, engine.cwd);
    return told;
  }

  /** What is neither an environment nor a benchmark is told with the benchmarks that there are. */
  async #run(engine: Engine, request: EvaluationRequest): Promise<EvaluationResult> {
    try {
      return await engine.runEvaluation(request);
    } catch (error) {
      if (!(error instanceof EdgewiseError) || error.code !== "environment_not_found") throw error;
      const { benchmark, benchmarksDir: dir } = this.options;
      const ids = [...BENCHMARKS.ids, ...benchmarkIds({ cwd: engine.cwd, dir })];
      const benchmarks = ids.length === 0 ? "there are no benchmarks" : `benchmarks: ${ids.join(", ")}`;
      throw new EdgewiseError("environment_not_found", `evaluator ${this.name}: ${JSON.stringify(benchmark)} is neither a benchmark nor an environment`, {
        hint: [error.hint, benchmarks].filter((text) => text !== undefined).join("; "),
        cause: error,
      });
    }
  }

  #told(result: EvaluationResult | null, all: readonly TaskOfRows[]): Record<string, number> {
    const { metrics = [], breakdownKeys = [] } = this.options;
    const errored = all.reduce((sum, task) => sum + task.errored, 0);
    const scored = all.filter(({ rewards }) => rewards.length > 0);
    if (all.length > 0 && scored.length === 0) {
      throw new EdgewiseError("all_rollouts_failed", `evaluator ${this.name}: none of ${errored} attempts has a score (run ${result?.runId ?? ""})`);
    }
    const { estimates, warnings } = METRICS.compute(
      metrics,
      scored.map(({ rewards }) => rewards),
    );
    for (const line of warnings) this.#warn(line);
    if (errored > 0) this.#warn(`${errored} attempts ended in an error and are in no metric`);
    const named = new Map([...estimates, ...bucketEstimates(METRICS, metrics, breakdownKeys, scored)]);
    const notRun = result?.notRun ?? null;
    this.scores = { estimates: named, runId: result?.runId ?? null, errored, tasks: scored.length, notRun };
    const numbers = Object.fromEntries([...named].map(([name, { value }]) => [name, value]));
    return { ...numbers, [TASK_COUNT]: scored.length, ...(notRun === null ? {} : { [NOT_RUN_COUNT]: notRun }) };
  }

  async #upload(result: EvaluationResult, metrics: Readonly<Record<string, number>>, step: number | null, cwd: string): Promise<void> {
    const { store, runId } = this.options;
    if (!store || !runId) return;
    const benchmarkId = this.options.benchmarkId ?? folderOf(this.options, cwd)?.metadata.id ?? null;
    const told = step === null ? null : reportedStep(step);
    const record = { run_id: runId, benchmark_id: benchmarkId, step: told, metrics };
    await uploadEval(
      store,
      record,
      (evalId) => predictions(result, evalId, told),
      (line) => this.#warn(line),
    );
  }

  #warn(line: string): void {
    const { onWarn = (text: string) => console.warn(text) } = this.options;
    onWarn(`evaluator ${this.name}: ${line}`);
  }
}

async function* predictions(result: EvaluationResult, eval_id: string, step: number | null): AsyncGenerator<PredictionRecord> {
  const seen = new Map<string, number>();
  for await (const row of result.rows()) {
    const info = fieldsOfInfo(row.info);
    const example = String(row.example_id);
    const sample_index = seen.get(example) ?? 0;
    seen.set(example, sample_index + 1);
    if (row.error != null) continue;
    const asked = row.prompt?.findLast(({ role }) => role === "user")?.content;
    yield {
      kind: "eval",
      eval_id,
      task_id: typeof info.task_id === "string" ? info.task_id : example,
      sample_index,
      step,
      instruction: typeof info.instruction === "string" ? info.instruction : asked == null ? "" : contentText(asked),
      expected: row.answer ?? null,
      reward: row.reward,
      completion_token_ids: null,
      metadata: { ...metadataOfRow(row), latency_ms: row.timing?.generation_ms ?? null, ...row.token_usage },
    };
  }
}
