import { BATCH_CALL_MS, BATCH_CREATE_MS, BATCH_UPLOAD_MS } from "../../limits.ts";
import type { ClientPorts, Endpoint } from "../client.ts";
import { Gate } from "../gate.ts";
import { LimitHeaders } from "../limits/limit-headers.ts";
import { RequestCosts } from "../limits/request-costs.ts";
import { type Fields, record } from "../openai/reply-fields.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { scrubber } from "../secrets.ts";
import { AttemptClock } from "../transport/attempt-clock.ts";
import { errorOfText, readAnswer, readWhole } from "../transport/read-answer.ts";
import { badAnswer, failureOfNetwork, RequestFailed, type StatusAnswer, timedOut } from "../transport/request-failure.ts";
import { timerOf } from "../transport/timer.ts";
import { sendWithRetries } from "../transport/request-retry.ts";
import { type RequestBuilder, templateOf } from "../transport/request-template.ts";
import type { SizedBody } from "./sized-body.ts";

/** One call of a provider's API about files and batches. */
export interface BatchCall {
  readonly method: "GET" | "POST";
  /** Below the base URL, with its query; or a whole URL of the same origin. */
  readonly path: string;
  /** Made anew for each attempt; a body of known length goes up as a stream. */
  readonly body?: () => Promise<SizedBody>;
  /** JSON, where that is all of it. */
  readonly json?: object;
  /** Whether it is about something that is there: a 404 is then taken for a list that is behind, and the call repeated. */
  readonly named?: boolean;
  /** Sent once, since repeating it might have its effect twice; and soon, since others take it for not sent after a while. */
  readonly once?: boolean;
  /** What a refusal with 409 says will not change. */
  readonly conflictIsFinal?: boolean;
}

/** What a refusal stands for, as the clients of the provider read it. */
export type ErrorOfRefusal = (answer: StatusAnswer, scrub: (text: string) => string, now: number) => Error;

/**
 * Sends calls about batches to one place: headers and URLs as its SDK builds them, retries, pauses and time-outs as of any request (docs/retries.md), but without
 * permits: such a call asks no model. Keeps nothing between calls.
 */
export class BatchCalls {
  readonly #native: RequestBuilder;
  readonly #ports: ClientPorts;
  readonly #errorOfRefusal: ErrorOfRefusal;
  readonly #calls: AttemptClock;
  readonly #uploads: AttemptClock;
  readonly scrub: (text: string) => string;

  constructor(native: RequestBuilder, endpoint: Endpoint, ports: ClientPorts, errorOfRefusal: ErrorOfRefusal) {
    this.#native = native;
    this.#ports = { ...ports, gate: new Gate(0) };
    this.#errorOfRefusal = errorOfRefusal;
    this.#calls = new AttemptClock(BATCH_CALL_MS, ports.now);
    this.#uploads = new AttemptClock(BATCH_UPLOAD_MS, ports.now);
    this.scrub = scrubber(endpoint.api_key, endpoint.headers);
  }

  now(): number {
    return this.#ports.now();
  }

  warn(kind: string, message: string): void {
    this.#ports.onWarning?.(kind, message);
  }

