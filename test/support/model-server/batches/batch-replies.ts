import { refusal } from "../model-answers.ts";
import type { BatchRouteName, CallFault } from "./batch-plan.ts";
import type { Provider } from "./batch-store.ts";

/** One call of a route, as far as a provider's side of it reads it. */
export interface RouteCall {
  readonly route: BatchRouteName;
  readonly id: string | null;
  readonly request: { readonly type: string; readonly body: () => Promise<Buffer> };
  readonly query: URLSearchParams;
  readonly fault: CallFault | null;
  /** Of this server, for addresses in answers. */
  readonly origin: string;
}

/** `what`: the file or batch that the call was about. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly what: string | null;
}

export const found = (value: unknown, what: string | null): Reply => ({ status: 200, text: JSON.stringify(value), what });

/** An error in the provider's own form. */
export function refused(
  provider: Provider,
  status: number,
  message: string,
  code: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  if (provider === "openai") {
    const { body } = refusal(status, message, status < 500 ? "invalid_request_error" : "server_error", code);
    return { status, text: body, headers, what: null };
  }
  const type = code ?? (status === 404 ? "not_found_error" : status === 401 ? "authentication_error" : status === 429 ? "rate_limit_error" : null);
  const error = { type: type ?? (status < 500 ? "invalid_request_error" : "api_error"), message };
  return { status, text: JSON.stringify({ type: "error", error }), headers, what: null };
}

export const notFound = (provider: Provider, message: string): Reply => refused(provider, 404, message);
