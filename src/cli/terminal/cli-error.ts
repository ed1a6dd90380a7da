import { EdgewiseError } from "../../errors/result.ts";

/** Exit codes of every command. What a gate cannot decide is owed too. `unconfirmed`: nobody agreed to what it would cost. */
export const EXIT = { completed: 0, failed: 1, usage: 2, owed: 3, refused: 4, unconfirmed: 5, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: what went wrong, what to type or change next, and the exit code. Printed without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** Each on a line of its own below the message. */
  readonly hints: readonly string[];
  constructor(message: string, options: { exitCode?: ExitCode; hints?: readonly string[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.hints = options.hints ?? [];
  }
}

/** A command line that cannot be understood: exit code 2. */
export const usageError = (message: string, ...hints: readonly string[]): CliError => new CliError(message, { exitCode: EXIT.usage, hints });

/** What is wrong with settings is the user's to mend: exit code 2. */
export function asUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error;
    throw usageError(error.message, ...(error.hint === undefined ? [] : [error.hint]));
  }
}

/** `code` of a Node system error (`ENOENT`, `ENOSPC` …), of the error itself or of what caused it; null when there is none. */
export const systemCode = (error: unknown): string | null => codesOf(error).find((code) => /^E[A-Z0-9]+$/.test(code)) ?? null;

/** Why a connection is not to be trusted, in words; null when it is not about TLS. */
export function tlsReason(error: unknown): string | null {
  for (const code of codesOf(error)) {
    const reason = TLS_REASONS.find(([pattern]) => pattern.test(code))?.[1];
    if (reason !== undefined) return reason;
  }
  return null;
}

/** Codes of an error and of what caused it, the outermost first. */
function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at !== null && typeof at === "object" && depth < 5; depth += 1) {
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === "string") codes.push(code);
    at = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return codes;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "not permitted",
  ENOENT: "no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EEXIST: "something of that name is in the way",
  EMFILE: "too many open files",
  EIO: "input/output error",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name cannot be looked up: no network?",
  ENETUNREACH: "no network",
  EHOSTUNREACH: "the host cannot be reached",
  ETIMEDOUT: "no answer in time",
};

/** Codes of Node's TLS (https://nodejs.org/api/tls.html#x509-certificate-error-codes) and of OpenSSL. */
const TLS_REASONS: readonly (readonly [RegExp, string])[] = [
  [/SELF_SIGNED/, "its certificate is self-signed"],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired"],
  [/^CERT_NOT_YET_VALID$/, "its certificate is not valid yet: is the clock of this machine right?"],
  [/^UNABLE_TO_|^CERT_UNTRUSTED$|^INVALID_CA$/, "nobody this machine trusts has signed its certificate"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/, "its certificate is for another name"],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, "what listens there does not speak TLS (http:// instead of https://?)"],
  [/^ERR_SSL_|^CERT_|^EPROTO$/, "no secure connection could be made"],
];

/** A system error in words a person understands; other errors keep their message. */
export function reasonOf(error: unknown): string {
  const tls = tlsReason(error);
  if (tls !== null) return tls;
  const code = systemCode(error);
  if (code !== null) return REASONS[code] ?? code;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  return error.message === "fetch failed" && error.cause instanceof Error ? error.cause.message : error.message;
}
