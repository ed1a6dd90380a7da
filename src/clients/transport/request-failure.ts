import { limitIn, type SaidLimit } from "../limits/limit-words.ts";
import { namedCause } from "../../rollouts/failure.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../../errors/codes.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RelayReply } from "../../rollouts/types.ts";
import { EmptyModelResponseError, InvalidModelResponseError, ModelError } from "../../errors/rollout-errors.ts";

/** One attempt that failed, classified. */
export interface RequestFailure {
  readonly code: RolloutErrorCode;
  /** Scrubbed and shortened. */
  readonly message: string;
  /** Class the Python SDK would have raised, so that rows of both libraries group alike; null when the answer itself was bad. */
  readonly cause: string | null;
  /** How long the endpoint asked to be left alone; null when it did not. */
  readonly retryAfterMs: number | null;
  /** The server's own word on repeating (`x-should-retry`); null when it gave none. */
  readonly shouldRetry: boolean | null;
  /** Whether a gateway said that no server stands behind it. */
  readonly noServer?: boolean;
  /** Whether a server that is there has no room for anybody now. */
  readonly overloaded?: boolean;
  /** Of a refusal for a limit or for want of room, what its words say of that. */
  readonly said?: SaidLimit;
  /** What the server answered, where whoever made the request is to read that. */
  readonly reply?: RelayReply;
}

export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly failure: RequestFailure;
  /** How often the request was sent. */
  readonly attempts: number;
  constructor(failure: RequestFailure, attempts = 1) {
    super(failure.message);
    this.failure = failure;
    this.attempts = attempts;
  }
}

const plain = { retryAfterMs: null, shouldRetry: null };

export const badAnswer = (
  code: "malformed_response" | "invalid_response" | "empty_response" | "row_too_large" | "bad_request",
  message: string,
): RequestFailed => new RequestFailed({ code, message, cause: null, ...plain });

/** What a provider calls its refusals (`code` or `type` of its JSON), where that decides more than the status: the same 429 means "later" or "never". */
export type ProviderCodes = Readonly<Record<string, RolloutErrorCode>>;

const CLASSES: Readonly<Record<number, string>> = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  409: "ConflictError",
  422: "UnprocessableEntityError",
  429: "RateLimitError",
};

function codeOfStatus(status: number): RolloutErrorCode {
  if (status === 401 || status === 403) return "auth_failed";
  if (status === 402) return "payment_required";
  if (status === 404) return "model_not_found";
  if (status === 409) return "provider_conflict";
  if (status === 429) return "rate_limited";
  if (status === 408 || status >= 500) return "provider_error";
  return status >= 400 ? "bad_request" : "invalid_response";
}

/** How OpenAI and Google say that they do not serve the place a request comes from (with 403, and with 400). */
const REGION = /unsupported_country_region_territory|country, region, or territory not supported|user location is not supported/i;
/** The same of Anthropic and of routers; only beside a 403 are these words about the place. */
const FORBIDDEN_REGION =
  /not (available|supported|accessible|allowed) in your (current )?(country|region|location|territory)|"type":\s*"forbidden",\s*"message":\s*"request not allowed"/i;

const isRegional = (status: number, text: string): boolean =>
  status === 451 || (status >= 400 && status < 500 && REGION.test(text)) || (status === 403 && FORBIDDEN_REGION.test(text));

/** A page for people, where a program was to be answered: of a firewall, a proxy, a network that wants a sign-in, a wrong address. */
export function isWebPage(text: string, contentType: string | null): boolean {
  return (
    /\b(text\/html|application\/xhtml)/i.test(contentType ?? "") || /^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body)\b/i.test(text)
  );
}

/** What a page is called, for whoever must find out whose it is. */
function titleOf(page: string): string {
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(page)?.[1] ?? /<h1[^>]*>([\s\S]*?)<\/h1>/i.exec(page)?.[1] ?? "";
  const text = title
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return text === "" ? "" : ` (${JSON.stringify(text)})`;
}

/** `page` came instead of an answer. */
export const webPageText = (page: string): string =>
  `a web page${titleOf(page)}, not an answer of a model's API: a firewall, a proxy, a sign-in page or a wrong address`;

/** A page that came with a 200. */
export const webPage = (page: string, scrub: (text: string) => string): RequestFailed =>
  new RequestFailed({ code: "web_page", message: scrub(webPageText(page)), cause: null, ...plain });

/** What a refusal means whoever sends it: by its text before its status, and a page by neither, since a server error is one anyway. */
function codeOfRefusal(status: number, body: unknown, contentType: string | null): RolloutErrorCode {
  if (isRegional(status, bodyText(body))) return "region_refused";
  const code = codeOfStatus(status);
  const page = typeof body === "string" && isWebPage(body, contentType);
  return page && (ROLLOUT_ERRORS[code].fatal || code === "bad_request") ? "web_page" : code;
}

/** Of a gateway whose server is gone, or of a server that is only beginning. */
const NO_SERVER: readonly number[] = [502, 503, 504];

