/** Evaluators for code in Node: what `import … from "edgewise/evaluators"` gives. Starts or reaches a service; the library itself is in `"edgewise"`. */
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