  /** The object that the call is answered with. Throws `RequestFailed`. */
  async fields(call: BatchCall, signal: AbortSignal): Promise<Fields> {
    return await this.#send(call, signal, async (response) => {
      const reader = { streamed: false, streamFold: neverStreamed, scrub: this.scrub, errorOfRefusal: (answer: StatusAnswer) => this.#refused(answer, call) };
      const fields = record(await readAnswer(response, reader));
      if (fields === null) throw badAnswer("invalid_response", `the answer to ${call.method} ${pathOf(call)} is no JSON object`);
      return fields;
    });
  }

  /** The body of the answer, as it comes. Throws `RequestFailed` for what is none. */
  async body(call: BatchCall, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return await this.#send(call, signal, async (response) => {
      if (response.ok) return response.body ?? new Blob([]).stream();
      const reader = { scrub: this.scrub, errorOfRefusal: (answer: StatusAnswer) => this.#refused(answer, call) };
      throw errorOfText(response, await readWhole(response, reader), reader);
    });
  }

  async #send<T>(call: BatchCall, signal: AbortSignal, take: (response: Response) => Promise<T>): Promise<T> {
    const clock = call.body === undefined ? this.#calls : this.#uploads;
    const attempt = (ended: AbortSignal): Promise<T> => this.#attempt(call, ended, take);
    if (!call.once) return await sendWithRetries({ ...UNWATCHED, signal, clock, attempt }, this.#ports);
    const { outlasting, storm, ...ports } = this.#ports;
    const late = new AbortController();
    // A pause of the endpoint counts too.
    const off = timerOf(ports.sleep)(BATCH_CREATE_MS, () => late.abort(new RequestFailed(timedOut(BATCH_CREATE_MS))));
    try {
      return await sendWithRetries({ ...UNWATCHED, signal: AbortSignal.any([signal, late.signal]), clock, attempt }, { ...ports, maxRequestRetries: 0 });
    } finally {
      off();
    }
  }

  async #attempt<T>(call: BatchCall, signal: AbortSignal, take: (response: Response) => Promise<T>): Promise<T> {
    const { url, headers } = await templateOf(this.#native, { method: call.json === undefined ? "get" : "post", path: call.path, body: call.json });
    const sent = await call.body?.();
    const body = sent?.stream ?? (call.json === undefined ? undefined : JSON.stringify(call.json));
    // `duplex` is asked for by Node where a body is a stream. A redirect would carry the key to an address that nobody named.
    const init = { method: call.method, headers: { ...headers, ...sent?.headers }, signal, redirect: "manual" as const, duplex: "half" as const };
    try {
      return await take(await this.#fetch(url, body === undefined ? init : { ...init, body }));
    } finally {
      // A server may answer before it has read all.
      sent?.stop();
    }
  }

  /** Resolves when the headers of the answer have come. */
  async #fetch(url: string, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
    const { connections } = this.#ports;
    if (connections !== undefined) await connections.enter(init.signal);
    try {
      return await this.#ports.fetch(url, init);
    } catch (thrown) {
      throw new RequestFailed(failureOfNetwork(thrown, false, this.scrub));
    } finally {
      connections?.leave();
    }
  }

  /** A refusal in the terms of batches: only of a model's name is a 404 the model's, and no prompt is too long by itself. */
  #refused(answer: StatusAnswer, call: BatchCall): Error {
    const thrown = this.#errorOfRefusal(answer, this.scrub, this.#ports.now());
    if (thrown instanceof OverlongPromptError) return badAnswer("bad_request", `HTTP ${answer.status}: ${thrown.message}`);
    if (!(thrown instanceof RequestFailed)) return thrown;
    const { failure } = thrown;
    if (answer.status === 409 && call.conflictIsFinal) return new RequestFailed({ ...failure, code: "bad_request" });
    if (answer.status !== 404 || failure.code !== "model_not_found" || /model_not_found/.test(JSON.stringify(answer.body))) return thrown;
    if (call.named) return new RequestFailed({ ...failure, code: "bad_request", shouldRetry: true });
    const message = `this server has no batches (HTTP 404 to ${call.method} ${pathOf(call)}): leave --batch out; a run that is there goes on without by -R --no-batch`;
    return new RequestFailed({ ...failure, code: "bad_request", message });
  }
}

/** Nobody reads what an attempt weighs: it holds no permit. */
const UNWATCHED = {
  costs: new RequestCosts(),
  headers: new LimitHeaders(),
  weigh: (): never => {
    throw new Error("a call about batches has no weight");
  },
};

const neverStreamed = (): never => {
  throw new Error("an answer about batches never comes in events");
};

const pathOf = ({ path }: BatchCall): string => path.replace(/[?#].*$/, "");

/** Whether the provider says, after all retries, that it does not know what was named. */
export const isUnknownThere = (thrown: unknown): thrown is RequestFailed =>
  thrown instanceof RequestFailed && thrown.failure.code === "bad_request" && thrown.failure.cause === "NotFoundError";

/** Whether the provider refused what it was asked, as a thing that it does not do. */
export const isRefusedThere = (thrown: unknown): boolean => thrown instanceof RequestFailed && thrown.failure.code === "bad_request";
