import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { bodyText, failureOfStatus, type ProviderCodes, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";

/** Lower-cased parts of the refusals that mean that a prompt does not fit. */
const OVERLONG = ["prompt is too long", "exceed context limit", "exceeds context limit", "too many total text bytes", "context length", "input is too long"];

/** Types of `error.type` and the status each comes with, which inside a stream nothing else says. */
const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const CODES: ProviderCodes = { billing_error: "payment_required", overloaded_error: "provider_error" };

/** What a refusal of Anthropic's API stands for. */
export function anthropicError(answer: StatusAnswer, scrub: (text: string) => string, now: number): Error {
  const text = bodyText(answer.body).toLowerCase();
  const overlong = answer.status === 413 || (answer.status === 400 && OVERLONG.some((phrase) => text.includes(phrase)));
  if (overlong) return new OverlongPromptError(scrub(text));
  const failure = failureOfStatus(answer, CODES, scrub, now);
  // Said with a 400, though no other request would fare better.
  const unpaid = answer.status === 400 && text.includes("credit balance is too low");
  return new RequestFailed(unpaid ? { ...failure, code: "payment_required" } : failure);
}

/** An error inside a stream, or in place of a message, as the answer it would have been. */
export function errorEvent(error: Readonly<Record<string, unknown>>): StatusAnswer {
  const type = typeof error.type === "string" ? error.type : "";
  return { status: Object.hasOwn(STATUS_OF, type) ? (STATUS_OF[type] ?? 500) : 500, body: { error }, headers: new Headers() };
}
