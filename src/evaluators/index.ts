/** Evaluators for code in Node: what `import … from "edgewise/evaluators"` gives. Starts or reaches a service; the library itself is in `"edgewise"`. */
export { BenchmarkEvaluator, type BenchmarkScores, type BenchmarkEvaluateOptions } from "./benchmark/benchmark-evaluator.ts";
export { type BenchmarkRegistry, BENCHMARKS } from "./benchmark/benchmark-registry.ts";
export type { BenchmarkEvaluatorOptions, ChatTemplate, Sampler } from "./benchmark/benchmark-options.ts";
export type { EvalRecord, EvalStore, PredictionRecord } from "./benchmark/store.ts";
export { isDue, reportedStep } from "./due.ts";
export { connectEngine, type EngineOptions } from "./engine/connect-engine.ts";
export type { Engine } from "./engine/engine.ts";
export type { EvaluationRequest } from "./engine/evaluation-request.ts";
export type { EvaluationResult } from "./engine/evaluation-result.ts";
export type { ErrorCode } from "../errors/codes.ts";
export { type EvaluatorConfig, evaluatorConfigSchema, type GivenEvaluatorConfig } from "./suite/evaluator-config.ts";
export {
  type CallableEvaluator,
  type CheckpointOptions,
  type EvaluateOptions,
  type Evaluated,
  type EvaluationEngine,
  Evaluator,
  type EvaluatorOptions,
  type Trainer,
} from "./suite/evaluator.ts";
export type { StoredResults } from "./suite/results-folder.ts";
export { EdgewiseError } from "../errors/result.ts";
export { bucketName, MISSING_BUCKET } from "../metrics/named/breakdown-names.ts";
export type { TaskMetric, TaskRewards } from "../metrics/named/first-k.ts";
export { type MetricEstimate, type MetricFunction, MetricRegistry, METRICS } from "../metrics/named/metric-registry.ts";
