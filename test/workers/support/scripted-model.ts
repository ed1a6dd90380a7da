import { answerTo, type ChatMessage, completionBody, refusalOf } from "../../support/model-server/model-answers.ts";
import type { Fault } from "../../support/model-server/model-script.ts";
import { pause } from "./service.ts";

/** One request as the model sees it. */
export interface ModelCall {
  /** Header `X-Session-ID`: the example. */
  readonly example: number;
  /** How often this example was asked for, this time included. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** A text is answered; a fault is refused with its status. */
export type Reply = string | Fault | null;

export interface ModelOptions {
  readonly latencyMs?: number | ((call: ModelCall) => number);
  /** Null or absent: the right answer, except that of every third example, which is wrong. */
  readonly reply?: (call: ModelCall) => Reply | Promise<Reply>;
}

/** A model in place of `fetch`: answers by example, and counts what is in flight as a server would see it. */
export class ScriptedModel {
  inFlight = 0;
  peak = 0;
  /** Streamed answers being written now, and the most there were. */
  readonly writing = { now: 0, most: 0 };
  readonly calls = new Map<number, number>();
  options: ModelOptions;

  constructor(options: ModelOptions = {}) {
    this.options = options;
  }

  get total(): number {
    let total = 0;
    for (const count of this.calls.values()) total += count;
    return total;
  }

  readonly fetch = async (_url: string, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const example = Number(new Headers(init.headers).get("x-session-id"));
    const attempt = (this.calls.get(example) ?? 0) + 1;
    this.calls.set(example, attempt);
    this.inFlight++;
    this.peak = Math.max(this.peak, this.inFlight);
    try {
      return await this.#answer({ example, attempt, signal }, String(init.body));
    } finally {
      this.inFlight--;
    }
  };

  /** Headers at once, the answer after `ms`: the right one, whatever was asked. */
  #stream(ms: number): Response {
    const { writable, readable } = new IdentityTransformStream();
    this.writing.now++;
    this.writing.most = Math.max(this.writing.most, this.writing.now);
    void this.#write(writable.getWriter(), ms);
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #write(writer: WritableStreamDefaultWriter<Uint8Array>, ms: number): Promise<void> {
    await pause(ms);
    // Before its last byte is out: who reads that may send the next request at once.
    this.writing.now--;
    const chunk = { id: "s", model: "scripted", choices: [{ index: 0, delta: { content: "streamed" }, finish_reason: "stop" }] };
    await writer.write(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`));
    await writer.close();
  }

  async #answer(call: ModelCall, text: string): Promise<Response> {
    const { latencyMs = 0, reply } = this.options;
    if ((JSON.parse(text) as { stream?: boolean }).stream === true) return this.#stream(typeof latencyMs === "number" ? latencyMs : latencyMs(call));
    await waiting(typeof latencyMs === "number" ? latencyMs : latencyMs(call), call.signal);
    const said = (await untilAborted(Promise.resolve(reply?.(call) ?? null), call.signal)) ?? null;
    const { model, messages } = JSON.parse(text) as { model: string; messages: readonly ChatMessage[] };
    const refused = said !== null && typeof said === "object" ? refusalOf(said, model) : null;
    if (refused !== null) return new Response(refused.body, { status: refused.status, headers: { "content-type": "application/json", ...refused.headers } });
    const answer = call.example % 3 === 2 ? "wrong" : "reverse";
    const content = typeof said === "string" ? said : answerTo({ answer, accuracy: 1 }, messages, 1);
    const body = completionBody(
      { n: call.example, model, content, usage: { prompt_tokens: 20, completion_tokens: 10 } },
      typeof said === "object" ? said : null,
    );
    return new Response(body, { headers: { "content-type": "application/json" } });
  }
}

/** Holds a request open until the caller gives up, as a server that never answers. */
export const neverAnswer = (): Promise<never> => new Promise(() => undefined);

function waiting(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return untilAborted(new Promise((resolve) => setTimeout(resolve, ms)), signal);
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