/** A 429 that is about the server rather than whoever asks: Moonshot's "The engine is currently overloaded", Workers AI's 3040 "Capacity temporarily exceeded". */
const NO_ROOM = /\boverloaded\b|\bcapacity (?:temporarily )?exceeded\b|\bat capacity\b|\bno more data centers\b/i;

export interface StatusAnswer {
  readonly status: number;
  /** The body: parsed when it was JSON. */
  readonly body: unknown;
  readonly headers: { get(name: string): string | null };
}

/** A refusal by status and body. `scrub` is applied to everything the provider wrote. */
export function failureOfStatus(answer: StatusAnswer, codes: ProviderCodes, scrub: (text: string) => string, now: number): RequestFailure {
  const { status, body, headers } = answer;
  const fields = errorFields(body);
  const named = [fields.code, fields.type]
    .map((code) => ((typeof code === "string" || typeof code === "number") && Object.hasOwn(codes, code) ? codes[code] : undefined))
    .find((code) => code !== undefined);
  const contentType = headers.get("content-type");
  const page = typeof body === "string" && isWebPage(body, contentType);
  const said = scrub(page ? webPageText(body) : fields.message);
  const shouldRetry = headers.get("x-should-retry");
  const code = named ?? codeOfRefusal(status, body, contentType);
  const asked = retryAfter(headers, now);
  const overloaded = status === 529 || (status === 503 && asked !== null) || (status === 429 && NO_ROOM.test(fields.message));
  const limit = overloaded || code === "rate_limited" ? limitIn(bodyText(body)) : null;
  return {
    code,
    message: said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`,
    cause: CLASSES[status] ?? (status >= 500 ? "InternalServerError" : "APIStatusError"),
    retryAfterMs: asked ?? limit?.wait_ms ?? null,
    shouldRetry: shouldRetry === "true" ? true : shouldRetry === "false" || (limit !== null && isTooLarge(limit)) ? false : null,
    ...(limit === null ? {} : { said: limit }),
    ...(overloaded ? { overloaded } : {}),
    ...(NO_SERVER.includes(status) && !overloaded ? { noServer: true } : {}),
  };
}

/** Everything in a refusal's body, for phrases that tell what it means. */
export const bodyText = (body: unknown): string => (typeof body === "string" ? body : (JSON.stringify(body) ?? ""));

/**
 * The error of a body in the forms providers use: `{error: {message, code, type}}`, `{error: "…"}`, `{message}`, `{detail}`,
 * `{errors: [{message, code}]}`, `{internalCode, description}`, a text.
 */
function errorFields(body: unknown): { message: string; code: unknown; type: unknown } {
  const outer = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const listed: unknown = Array.isArray(outer.errors) ? outer.errors[0] : outer.error;
  const inner = (typeof listed === "object" && listed !== null ? listed : outer) as Record<string, unknown>;
  const message = [inner.message, inner.description, outer.error, outer.detail].find((text) => typeof text === "string" && text !== "");
  return { message: typeof message === "string" ? message : bodyText(body), code: inner.code ?? inner.internalCode, type: inner.type };
}

/** Milliseconds an endpoint asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date. */
export function retryAfter(headers: { get(name: string): string | null }, now: number): number | null {
  const ms = number(headers.get("retry-after-ms"));
  if (ms !== null) return Math.max(0, ms);
  const text = headers.get("retry-after");
  const seconds = number(text);
  if (seconds !== null) return Math.max(0, seconds * 1_000);
  const date = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

const number = (text: string | null): number | null => (text === null || text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text));

/** Node's codes by what they mean; workerd only says that the connection was lost. */
const NETWORK_CODES: readonly (readonly [RegExp, RolloutErrorCode])[] = [
  [/UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT/, "connect_timeout"],
  [/UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT/, "request_timeout"],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_/, "connection_cut"],
];

/** A `fetch` that failed, or a body that broke off (`begun`: headers had arrived). */
export function failureOfNetwork(thrown: unknown, begun: boolean, scrub: (text: string) => string): RequestFailure {
  const trail: string[] = [];
  for (let next: unknown = thrown; next instanceof Error && trail.length < 8; next = next.cause)
    trail.push(`${(next as { code?: unknown }).code ?? ""} ${next.message}`.trim());
  const text = trail.join(": ");
  const code = NETWORK_CODES.find(([pattern]) => pattern.test(text))?.[1] ?? (begun ? "connection_cut" : "connection_failed");
  const what = begun ? "the connection broke off in the middle of the answer" : "the endpoint could not be reached or closed the connection";
  const cause = code === "request_timeout" || code === "connect_timeout" ? "APITimeoutError" : "APIConnectionError";
  return { code, message: `${what}: ${scrub(text === "" ? String(thrown) : text)}`, cause, ...plain };
}

export const timedOut = (ms: number): RequestFailure => ({
  code: "request_timeout",
  message: `no complete answer within ${ms / 1_000} s`,
  cause: "APITimeoutError",
  ...plain,
});

const isNetwork = (code: RolloutErrorCode): boolean => ROLLOUT_ERRORS[code].category === "network";

/** Whether nothing of the model's server was there for the request: it says nothing of the request itself. */
export const isMissed = ({ code, noServer = false }: RequestFailure): boolean => noServer || isNetwork(code);

/** Whether the server had no room for the request at that moment, though it may have at another. */
export const isRefused = ({ code, overloaded = false, said }: RequestFailure): boolean =>
  (code === "rate_limited" || overloaded) && !(said !== undefined && isTooLarge(said));

/** Whether one request is more than all of its limit: no time would be the right one for it. */
const isTooLarge = ({ requested, named_limit }: SaidLimit): boolean => requested !== null && named_limit !== null && requested > named_limit;

/** Whether there was not even a connection, or it was lost. */
export const isUnconnected = ({ code }: RequestFailure): boolean => isNetwork(code);

/** Whether the same request may be sent again. A fatal code never is; else the server's word goes before the table. */
export function mayRepeat({ code, shouldRetry }: RequestFailure): boolean {
  const { fatal, request } = ROLLOUT_ERRORS[code];
  return !fatal && (shouldRetry ?? request);
}

/** Names what a person can change: the key's variable, the endpoint, the model. */
export interface Place {
  readonly url: string;
  readonly model: string;
  readonly keyVar: string;
  /** True where no key is asked for, so that none can be the reason. */
  readonly keyless: boolean;
}

const FATAL_TEXT: Partial<Record<RolloutErrorCode, (place: Place) => { message: string; hint: string }>> = {
  auth_failed: ({ url, model, keyVar }) => ({
    message: `${url} refused the key in ${keyVar} for the model ${model}`,
    hint: `check ${keyVar}, or name another variable with -k`,
  }),
  payment_required: ({ url, model, keyVar }) => ({
    message: `${url} asks for payment before it serves the model ${model} to the key in ${keyVar}`,
    hint: `add credit to the account of ${keyVar}, or name another variable with -k`,
  }),
  insufficient_quota: ({ url, model, keyVar }) => ({
    message: `the account of the key in ${keyVar} has no quota left at ${url} for the model ${model}`,
    hint: `raise the quota of the account of ${keyVar}, or name another variable with -k`,
  }),
  model_not_found: ({ url, model, keyVar, keyless }) => ({
    message: `${url} does not know the model ${model}${keyless ? "" : `, or the key in ${keyVar} may not use it`}`,
    hint: "check the model's name (-m) and the endpoint (-b)",
  }),
  prompt_logprobs_unsupported: ({ url, model }) => ({
    message: `${url} gives no log-probabilities of prompts for the model ${model}, so that nothing can be scored by likelihood there`,
    hint: "serve the model with a server that does, and call it there: vLLM, SGLang, llama.cpp's own or the one of llama-cpp-python (docs/likelihood.md)",
  }),
};

/** What to look at where the endpoint was not reached, or was none. */
const UNREACHED_HINT: Partial<Record<RolloutErrorCode, string>> = {
  connection_failed: "check that the server runs and the address of the endpoint (-b)",
  connect_timeout: "check that the server runs and the address of the endpoint (-b)",
  web_page: "check the address of the endpoint (-b), and what stands between",
  region_refused: "call it from elsewhere, or through a gateway that it serves",
};

const TOO_LARGE_HINT =
  "this request alone is more than the limit allows: ask for a shorter answer (-t), shorten the prompt, or have the provider raise the limit";

/** The last failure of a request as the error of its rollout. `advice`: what to change, where more is known than its code. */
export function requestError({ failure, attempts }: RequestFailed, place: Place, advice: string | null = null): EdgewiseError {
  const fatal = FATAL_TEXT[failure.code]?.(place);
  const tries = attempts > 1 ? ` (after ${attempts} attempts)` : "";
  const message = fatal === undefined ? `${place.url}, model ${place.model}: ${failure.message}${tries}` : `${fatal.message}: ${failure.message}`;
  return errorOfCode(failure.code, message, {
    ...hintOf(advice ?? fatal?.hint ?? (failure.said !== undefined && isTooLarge(failure.said) ? TOO_LARGE_HINT : UNREACHED_HINT[failure.code])),
    ...(failure.cause === null ? {} : { cause: namedCause(failure.cause, failure.message) }),
  });
}

const hintOf = (hint: string | undefined): { readonly hint?: string } => (hint === undefined ? {} : { hint });

/** In the class that the code has in rows, for environments that catch by class. */
function errorOfCode(code: RolloutErrorCode, message: string, options: { readonly hint?: string; readonly cause?: Error }): EdgewiseError {
  if (code === "empty_response") return new EmptyModelResponseError(message, options);
  const { name } = ROLLOUT_ERRORS[code];
  if (name === "InvalidModelResponseError") return new InvalidModelResponseError(message, { ...options, code });
  return name === "ModelError" ? new ModelError(message, { ...options, code }) : new EdgewiseError(code, message, options);
}
