/** The service over HTTP, on this machine or deployed: one place that knows its addresses, its error format and how long to wait. */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type {
  AskedEvaluation,
  Cancelled,
  Evaluation,
  EvaluationPage,
  ForecastEvaluation,
  Health,
  Resumed,
  RunFilters,
  SamplePage,
  SteeredAnswer,
} from "./api-types.ts";
import type { SteeredSettings } from "../../config/plan/steered.ts";
import { reasonOf } from "../terminal/cli-error.ts";
import { firstBytes } from "../disk/files.ts";
import { pause } from "./pause.ts";
import { racing } from "./racing.ts";

/** Code of an answer that the service does not give: something else listens there, or stands in front of it. */
export const FOREIGN = "foreign";

/** An answer of the service that is an error, decoded. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  /** From the service's catalogue, or `FOREIGN`. */
  readonly code: string;
  readonly hint: string | null;
  constructor(status: number, code: string, message: string, hint: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** No answer: nobody listens, the connection broke, or it took too long. */
export class ServiceUnreachable extends Error {
  override readonly name = "ServiceUnreachable";
  readonly url: string;
  constructor(url: string, cause: unknown) {
    super(`${new URL(url).origin} did not answer: ${reasonOf(cause)}`, { cause });
    this.url = url;
  }
}

export interface CallOptions {
  readonly body?: unknown;
  /** JSON as it is sent, in place of `body`. */
  readonly text?: string;
  /** A body of several parts, in place of both. */
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Until the headers, and for JSON the body, are there. */
  readonly timeoutMs?: number;
  /** How often a call without an answer is made again; only where a repetition is harmless. */
  readonly retries?: number;
}

const TIMEOUT_MS = 30_000;
const HEALTH_MS = 10_000;
/** A page of long rows is read from many places. */
const SAMPLES_MS = 120_000;
export const UPLOAD_MS = 15 * 60_000;
/** A download that stands still for so long is broken. */
const IDLE_MS = 60_000;
const HALF_WAY = "the answer stopped half way";

export class ServiceClient {
  readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;

  /** `attended`: the secret of this machine's service, at which runs created here end with it. */
  constructor(url: string, options: { readonly token?: string | null; readonly attended?: string | null } = {}) {
    this.url = url.replace(/\/+$/, "");
    this.headers = {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(options.attended ? { "x-edgewise-attended": options.attended } : {}),
    };
  }

  /** Answers without a token: whether an edgewise service is there at all. */
  async health(): Promise<Health> {
    const url = `${this.url}/health`;
    const response = await this.callUrl("GET", url, { retries: 2, timeoutMs: HEALTH_MS });
    const health = await this.parsed<Partial<Health>>(response, url);
    if (health?.status === "ok" && typeof health.version === "string") return { status: "ok", version: health.version };
    throw new ServiceError(response.status, FOREIGN, `${url} does not answer as an edgewise service does`, null);
  }
  createRun(body: unknown, idempotencyKey: string): Promise<{ readonly evaluation_id: string }> {
    return this.json("POST", "/hosted-evaluations", { body, headers: { "idempotency-key": idempotencyKey }, retries: 2 });
  }
  /** What `body` would create, checked like a creation; nothing is created. */
  settings(body: unknown): Promise<{ readonly evaluations: readonly AskedEvaluation[] }> {
    return this.json("POST", "/evaluation-settings", { body, retries: 2 });
  }
  /** What `body` would take: from finished runs of the same settings, or from the examples that run `pilot` of it has played. */
  forecast(body: unknown, pilot: string | null): Promise<{ readonly evaluations: readonly ForecastEvaluation[] }> {
    return this.json("POST", `/evaluation-forecasts${pilot === null ? "" : `?pilot=${pilot}`}`, { body, retries: 2, timeoutMs: SAMPLES_MS });
  }
  run(id: string, options: CallOptions = {}): Promise<Evaluation> {
    return this.json("GET", `/evaluations/${id}`, { retries: 2, ...options });
  }
  runs(skip: number, limit: number, { environment_name, tag, created_by }: RunFilters = {}): Promise<EvaluationPage> {
    const query = new URLSearchParams({ skip: String(skip), limit: String(limit) });
    for (const [name, value] of Object.entries({ environment_name, tag, created_by })) if (value !== undefined) query.set(name, value);
    return this.json("GET", `/evaluations/?${query}`, { retries: 2 });
  }
  /** Rows of a run, sorted by example; pages count from 1. `open`: with rollouts of examples that are not complete. */
  samples(id: string, page: number, limit: number, open = false): Promise<SamplePage> {
    return this.json("GET", `/evaluations/${id}/samples?page=${page}&limit=${limit}${open ? "&open=true" : ""}`, { retries: 2, timeoutMs: SAMPLES_MS });
  }
  /** An evaluation that was made elsewhere; the same key gives the same one. */
  pushRun(body: unknown, idempotencyKey: string): Promise<{ readonly evaluation_id: string }> {
    return this.json("POST", "/evaluations/", { body, headers: { "idempotency-key": idempotencyKey }, retries: 2 });
  }
  /** A batch of its samples; sent again it adds nothing. */
  pushSamples(id: string, samples: readonly string[]): Promise<{ readonly samples: number; readonly added: boolean }> {
    return this.json("POST", `/evaluations/${id}/samples`, { text: `{"samples":[${samples.join(",")}]}`, timeoutMs: UPLOAD_MS, retries: 4 });
  }
  finalizeRun(id: string): Promise<{ readonly viewer_url: string }> {
    return this.json("POST", `/evaluations/${id}/finalize`, { body: {}, retries: 2 });
  }
  resumeRun(id: string, body: unknown): Promise<Resumed> {
    return this.json("POST", `/evaluations/${id}/resume`, { body });
  }
  /** Suspends: open units are given up, everything committed stays. */
  interruptRun(id: string, timeoutMs: number): Promise<unknown> {
    return this.json("POST", `/evaluations/${id}/interrupt`, { body: {}, timeoutMs });
  }
  pauseRun(id: string): Promise<unknown> {
    return this.json("POST", `/evaluations/${id}/pause`, { body: {}, retries: 2 });
  }
  continueRun(id: string): Promise<unknown> {
    return this.json("POST", `/evaluations/${id}/continue`, { body: {}, retries: 2 });
  }
  setRun(id: string, settings: SteeredSettings): Promise<SteeredAnswer> {
    return this.json("PATCH", `/evaluations/${id}`, { body: settings, retries: 2 });
  }
  cancelRun(id: string): Promise<Cancelled> {
    return this.json("PATCH", `/hosted-evaluations/${id}/cancel`, { retries: 2 });
  }
  deleteRun(id: string): Promise<unknown> {
    return this.json("DELETE", `/evaluations/${id}`, { retries: 2 });
  }
  async events(id: string, after: number, signal: AbortSignal): Promise<Response> {
    const path = `/evaluations/${id}/events?after=${after}`;
    const response = await this.call("GET", path, { headers: { accept: "text/event-stream", "last-event-id": String(after) }, signal });
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
    discard(response);
    throw new ServiceError(response.status, FOREIGN, `${this.address(path)} did not answer with events`, null);
  }
  rows(id: string, after: number, limitBytes: number, signal?: AbortSignal): Promise<Response> {
    return this.call("GET", `/evaluations/${id}/rows?after=${after}&limit_bytes=${limitBytes}`, { ...(signal ? { signal } : {}), retries: 2 });
  }
  /** What tells the history of the run up to event `seq` from any other; null where it has none such, or the service is of before. */
  async markAt(id: string, seq: number): Promise<string | null> {
    const response = await this.rows(id, seq, 1);
    discard(response);
    return response.headers.get("x-edgewise-after-mark");
  }
  file(id: string, name: "results.jsonl" | "metadata.json", signal?: AbortSignal): Promise<Response> {
    return this.call("GET", `/evaluations/${id}/files/${name}`, { ...(signal ? { signal } : {}), retries: 2 });
  }
  /** `eval.log` from the event after `after` on, a page of it; `X-Edgewise-Next` is absent where the service sends the whole, as one of before does. */
  log(id: string, after: number, signal?: AbortSignal): Promise<Response> {
    return this.call("GET", `/evaluations/${id}/files/eval.log?after=${after}`, { ...(signal ? { signal } : {}), retries: 2 });
  }
  /** The numbers of a run as they are now: its `metadata.json`. */
  numbers<T>(id: string, signal: AbortSignal): Promise<T> {
    return this.json("GET", `/evaluations/${id}/files/metadata.json`, { signal, retries: 2 });
  }

  async hasDataset(digest: string): Promise<boolean> {
    try {
      discard(await this.call("HEAD", `/datasets/${digest}`, { retries: 2 }));
      return true;
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return false;
      throw error;
    }
  }

  /** Uploads a file of known size, streamed: `fetch` would hold it in memory or lose its length. */
  putDataset(digest: string, path: string, size: number): Promise<void> {
    return this.put(digest, () => firstBytes(path, size), size);
  }

  /** Uploads what is in memory; tried again where the connection breaks. */
  async putBytes(digest: string, bytes: Uint8Array): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.put(digest, () => Readable.from([bytes]), bytes.byteLength);
      } catch (error) {
        if (!(error instanceof ServiceUnreachable) || attempt >= 2) throw error;
        await pause(200 * 2 ** attempt);
      }
    }
  }

  private async put(digest: string, body: () => Readable, size: number): Promise<void> {
    const url = new URL(this.address(`/datasets/${digest}`));
    try {
      const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
        method: "PUT",
        headers: { ...this.headers, "content-type": "application/octet-stream", "content-length": String(size) },
        signal: AbortSignal.timeout(UPLOAD_MS),
      });
      const answer = answerOf(request);
      // A failure to read or to send ends the request, and so the wait for its answer; an early refusal arrives before all is sent.
      pipeline(body(), request).catch(() => undefined);
      const response = await answer;
      const text = await sentText(response);
      request.destroy();
      const status = response.statusCode ?? 0;
      if (status >= 300) throw decodeError(status, text);
    } catch (error) {
      throw error instanceof ServiceError ? error : new ServiceUnreachable(url.href, error);
    }
  }

  async json<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    return await this.parsed<T>(await this.call(method, path, options), this.address(path), options.signal);
  }

  /** A successful response whose body is still to be read; everything else is thrown. */
  call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    return this.callUrl(method, this.address(path), options);
  }

  private async callUrl(method: string, url: string, options: CallOptions): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.once(method, url, options);
      } catch (error) {
        if (!(error instanceof ServiceUnreachable) || attempt >= (options.retries ?? 0) || options.signal?.aborted) throw error;
        await pause(200 * 2 ** attempt, options.signal);
      }
    }
  }

  private async once(method: string, url: string, { body, text: json, form, headers, signal, timeoutMs = TIMEOUT_MS }: CallOptions): Promise<Response> {
    const sent = json ?? (body === undefined ? undefined : JSON.stringify(body));
    const given = new AbortController();
    let response: Response;
    try {
      const answer = fetch(url, {
        method,
        headers: { ...this.headers, ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(form === undefined ? (sent === undefined ? {} : { body: sent }) : { body: form }),
        signal: signal ? AbortSignal.any([signal, given.signal]) : given.signal,
        // Followed, it would carry the token to another place.
        redirect: "manual",
      });
      response = await racing(answer, timeoutMs, "no answer in time", signal);
    } catch (error) {
      given.abort(error);
      if (signal?.aborted) throw error;
      throw new ServiceUnreachable(url, error);
    }
    if (response.ok) return response;
    const text = await textOf(url, response, signal);
    const target = response.headers.get("location");
    if (response.status < 400 && target !== null) throw new ServiceError(response.status, FOREIGN, `${url} redirects to ${target}`, null);
    throw decodeError(response.status, text);
  }

  private async parsed<T>(response: Response, url: string, signal?: AbortSignal): Promise<T> {
    const text = await textOf(url, response, signal);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ServiceError(response.status, FOREIGN, `${url} did not answer with JSON: ${text.slice(0, 200)}`, null);
    }
  }

  private address(path: string): string {
    return `${this.url}/api/v1${path}`;
  }
}

