import { ROLLOUT_ERRORS, type RolloutErrorCode } from "./codes.ts";
import { EdgewiseError } from "./result.ts";

/**
 * The error classes of verifiers, for environments, tools and clients to throw and to catch. The class name is what a
 * row's `error` says; the code decides what is tried again. `OverlongPromptError` is an outcome rather than a failure and stands
 * apart (`src/clients/overlong-prompt-error.ts`).
 */
export abstract class RolloutError extends EdgewiseError {
  override readonly name: string = "RolloutError";

  constructor(code: RolloutErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(code, message, options);
  }
}

interface Cause {
  readonly cause?: unknown;
  /** What to change, for a person. */
  readonly hint?: string;
}

/** Talking to the model failed. */
export class ModelError extends RolloutError {
  override readonly name: string = "ModelError";

  constructor(message: string, options: Cause & { readonly code?: RolloutErrorCode } = {}) {
    super(options.code ?? "provider_error", message, options);
  }
}

/** The model's answer has a form that cannot be used. */
export class InvalidModelResponseError extends ModelError {
  override readonly name: string = "InvalidModelResponseError";

  constructor(message: string, options: Cause & { readonly code?: RolloutErrorCode } = {}) {
    super(message, { code: "invalid_response", ...options });
  }
}

/** The model answered nothing. */
export class EmptyModelResponseError extends InvalidModelResponseError {
  override readonly name: string = "EmptyModelResponseError";

  constructor(message: string, options: Cause = {}) {
    super(message, { ...options, code: "empty_response" });
  }
}

/** The codes of what failed around a rollout: such a failure keeps its code when a tool passes it on, so that it is tried again. */
function passedOn(cause: unknown): RolloutErrorCode | null {
  if (!(cause instanceof EdgewiseError) || !Object.hasOwn(ROLLOUT_ERRORS, cause.code)) return null;
  const code = cause.code as RolloutErrorCode;
  return ROLLOUT_ERRORS[code].rollout ? code : null;
}

/** A tool ended the rollout. */
export class ToolError extends RolloutError {
  override readonly name: string = "ToolError";

  constructor(message: string, options: Cause & { readonly code?: RolloutErrorCode } = {}) {
    super(passedOn(options.cause) ?? options.code ?? "tool_call_error", message, options);
  }
}

/** The model's arguments are no JSON, and the environment stops for that. */
export class ToolParseError extends ToolError {
  override readonly name: string = "ToolParseError";

  constructor(message: string, options: Cause = {}) {
    super(message, { ...options, code: "tool_parse_error" });
  }
}

/** A tool failed with an error that the environment stops for. */
export class ToolCallError extends ToolError {
  override readonly name: string = "ToolCallError";
}

/** Something around the rollout failed: the rollout may be run again. */
export class InfraError extends RolloutError {
  override readonly name: string = "InfraError";

  constructor(message: string, options: Cause = {}) {
    super("sandbox_error", message, options);
  }
}

export class TunnelError extends InfraError {
  override readonly name: string = "TunnelError";
}

/** A sandbox failed, rather than the code in it. */
export class SandboxError extends InfraError {
  override readonly name: string = "SandboxError";
}

export class BrowserSandboxError extends SandboxError {
  override readonly name: string = "BrowserSandboxError";
}

export class SandboxCreationError extends SandboxError {
  override readonly name: string = "SandboxCreationError";
}

export class SandboxNotReadyError extends SandboxError {
  override readonly name: string = "SandboxNotReadyError";
}

export class PythonWorkerNotReadyError extends SandboxError {
  override readonly name: string = "PythonWorkerNotReadyError";
}

export class PythonWorkerRequestError extends SandboxError {
  override readonly name: string = "PythonWorkerRequestError";
}

export class PythonWorkerDeadError extends SandboxError {
  override readonly name: string = "PythonWorkerDeadError";
}
