/** What goes wrong between library code and a service, as errors with codes of the catalogue. */
import { ServiceError, ServiceUnreachable } from "../../cli/connection/http-client.ts";
import { explain } from "../../cli/service/explain.ts";
import type { Service } from "../../cli/service/service.ts";
import { CliError, EXIT } from "../../cli/terminal/cli-error.ts";
import { type ErrorCode, isErrorCode } from "../../errors/codes.ts";
import { EdgewiseError } from "../../errors/result.ts";

/** `thrown` as an `EdgewiseError`: the service's own code where it said one, with what to change next as its hint. `service`: null before there is one. */
export function engineError(thrown: unknown, service: Service | null): EdgewiseError {
  if (thrown instanceof EdgewiseError) return thrown;
  const told = service === null ? thrown : explain(thrown, { service, env: process.env, wish: null });
  const message = told instanceof Error ? told.message : String(told);
  const hint = told instanceof CliError && told.hints.length > 0 ? { hint: told.hints.join(" ") } : {};
  // The command line's words for a silence carry it as their cause.
  const behind = thrown instanceof CliError && thrown.cause !== undefined ? thrown.cause : thrown;
  return new EdgewiseError(codeOf(behind, told), message, { cause: thrown, ...hint });
}

function codeOf(thrown: unknown, told: unknown): ErrorCode {
  if (thrown instanceof ServiceError && isErrorCode(thrown.code)) return thrown.code;
  if (thrown instanceof ServiceUnreachable || thrown instanceof ServiceError) return "endpoint_unavailable";
  return told instanceof CliError && told.exitCode === EXIT.usage ? "invalid_request" : "internal";
}
