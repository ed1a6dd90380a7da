import { type ErrorCode, SERVICE_ERRORS, type ServiceErrorCode } from "../errors/codes.ts";
import { mask, masked } from "../errors/masking.ts";
import { EdgewiseError, type Failure, type Result } from "../errors/result.ts";

/** One thing wrong with one field; `loc` starts with `body`, `query` or `header`. */
export interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** The one form of an error answer. `detail` is a list exactly when `code` is `invalid_request` and fields are to blame. */
export interface ErrorBody {
  readonly detail: string | readonly FieldIssue[];
  readonly code: ServiceErrorCode;
  readonly hint?: string;
}

export class InvalidRequest extends EdgewiseError {
  readonly issues: readonly FieldIssue[];
  constructor(issues: readonly FieldIssue[]) {
    super("invalid_request", issues.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "));
    this.issues = issues;
  }
}

export const invalid = (loc: FieldIssue["loc"], msg: string): InvalidRequest => new InvalidRequest([{ loc, msg }]);
export const refused = ({ code, message, hint, retry_after_s }: Failure): EdgewiseError =>
  new EdgewiseError(code, message, { ...(hint === undefined ? {} : { hint }), ...(retry_after_s === undefined ? {} : { retry_after_s }) });

/** The value of a result; a failure is thrown and becomes the answer. */
export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw refused(result.error);
  return result.value;
}

const isServiceCode = (code: unknown): code is ServiceErrorCode => typeof code === "string" && Object.hasOwn(SERVICE_ERRORS, code);

/**
 * The failure behind anything thrown. Errors of a Durable Object arrive without their prototype, so fields decide; `retryable` and
 * `overloaded` are the platform's own marks. Null: not an expected failure.
 */
export function expectedFailure(thrown: unknown): Failure | null {
  const { name, code, message, hint, retry_after_s, retryable, overloaded } = (thrown ?? {}) as Partial<Record<string, unknown>>;
  if ((name === "EdgewiseError" || thrown instanceof EdgewiseError) && typeof code === "string") {
    return {
      code: code as ErrorCode,
      message: String(message),
      ...(typeof hint === "string" ? { hint } : {}),
      ...(typeof retry_after_s === "number" ? { retry_after_s } : {}),
    };
  }
  if (retryable === true || overloaded === true)
    return { code: "storage_unavailable", message: "The service cannot reach its storage now.", hint: "Try again." };
  return null;
}

/** Status and body for anything thrown by a handler. Says nothing of an unexpected error, which belongs in the log. */
export function renderError(thrown: unknown): { readonly status: number; readonly body: ErrorBody; readonly headers?: Readonly<Record<string, string>> } {
  if (thrown instanceof InvalidRequest) return { status: SERVICE_ERRORS.invalid_request, body: { detail: masked(thrown.issues), code: "invalid_request" } };
  const failure = expectedFailure(thrown);
  if (failure === null || !isServiceCode(failure.code)) {
    logUnexpected("request", thrown);
    return { status: SERVICE_ERRORS.internal, body: { detail: "Internal error; the service's log has the cause.", code: "internal" } };
  }
  const { code } = failure;
  const { message, hint } = masked({ message: failure.message, hint: failure.hint });
  const { retry_after_s } = failure;
  return {
    status: SERVICE_ERRORS[code],
    body: hint === undefined ? { detail: message, code } : { detail: message, code, hint },
    ...(retry_after_s === undefined ? {} : { headers: { "retry-after": String(retry_after_s) } }),
  };
}

/** Whether an object of the version before was asked for what it does not know yet. */
export const lacksMethod = (thrown: unknown): boolean => thrown instanceof Error && /does not implement/.test(thrown.message);

/** One structured line for the log of the Worker. */
export function logUnexpected(where: string, thrown: unknown): void {
  const error = thrown instanceof Error ? (thrown.stack ?? String(thrown)) : String(thrown);
  console.error(JSON.stringify({ level: "ERROR", where, error: mask(error) }));
}
