/** Several evaluations of one model, as a training loop asks for them. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { withProvider } from "../../config/endpoints/providers.ts";
import { evaluationRun } from "../../config/plan/evaluation-run.ts";
import { type GivenOptions, OPTIONS } from "../../config/options/options.ts";
import type { ClientType, Json, JsonObject } from "../../config/plan/run-config.ts";
import { SCORED } from "../../environments/evaluations/likelihood-env.ts";
import { checkedReduction, type Reduction } from "../../environments/evaluations/reduce.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { digestOf, type EvaluationRequest } from "../engine/evaluation-request.ts";
import { type ConfiguredEvaluation, type EvaluatorConfig, evaluatorConfig, type GivenEvaluatorConfig, parseEvaluatorConfig } from "./evaluator-config.ts";
import { type EndedRun, reduceRun, type ReducedRun } from "./reduce-run.ts";
import { ResultsFolder, type StoredResults } from "./results-folder.ts";

/** What runs evaluations: what `connectEngine` gives. */
export interface EvaluationEngine {
  /** Throws what a run of this would be refused with, as an environment that is not there; makes none. Absent = only a run tells. */
  checkEvaluation?(request: EvaluationRequest): Promise<void>;
  runEvaluation(request: EvaluationRequest): Promise<EndedRun>;
}

export interface EvaluatorOptions {
  /** A configuration, or the path of a TOML or JSON file of one. */
  readonly config: GivenEvaluatorConfig | string;
  /** Over the configuration, field by field. */
  readonly overlay?: Partial<GivenEvaluatorConfig>;
  readonly engine: EvaluationEngine;
}

export interface CheckpointOptions extends EvaluatorOptions {
  /** Goes on with the job that was begun: what it has finished is not run again. Default false: a new job, which replaces the results of its folder once nothing of it is refused. */
  readonly resume?: boolean;
}

/** What a trainer says of itself. */
export interface Trainer {
  readonly step: number;
  /** A name or path of the weights of this step that the server serves. */
  readonly model: string;
  /** Where it is served; absent = as the configuration says. */
  readonly url?: string;
  /** Of the training; part of the job's name. Absent = the model's. */
  readonly name?: string;
}

export interface EvaluateOptions {
  /** Default `mean`. */
  readonly reduce?: Reduction;
  /** Default false. Of texts that were scored, and of answers where the server gives the log-probabilities of what it writes. */
  readonly returnIntermediates?: boolean;
  // Over what the configuration says, of every evaluation.
  readonly temperature?: number;
  readonly topP?: number;
  readonly chunkSize?: number;
  readonly samplesPerPrompt?: number;
  readonly length?: number;
  readonly signal?: AbortSignal;
}

export interface Evaluated<Score = number | number[]> {
  /** By name. */
  readonly scores: Readonly<Record<string, Score>>;
  /** By name, one of each sample; only where they were asked for. Null where the server gave none. */
  readonly intermediates?: Readonly<Record<string, readonly unknown[]>>;
  /** Rollouts without a score, by name, that the model is to blame for. */
  readonly unscored: Readonly<Record<string, number>>;
}

/** An evaluator is called to run it. */
export type CallableEvaluator = Evaluator & (() => Promise<StoredResults>);

/** How answers are asked for with the log-probabilities of their tokens, by the kinds of client that have a word for it. */
const WITH_LOGPROBS: { readonly [Type in ClientType]?: Json } = { openai_chat_completions: true, openai_chat_completions_token: true, openai_completions: 1 };

/** Made by `fromCheckpoint` or `fromTrainer`. */
export class Evaluator {
  readonly config: EvaluatorConfig;
  readonly job: string;
  readonly #engine: EvaluationEngine;
  readonly #folder: ResultsFolder;
  readonly #id: string;
  /** Digest of what is evaluated, and how. */
  readonly #settings: string;
  /** The job of the folder is this one; before, what is there is of another, and stays. */
  #isBegun: boolean;

  private constructor(config: EvaluatorConfig, job: string, engine: EvaluationEngine, resume: boolean) {
    this.config = config;
    this.job = job;
    this.#engine = engine;
    this.#folder = new ResultsFolder(config.results, config.project, config.group, job);
    const { results: _results, max_concurrent: _speed, ...settings } = config;
    this.#settings = digestOf(settings as JsonObject);
    const resumed = resume ? this.#folder.resumed(this.#settings) : null;
    this.#id = resumed ?? randomUUID();
    this.#isBegun = resumed !== null;
  }

  /** Of a model by the name or path that the server serves it under. Throws `invalid_request`, and `resume_mismatch` where the job to go on with is another. */
  static fromCheckpoint(model: string, { resume = false, ...options }: CheckpointOptions): CallableEvaluator {
    const config = read(options, { model });
    return callable(new Evaluator(config, config.job ?? folderName(model), options.engine, resume));
  }

  /** Of a trainer's weights at a step. The same step again is the same job. */
  static fromTrainer({ step, model, url, name }: Trainer, options: EvaluatorOptions): CallableEvaluator {
    if (!Number.isSafeInteger(step) || step < 0) throw new EdgewiseError("invalid_request", `step is ${step}, not an integer from 0`);
    const config = read(options, { model, ...(url === undefined ? {} : { api_base_url: url }) });
    return callable(new Evaluator(config, `${config.job ?? folderName(name ?? model)}-step-${step}`, options.engine, true));
  }

