import { type CacheUsage, readCacheUsage } from "./cache-usage.ts";
import type { JudgeUsage, RolloutSummary } from "./rollout-summary.ts";
import { clusterOf } from "./one-run/cluster-groups.ts";
import { metricsOfRow } from "./row-metrics.ts";
import { readJudges } from "./judge-fields.ts";
import { type NanoCost, readCost } from "../prices/nano-cost.ts";
import { coversCode } from "../config/env-digest.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../errors/codes.ts";

/** Whether a model call reported usage. A ledger row stores 0/0 for "none did": no call that reports has an empty prompt. */
export const reportsUsage = (rollout: RolloutSummary): boolean => rollout.input_tokens > 0 || rollout.output_tokens > 0;

/** Error classes of files that carry no `code` (the Python library's): what they were, as far as the class says. */
const CODE_OF_CLASS: Readonly<Record<string, RolloutErrorCode>> = {
  ModelError: "provider_error",
  InvalidModelResponseError: "invalid_response",
  EmptyModelResponseError: "empty_response",
  InfraError: "sandbox_error",
  TunnelError: "sandbox_error",
  SandboxError: "sandbox_error",
  BrowserSandboxError: "sandbox_error",
  SandboxCreationError: "sandbox_error",
  SandboxNotReadyError: "sandbox_error",
  PythonWorkerNotReadyError: "sandbox_error",
  PythonWorkerRequestError: "sandbox_error",
  PythonWorkerDeadError: "sandbox_error",
  TimeoutError: "timeout",
  ToolParseError: "tool_parse_error",
  ToolCallError: "tool_call_error",
  // Of 0.2 and later.
  ProviderError: "provider_error",
  InterceptionError: "sandbox_error",
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const has = (table: object, key: unknown): key is string => typeof key === "string" && Object.hasOwn(table, key);

/** The error code of a row's `error` (an empty text is none): ours where it has one, else by class name; `environment_error` for a class nobody knows. */
export function errorCodeOf(error: unknown): RolloutErrorCode | null {
  if (error === null || error === undefined || error === "") return null;
  if (!isObject(error)) return "environment_error";
  if (has(ROLLOUT_ERRORS, error.code)) return error.code as RolloutErrorCode;
  return has(CODE_OF_CLASS, error.error) ? (CODE_OF_CLASS[error.error] ?? "environment_error") : "environment_error";
}

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

/** Booleans count as numbers, as in the reference; everything else is no score. */
function score(value: unknown): number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function judgesOf(usage: unknown): { judges?: JudgeUsage } {
  const judges = readJudges(usage);
  return judges === null ? {} : { judges };
}

function modelCost(said: unknown): { cost?: NanoCost } {
  const cost = readCost(said);
  return cost === null ? {} : { cost };
}

function cacheOf(usage: unknown): { cache?: CacheUsage } {
  const cache = readCacheUsage(usage);
  return cache === null ? {} : { cache };
}

/** What a row of `results.jsonl` (ours or the Python library's) says in numbers. A missing reward is 0. `clusterBy`: the key by which examples are clustered. */
export function summaryOfRow(row: Readonly<Record<string, unknown>>, clusterBy?: string): RolloutSummary {
  const usage = isObject(row.token_usage) ? row.token_usage : {};
  const metrics = Object.entries(metricsOfRow(row)).flatMap(([name, value]) => {
    const number = score(value);
    return number === null ? [] : [[name, number] as const];
  });
  return {
    reward: score(row.reward) ?? 0,
    error: errorCodeOf(row.error),
    input_tokens: count(usage.input_tokens),
    output_tokens: count(usage.output_tokens),
    truncated: row.is_truncated === true,
    metrics: Object.fromEntries(metrics),
    ...("final_input_tokens" in usage ? { final_input_tokens: count(usage.final_input_tokens) } : {}),
    ...("final_output_tokens" in usage ? { final_output_tokens: count(usage.final_output_tokens) } : {}),
    ...(typeof row.env_digest === "string" && coversCode(row.env_digest) ? { env_digest: row.env_digest } : {}),
    ...modelCost(row.usage_cost),
    ...judgesOf(row.judge_usage),
    ...cacheOf(row.cache_usage),
    ...(clusterBy === undefined ? {} : { cluster: clusterOf(row, clusterBy) }),
  };
}
