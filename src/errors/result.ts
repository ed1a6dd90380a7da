import { type ErrorCode, isErrorCode } from "./codes.ts";

/** An expected failure as a value. Crosses RPC and HTTP unchanged; `code` decides, `message` is for a person. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to type or change next, when there is something. */
  readonly hint?: string;
  /** Seconds after which the same may go well: the `Retry-After` of the answer. */
  readonly retry_after_s?: number;
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = (code: ErrorCode, message: string, hint?: string): { readonly ok: false; readonly error: Failure } => ({
  ok: false,
  error: hint === undefined ? { code, message } : { code, message, hint },
});

/** Thrown inside one isolate only; turned into a `Failure` at every border (RPC, HTTP, row). */
export class EdgewiseError extends Error {
  /** Subclasses say what they are called in rows; a bundler may change the name of a constructor. */
  override readonly name: string = "EdgewiseError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retry_after_s: number | undefined;
  /** The same may go well in a while: a server that is busy, a connection that was lost. */
  readonly passing: boolean;
  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown; passing?: boolean; retry_after_s?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.retry_after_s = options.retry_after_s;
    this.passing = options.passing ?? code === "storage_unavailable";
  }
}

/** Reads a code off anything thrown. Prototypes do not survive RPC, so this goes by fields, and by codes of the catalogue only. */
export function failureOf(thrown: unknown, otherwise: ErrorCode = "internal"): Failure {
  const { code, message, hint } = (thrown ?? {}) as { code?: unknown; message?: unknown; hint?: unknown };
  const text = typeof message === "string" && message !== "" ? message : String(thrown);
  return { code: isErrorCode(code) ? code : otherwise, message: text, ...(typeof hint === "string" ? { hint } : {}) };
}