/** Nobody waits for a body to be given up. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

async function textOf(url: string, response: Response, signal?: AbortSignal): Promise<string> {
  try {
    return await racing(response.text(), IDLE_MS, HALF_WAY, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw new ServiceUnreachable(url, error);
  }
}

/** Chunks of a response body; a body that stands still or breaks is `ServiceUnreachable`. Ends with the signal's reason when that fires. */
export async function* chunksOf(response: Response, signal?: AbortSignal, idleMs = IDLE_MS): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await racing(reader.read(), idleMs, HALF_WAY, signal);
      if (done) return;
      yield value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new ServiceUnreachable(response.url, error);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Our error format, the field errors of a 422, or whatever else stood there. */
export function decodeError(status: number, text: string): ServiceError {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const { detail, code, hint } = (value ?? {}) as { detail?: unknown; code?: unknown; hint?: unknown };
  const message = Array.isArray(detail)
    ? detail.map(fieldMessage).join("\n")
    : typeof detail === "string"
      ? detail
      : `status ${status}${text === "" ? "" : `: ${text.slice(0, 300)}`}`;
  return new ServiceError(status, typeof code === "string" ? code : FOREIGN, message, typeof hint === "string" ? hint : null);
}

/** Fields of queries are typed as flags. */
const FLAGS: Readonly<Record<string, string>> = { "query.limit": "-n", "query.page": "-p", "query.skip": "-p", "query.environment_name": "-e" };

function fieldMessage(entry: unknown): string {
  const { loc, msg } = (entry ?? {}) as { loc?: unknown; msg?: unknown };
  const path = Array.isArray(loc) ? loc.filter((part) => part !== "body" && part !== "eval_config").join(".") : "";
  const place = FLAGS[path] ?? path;
  return place === "" ? String(msg) : `${place}: ${String(msg)}`;
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
}

async function sentText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) text += String(chunk);
  return text;
}