  /** Whether all results are there: a file that lacks one of the evaluations does not count. */
  get done(): boolean {
    const results = this.#stored?.results ?? {};
    return this.config.evaluation.every(({ name }) => typeof results[name] === "number");
  }

  /** Where `run` writes them. */
  get resultsFile(): string {
    return this.#folder.file;
  }

  /**
   * Runs all evaluations, side by side, and gives their scores by name. An evaluation that this job has finished before, with the same options, is read and not run again. What is
   * wrong with one of them (a name that is not there, an argument) is told before any begins. Throws what the first one failed by; runs of the others go on, and whoever asks again
   * attaches to them.
   */
  async evaluate(options: EvaluateOptions = {}): Promise<Evaluated> {
    const { reduce = "mean", returnIntermediates = false, signal } = options;
    checkedReduction(reduce);
    const failed = new AbortController();
    const ends = AbortSignal.any([failed.signal, ...(signal === undefined ? [] : [signal])]);
    const requests = this.config.evaluation.map((evaluation) => ({ name: evaluation.name, request: this.#request(evaluation, options) }));
    await Promise.all(requests.map(({ name, request }) => this.#checked(name, { ...request, signal: ends })));
    this.#begin();
    const all = await Promise.all(
      requests.map(async ({ name, request }): Promise<readonly [string, ReducedRun]> => {
        try {
          const run = await this.#engine.runEvaluation({ ...request, signal: ends });
          return [name, await reduceRun(name, run, reduce, returnIntermediates)];
        } catch (error) {
          failed.abort(error);
          throw failed.signal.reason;
        }
      }),
    );
    return {
      scores: Object.fromEntries(all.map(([name, { score }]) => [name, score])),
      ...(returnIntermediates ? { intermediates: Object.fromEntries(all.map(([name, run]) => [name, run.intermediates])) } : {}),
      unscored: Object.fromEntries(all.flatMap(([name, { unscored }]) => (unscored === 0 ? [] : [[name, unscored]]))),
    };
  }

  /** Runs all evaluations and writes `results.json`; where it is complete, reads it. Throws as `evaluate` does, and writes nothing then. */
  async run(): Promise<StoredResults> {
    const known = this.#stored;
    if (known !== null && this.done) return known;
    const { scores, unscored } = await this.evaluate();
    const { project, group } = this.config;
    const results = {
      job: this.job,
      project,
      group,
      results: scores as Readonly<Record<string, number>>,
      ...(Object.keys(unscored).length === 0 ? {} : { unscored }),
    };
    this.#folder.write(results);
    return results;
  }

  get #stored(): StoredResults | null {
    return this.#isBegun ? this.#folder.results() : null;
  }

  /** What was refused before costs no older results. */
  #begin(): void {
    if (!this.#isBegun) this.#folder.begin(this.#id, this.#settings);
    this.#isBegun = true;
  }

  async #checked(name: string, request: EvaluationRequest): Promise<void> {
    try {
      await this.#engine.checkEvaluation?.(request);
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error;
      throw new EdgewiseError(error.code, `evaluation ${name}: ${error.message}`, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    }
  }

  #request({ name, ...own }: ConfiguredEvaluation, options: EvaluateOptions): EvaluationRequest {
    const { model, provider, api_base_url, api_key_var, api_client_type, max_concurrent } = this.config;
    const { provider: _named, ...endpoint } = withProvider({ model, provider, api_base_url, api_key_var, api_client_type });
    const run = evaluationRun({
      args: own.args,
      length: options.length ?? own.length,
      samples_per_prompt: options.samplesPerPrompt ?? own.samples_per_prompt,
      temperature: options.temperature ?? own.temperature,
      top_p: options.topP ?? own.top_p,
      chunk_size: options.chunkSize ?? own.chunk_size,
    });
    const logprobs = WITH_LOGPROBS[endpoint.api_client_type ?? OPTIONS.api_client_type.default];
    const kept =
      options.returnIntermediates === true
        ? { state_columns: [SCORED], sampling_args: { ...run.sampling_args, ...(logprobs === undefined ? {} : { logprobs }) } }
        : {};
    const given = Object.fromEntries(
      Object.entries({ ...endpoint, max_concurrent, ...run, ...kept }).filter(([, value]) => value !== undefined),
    ) as GivenOptions;
    const key = `${this.#id} ${name} ${digestOf(given as JsonObject)}`;
    return { environment: name, options: given, key };
  }
}

function read({ config, overlay }: EvaluatorOptions, said: Partial<GivenEvaluatorConfig>): EvaluatorConfig {
  const given = typeof config === "string" ? parseEvaluatorConfig(textOf(config), config) : config;
  return evaluatorConfig(given, { ...said, ...overlay });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new EdgewiseError("invalid_request", `the configuration of an evaluator cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** The model as part of a folder's name. */
const folderName = (model: string): string =>
  model
    .replaceAll("/", "--")
    .replaceAll(/[^\w.-]/g, "_")
    .replace(/^[.-]+/, "")
    .slice(0, 100) || "model";

function callable(evaluator: Evaluator): CallableEvaluator {
  const call = (): Promise<StoredResults> => evaluator.run();
  return new Proxy(call as unknown as CallableEvaluator, {
    get: (_, key) => {
      const value: unknown = Reflect.get(evaluator, key, evaluator);
      return typeof value === "function" ? (value.bind(evaluator) as unknown) : value;
    },
  });
}
