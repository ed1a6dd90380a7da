/**
 * The catalogue of error codes: one row per code says what it is called in verifiers' files, whose fault it is and what may
 * be done about it. Everything else (retry, repair, run failure, HTTP status, exit code) is derived from this table.
 *
 * category  provider, network, sandbox, timeout and spending are *infrastructure*: a resume runs such a rollout again (design: Repair).
 * request   the request layer may send the same request again (docs/retries.md).
 * rollout   the rollout layer (`--max-retries`) may run the whole rollout again.
 * fatal     ends the run `FAILED`: every further call would be refused in the same way (durable-objects/run/grants/health.ts: at once
 *           where nothing was answered yet).
 * name      the error class name written to `results.jsonl`, so that its readers group errors as before.
 */
export type ErrorCategory = "provider" | "network" | "sandbox" | "timeout" | "model" | "scorer" | "environment" | "executor" | "budget" | "spending";

export interface ErrorRow {
  readonly category: ErrorCategory;
  readonly request: boolean;
  readonly rollout: boolean;
  readonly fatal: boolean;
  readonly name: string;
}

const row = (category: ErrorCategory, name: string, flags = ""): ErrorRow => ({
  category,
  name,
  request: flags.includes("q"),
  rollout: flags.includes("r"),
  fatal: flags.includes("f"),
});

/** Flags in the third column: q = request retry, r = rollout retry, f = fatal for the run. */
export const ROLLOUT_ERRORS = {
  auth_failed: row("provider", "ModelError", "f"),
  payment_required: row("provider", "ModelError", "f"),
  insufficient_quota: row("provider", "ModelError", "f"),
  model_not_found: row("provider", "ModelError", "f"),
  prompt_logprobs_unsupported: row("provider", "ModelError", "f"),
  /** Its request came back from a batch without an answer, or was never in one. */
  batch_unanswered: row("provider", "ModelError"),
  rate_limited: row("provider", "ModelError", "qr"),
  provider_error: row("provider", "ModelError", "qr"),
  provider_conflict: row("provider", "ModelError", "qr"),
  region_refused: row("provider", "ModelError", "qr"),
  web_page: row("provider", "ModelError", "qr"),
  connection_failed: row("network", "ModelError", "qr"),
  connection_cut: row("network", "ModelError", "qr"),
  connect_timeout: row("network", "ModelError", "qr"),
  request_timeout: row("timeout", "ModelError", "r"),
  malformed_response: row("provider", "InvalidModelResponseError", "r"),
  invalid_response: row("provider", "InvalidModelResponseError", "r"),
  empty_response: row("provider", "EmptyModelResponseError", "r"),
  bad_request: row("model", "ModelError"),
  tool_parse_error: row("model", "ToolParseError"),
  tool_call_error: row("environment", "ToolCallError"),
  sandbox_error: row("sandbox", "SandboxError", "r"),
  timeout: row("timeout", "TimeoutError", "r"),
  scorer_error: row("scorer", "ScorerError"),
  environment_error: row("environment", "EnvironmentError"),
  row_too_large: row("budget", "RowTooLargeError"),
  poisoned: row("executor", "PoisonedUnitError"),
  over_budget: row("spending", "OverBudgetError", "f"),
  unknown_price: row("spending", "UnknownPriceError", "f"),
  unbounded_cost: row("spending", "UnboundedCostError", "f"),
  budget_refused: row("spending", "BudgetRefusedError", "f"),
} as const satisfies Record<string, ErrorRow>;

export type RolloutErrorCode = keyof typeof ROLLOUT_ERRORS;

const INFRASTRUCTURE: readonly ErrorCategory[] = ["provider", "network", "sandbox", "timeout", "spending"];

/** Whether a rollout that ended with `code` is drawn again by a resume. A model's own outcome never is. */
export function isInfrastructureError(code: string): boolean {
  const entry = (ROLLOUT_ERRORS as Record<string, ErrorRow>)[code];
  return entry !== undefined && INFRASTRUCTURE.includes(entry.category);
}

/**
 * Whether a rollout that ended with `code` says nothing of the model, only of the way to it or of who may use it. An answer that
 * came and cannot be used is the model's.
 */
export function isEndpointError(code: string): boolean {
  const entry = (ROLLOUT_ERRORS as Record<string, ErrorRow>)[code];
  return entry !== undefined && entry.name === "ModelError" && isInfrastructureError(code);
}

/** Whether a call was not sent since a budget holds for the run: nothing is left in it, or what the call may cost is not known. */
export const isSpendingError = (code: string): boolean => (ROLLOUT_ERRORS as Record<string, ErrorRow>)[code]?.category === "spending";

/** Whether the model was not reached: no connection, or what answered was not its server, or would not serve this place. */
export const isUnreachable = (code: RolloutErrorCode): boolean =>
  ROLLOUT_ERRORS[code].category === "network" || code === "region_refused" || code === "web_page";

/** Whether a rollout that ended with `code` is scored again from its row by a resume with other code of the environment. */
export function isScorerError(code: string): boolean {
  return (ROLLOUT_ERRORS as Record<string, ErrorRow>)[code]?.category === "scorer";
}

/** Codes of the service itself: HTTP answers, refused transitions, reasons for a `FAILED` run. Each has one HTTP status. */
export const SERVICE_ERRORS = {
  invalid_request: 422,
  body_too_large: 413,
  not_json: 415,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  environment_not_found: 404,
  missing_key: 422,
  resume_mismatch: 409,
  run_busy: 409,
  illegal_transition: 409,
  idempotency_conflict: 409,
  limit_reached: 429,
  digest_mismatch: 422,
  dataset_unreadable: 422,
  row_unreadable: 422,
  dataset_changed: 409,
  code_changed: 409,
  not_comparable: 422,
  metric_name_reserved: 422,
  cluster_key_unknown: 422,
  environment_failed: 422,
  access_not_allowed: 422,
  sandbox_unavailable: 422,
  preparation_failed: 422,
  source_mismatch: 409,
  scorer_lacks_state: 422,
  nothing_to_score: 422,
  unknown_price: 422,
  unbounded_cost: 422,
  over_budget: 402,
  endpoint_unavailable: 503,
  hub_refused: 502,
  hub_unreachable: 503,
  all_rollouts_failed: 502,
  stored_version_unknown: 500,
  storage_unavailable: 503,
  storage_damaged: 500,
  internal: 500,
} as const satisfies Record<string, number>;

export type ServiceErrorCode = keyof typeof SERVICE_ERRORS;
export type ErrorCode = RolloutErrorCode | ServiceErrorCode;

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === "string" && (Object.hasOwn(ROLLOUT_ERRORS, code) || Object.hasOwn(SERVICE_ERRORS, code));
