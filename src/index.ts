/** The library: what `import … from "edgewise"` gives. Runs unchanged in workerd and in Node. */
export { CLIENT_TYPES, type ClientType, type JsonObject } from "./config/plan/run-config.ts";
export { type DatasetReference, datasetReference } from "./datasets/reference.ts";
export { type JsonlRow, readJsonl } from "./datasets/jsonl.ts";
export type { DatasetSource } from "./environments/definition/dataset-source.ts";
export type { Access } from "./environments/definition/access.ts";
export { cleanup, stop, teardown } from "./environments/definition/decorators.ts";
export {
  type BoundEndpoint,
  defineEnvironment,
  type DefinitionOptions,
  type EnvironmentDefinition,
  type EnvironmentProblem,
  type EnvironmentRequest,
  type LoadContext,
  type LoaderContext,
} from "./environments/definition/definition.ts";
export { EnvGroup, type EnvGroupOptions } from "./environments/kinds/env-group.ts";
export { Environment, type EnvironmentOptions } from "./environments/kinds/environment.ts";
export type { ModelCallOptions } from "./environments/kinds/model-call.ts";
export type { RolloutContext, StateRequest } from "./environments/unit/playable.ts";
export type { EvaluateOptions, GenerateOptions, GenerateOutputs, ModelClient } from "./environments/unit/generate.ts";
export type { GenerateMetadata, VersionInfo } from "./environments/unit/generate-metadata.ts";
export type { CleanupHandler, HandlerOptions, StopHandler, TeardownHandler } from "./rollouts/state/handlers.ts";
export { ensureKeys, type KeyLookup, MissingKeyError } from "./environments/definition/keys.ts";
export type { RowSource } from "./environments/definition/examples.ts";
export { type ArgumentFacts, describeEnvironment, type EnvironmentFacts } from "./environments/definition/describe.ts";
export { type BenchmarkDefinition, defineBenchmark } from "./environments/bundled/benchmark/benchmark.ts";
export { environmentOf } from "./environments/definition/environment-of.ts";
export { environmentDigest, findEnvironment, listEnvironments, loadEnvironment } from "./environments/definition/load.ts";
export { findAccumulationSteps } from "./environments/evaluations/accumulation-steps.ts";
export { defineEvaluation, type EvaluationDefinition } from "./environments/evaluations/define-evaluation.ts";
export { EncodingEvaluation } from "./environments/evaluations/encoding-evaluation.ts";
export { Evaluation, type EvaluationOptions } from "./environments/evaluations/evaluation.ts";
export { type Comparison, type Normalisation, PerplexityComparisonEvaluation } from "./environments/evaluations/perplexity-comparison.ts";
export { PerplexityEvaluation } from "./environments/evaluations/perplexity-evaluation.ts";
export { reducePerplexity, reduceRows, reduceScores, type Reduction, type ScoredRow } from "./environments/evaluations/reduce.ts";
export { RolloutEvaluation, type RolloutEvaluationOptions } from "./environments/evaluations/rollout-evaluation.ts";
export type { ScoredText } from "./environments/evaluations/scored-text.ts";
export { contentText, normaliseMessages } from "./rollouts/messages.ts";
export { type EnvResponse, MultiTurnEnv, type MultiTurnOptions } from "./environments/kinds/multi-turn-env.ts";
export { OpenEnvEnv, type OpenEnvOptions, type PromptRenderer, type RenderContext } from "./environments/openenv/openenv-env.ts";
export { openEnvConnect, type OpenEnvNetwork } from "./environments/openenv/openenv-connect.ts";
export { textRenderer, type TextRendererOptions } from "./environments/openenv/text-renderer.ts";
export type { OpenEnvBuild, OpenEnvConnect, OpenEnvResult, OpenEnvServer, OpenEnvSession } from "./environments/openenv/openenv-server.ts";
export {
  type ErrorInfo,
  parseOutput,
  readOutput,
  type RolloutOutput,
  type RolloutScore,
  type RolloutScores,
  type RolloutTokenUsage,
  writeOutput,
} from "./rollouts/rows/output.ts";
export type { Row } from "./rollouts/rows/row.ts";
export { PythonEnv, type PythonOptions } from "./environments/sandbox/python-env.ts";
export {
  CommandTimedOut,
  type CommandOptions,
  type CommandResult,
  type JobOptions,
  type JobStatus,
  type ListedSandbox,
  type Sandbox,
  type SandboxSpec,
} from "./environments/sandbox/sandbox.ts";
export { sandboxSpec, type SandboxSettings } from "./environments/sandbox/sandbox-spec.ts";
export { type AgentObjects, type AgentSandbox, CliAgentEnv, type CliAgentOptions } from "./environments/agents/cli-agent-env.ts";
export { SandboxEnv, type SandboxOptions, type SandboxState } from "./environments/sandbox/sandbox-env.ts";
export {
  ScriptedSandbox,
  type ScriptedCommand,
  type ScriptedInstance,
  type ScriptedSandboxOptions,
} from "./environments/sandbox/scripted-sandbox.ts";
export { boundedJob, boundedResult } from "./environments/sandbox/bounded-output.ts";
export { ShellJobs } from "./environments/sandbox/shell-jobs.ts";
export { setting, type Setting, type Settings } from "./environments/definition/setting.ts";
export { SingleTurnEnv, type SingleTurnOptions } from "./environments/kinds/single-turn-env.ts";
export { StatefulToolEnv } from "./environments/kinds/stateful-tool-env.ts";
export { tool, type ToolContext, toolDef, type ToolFunction } from "./environments/kinds/tool.ts";
export { type StopError, ToolEnv, type ToolOptions, UnknownToolError } from "./environments/kinds/tool-env.ts";
export type * from "./rollouts/types.ts";
export { incrementUsage } from "./rollouts/state/usage.ts";
export { type ErrorCode, isInfrastructureError, ROLLOUT_ERRORS, type RolloutErrorCode } from "./errors/codes.ts";
export { EdgewiseError, type Failure } from "./errors/result.ts";
export {
  BrowserSandboxError,
  EmptyModelResponseError,
  InfraError,
  InvalidModelResponseError,
  ModelError,
  PythonWorkerDeadError,
  PythonWorkerNotReadyError,
  PythonWorkerRequestError,
  RolloutError,
  SandboxCreationError,
  SandboxError,
  SandboxNotReadyError,
  ToolCallError,
  ToolError,
  ToolParseError,
  TunnelError,
} from "./errors/rollout-errors.ts";
export {
  type LogFields,
  type Logger,
  loggerOf,
  type LoggingOptions,
  logLevel,
  type LogLevel,
  type LogLine,
  type LogSink,
  logText,
  setupLogging,
} from "./logging/logger.ts";
export { printPromptCompletionsSample } from "./report/sample-text.ts";
export { AnthropicMessagesClient } from "./clients/anthropic/anthropic-messages.ts";
export { type Attempt, BaseClient, type NativeCall, type NativeRequest } from "./clients/base-client.ts";
export { type ClientConfig, clientOf, type EndpointClientConfig, resolveEndpointConfigs, type Variables } from "./clients/client-config.ts";
export type { AiBinding, ClientPorts, Endpoint, RetryNotice } from "./clients/client.ts";
export { createClient, type EndpointOptions } from "./clients/create-client.ts";
export { OpenAIChatCompletionsTokenClient } from "./clients/openai/openai-chat-completions-token.ts";
export { OpenAIChatCompletionsClient } from "./clients/openai/openai-chat-completions.ts";
export { OpenAICompletionsClient } from "./clients/openai/openai-completions.ts";
export { OpenAIResponsesClient } from "./clients/openai/openai-responses.ts";
export { type Continuation, continuationTokens } from "./clients/scoring/continuation.ts";
export { scoreTexts } from "./clients/scoring/score-texts.ts";
export { failureOfStatus, type ProviderCodes, RequestFailed, type RequestFailure, type StatusAnswer } from "./clients/transport/request-failure.ts";
export { WorkersAIClient } from "./clients/workers-ai/workers-ai.ts";
export { OverlongPromptError } from "./clients/overlong-prompt-error.ts";
export { type Aggregates, Aggregator, type AggregatorOptions, type TokenMeans } from "./metrics/aggregates.ts";
export { type RewardRange, RewardSpread, type RewardUncertainty } from "./metrics/interval.ts";
export { passAllK, passAtK, passKs, type PassRates } from "./metrics/pass-at-k.ts";
export { summaryOfRow } from "./metrics/row-summary.ts";
export { wilsonInterval } from "./metrics/wilson.ts";
export { extractBoxedAnswer, extractHashAnswer } from "./parsers/extract.ts";
export { type Completion, type Extract, type Parsed, Parser } from "./parsers/parser.ts";
export { MaybeThinkParser, ThinkParser } from "./parsers/think-parser.ts";
export { type XmlField, XMLParser } from "./parsers/xml-parser.ts";
export { DEFAULT_JUDGE_PROMPT, type Judge, type JudgeObjects, JudgeRubric, type JudgeRubricOptions } from "./rubrics/judge-rubric.ts";
export { MathBoundError } from "./rubrics/math/budget.ts";
export { MathRubric, type MathRubricOptions } from "./rubrics/math-rubric.ts";
export {
  type GroupReward,
  type GroupRewardContext,
  type GroupRewardFunction,
  groupReward,
  type RewardContext,
  type RewardEntry,
  type RewardFunction as RewardFunc,
  type RewardFunction,
  type Score,
  type WeightedReward,
} from "./rubrics/reward-function.ts";
export { Rubric, type RubricOptions, type ScoreOptions, type Scoring } from "./rubrics/rubric.ts";
export { RubricGroup } from "./rubrics/rubric-group.ts";
/** The schema library of arguments and tools, for environments in folders without packages of their own. */
export { z } from "zod";
