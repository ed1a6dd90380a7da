/** The fields of a `BenchmarkEvaluator`, and the run that they ask for. */
import { benchmarkAt, type BenchmarkFolder } from "../../cli/datasets/benchmark-folder.ts";
import { benchmarkById } from "../../cli/datasets/benchmarks-by-id.ts";
import type { GivenOptions } from "../../config/options/options.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { engineError } from "../engine/engine-errors.ts";
import type { EngineOptions } from "../engine/connect-engine.ts";
import type { Engine } from "../engine/engine.ts";
import { benchmarkRun, type ChatTemplate } from "../../config/plan/benchmark-run.ts";
import { findEnvironment } from "../../environments/definition/load.ts";
import { BENCHMARKS } from "./benchmark-registry.ts";
import type { EvalStore } from "./store.ts";

export type { ChatTemplate };

/** The seed's fields by their names here; files and HTTP have them in snake_case. */
export interface BenchmarkEvaluatorOptions {
  readonly name: string;
  /** A benchmark: its folder (a path), the id that it is registered by (`BENCHMARKS`), or its name in `benchmarksDir`; or the id or file of an environment: `"gsm8k"`. */
  readonly benchmark: string;
  /** A folder of benchmarks; absent = `./benchmarks`. */
  readonly benchmarksDir?: string;
  /** Evaluate each so many steps; 0 = never in the loop (`isDue`). */
  readonly runEvery?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** Dotted paths into tasks' metadata: metrics of each value stand beside the others. */
  readonly breakdownKeys?: readonly string[];
  /** By exact name; none = `mean_reward` and `pass_rate`. */
  readonly metrics?: readonly string[];
  readonly chatTemplate?: ChatTemplate;
  /** The first so many tasks in the benchmark's order; negative = 0, null = all. */
  readonly limit?: number | null;
  /** `"harbor"` (in any case, with a model path and a model name): two retries of a rollout, and of the chat template the system prompt alone. */
  readonly engine?: string;
  /** The model as its server knows it, where the sampler names none. */
  readonly modelName?: string | null;
  readonly numSamples?: number;
  readonly nConcurrent?: number;
  /** Accepted, and not used: over HTTP the server applies its own template and tokenizer. */
  readonly tokenizer?: unknown;
  /** The folder where the service of this machine keeps its runs, where `service` names none. */
  readonly workspaceDir?: string | null;
  readonly store?: EvalStore | null;
  readonly runId?: string | null;
  /** Absent = the `id` of the benchmark's own metadata, where it has one. */
  readonly benchmarkId?: string | null;
  /** Arguments of the environment, beside those that come from the fields above. */
  readonly envArgs?: JsonObject;
  /** An engine that is connected, or how to connect one for each evaluation. */
  readonly service?: Engine | EngineOptions;
  readonly onWarn?: (line: string) => void;
}

/** Where the model is. */
export interface Sampler {
  readonly url: string;
  /** The variable that holds the key, by name; absent = none is sent that a server would need. */
  readonly keyVar?: string;
  readonly model?: string;
}

/** Whether the seed would take its Harbor path. */
export const isHarbor = ({ engine = "", modelName }: BenchmarkEvaluatorOptions, modelPath: string | null): boolean =>
  engine.toLowerCase() === "harbor" && Boolean(modelPath) && Boolean(modelName);

export const wholeLimit = (limit: number | null | undefined): number | null => (limit == null ? null : Math.max(0, Math.trunc(limit)));

/** A benchmark with the path by which it is found. */
export interface PlacedBenchmark extends BenchmarkFolder {
  readonly path: string;
}

/** The folder of a benchmark; null where it is an environment. Throws `invalid_request` for one that is registered and not there, or cannot be played. */
export function folderOf(
  { benchmark, benchmarksDir: dir }: Pick<BenchmarkEvaluatorOptions, "benchmark" | "benchmarksDir">,
  cwd: string,
): PlacedBenchmark | null {
  const registered = BENCHMARKS.find(benchmark);
  try {
    const here = registered === null ? benchmarkAt(benchmark, cwd) : null;
    if (here !== null) return { ...here, path: benchmark };
    const byId = findEnvironment(benchmark) === null ? benchmarkById(benchmark, { cwd, dir }) : null;
    const path = registered ?? byId;
    if (path === null) return null;
    const found = benchmarkAt(path, cwd);
    if (found === null) throw new EdgewiseError("invalid_request", `benchmark ${benchmark}: there are no tasks in ${path}`);
    return { ...found, path };
  } catch (error) {
    throw engineError(error, null);
  }
}

/** The environment and the settings of the run. Throws `invalid_request` for fields that cannot hold together. */
export function requestOf(
  options: BenchmarkEvaluatorOptions,
  sampler: Sampler,
  modelPath: string | null,
  cwd: string,
): { readonly environment: string; readonly options: GivenOptions } {
  const { benchmark, maxTokens = 256, temperature = 0, chatTemplate = {}, numSamples = 1, nConcurrent = 8, modelName, envArgs = {} } = options;
  const model = sampler.model ?? modelName ?? modelPath;
  if (!model)
    throw new EdgewiseError("invalid_request", `evaluator ${options.name}: no model is named`, {
      hint: "Give the sampler a `model`, or the evaluator a `modelName`.",
    });
  if (!Number.isSafeInteger(numSamples) || numSamples < 1)
    throw new EdgewiseError("invalid_request", `evaluator ${options.name}: numSamples must be a whole number from 1 on, not ${numSamples}`);
  const harbor = isHarbor(options, modelPath);
  const { system_prompt = "", user_template, enable_thinking } = chatTemplate;
  const folder = folderOf(options, cwd);
  const template = harbor ? undefined : user_template;
  if (template !== undefined && folder === null)
    throw new EdgewiseError("invalid_request", `evaluator ${options.name}: user_template is of benchmark folders, and ${benchmark} makes its own prompts`);
  const run = benchmarkRun({
    max_tokens: maxTokens,
    temperature,
    limit: wholeLimit(options.limit),
    num_samples: numSamples,
    n_concurrent: nConcurrent,
    chat_template: { system_prompt, user_template: template, enable_thinking: harbor ? undefined : enable_thinking },
  });
  const args: JsonObject = { ...(folder === null ? {} : { path: folder.path }), ...run.env_args, ...envArgs };
  return {
    environment: folder === null ? benchmark : "benchmark",
    options: {
      model,
      api_base_url: sampler.url,
      ...(sampler.keyVar === undefined ? {} : { api_key_var: sampler.keyVar }),
      ...run,
      ...(harbor ? { max_retries: 2 } : {}),
      ...(Object.keys(args).length === 0 ? {} : { env_args: args }),
    },
  };
}
