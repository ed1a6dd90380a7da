import { z } from "zod";
import { batchOf, textOf } from "../environment-protocol/batch-text.ts";
import type { Channel } from "../environment-protocol/channel.ts";
import { PacedBatches } from "../environment-protocol/paced-batches.ts";
import { PROTOCOL_VERSION } from "../environment-protocol/values.ts";
import { type EdgewiseError, type Failure, failureOf } from "../errors/result.ts";
import { HTTP_BEAT_MS, HTTP_BEGIN_MS, HTTP_SILENCE_MS, MAX_BATCH_CHARACTERS } from "../limits.ts";
import { type EnvironmentServer, isRefused } from "./environment-server.ts";
import { LineTooLong, Lines } from "./lines.ts";
import { NumberedPosts, type PostPatience } from "./numbered-posts.ts";

/** Times of a conversation, in milliseconds; each has its default in src/limits.ts. */
export interface HttpPatience extends PostPatience {
  readonly beginMs?: number;
  readonly beatMs?: number;
  readonly silenceMs?: number;
  /** Characters that may wait for a server that does not take them. */
  readonly mostWaiting?: number;
}

/** The first line of a conversation. */
const BEGINNING = z.object({ conversation: z.string().min(1).max(200), v: z.number() });

/** What comes of a body, or null at its end. */
type Read = () => Promise<string | null>;

function reading(body: ReadableStream<Uint8Array>): { readonly read: Read; readonly cancel: () => void } {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  return {
    read: async () => {
      const { done, value } = await reader.read();
      return done ? null : decoder.decode(value, { stream: true });
    },
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}

/**
 * One conversation with an environment's server: what it says comes down the answer to one request, batch by batch, and what it is told goes up in requests of their own, one at a
 * time. Both sides say something now and then, so that either knows when nobody is there any more.
 */
export class HttpChannel implements Channel {
  onBatch: Channel["onBatch"] = () => undefined;
  onBroken: Channel["onBroken"] = () => undefined;
  readonly #server: EnvironmentServer;
  readonly #patience: HttpPatience;
  readonly #over = new AbortController();
  readonly #lines = new Lines(MAX_BATCH_CHARACTERS);
  /** Nothing is told before somebody listens, who speaks first. */
  readonly #spoken = Promise.withResolvers<void>();
  #cancel: () => void = () => undefined;
  #out: PacedBatches | null = null;
  #look: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;
  /** Looks since the server was heard, and since it was told anything. Counted, since a machine that slept has missed nothing. */
  #unheard = 0;
  #unsaid = 0;

  private constructor(server: EnvironmentServer, patience: HttpPatience) {
    this.#server = server;
    this.#patience = patience;
  }

  /** Begins a conversation. Rejects with `environment_failed`, which may pass where the server may be there in a while. */
  static async open(server: EnvironmentServer, patience: HttpPatience = {}): Promise<Channel> {
    const channel = new HttpChannel(server, patience);
    const { beginMs = HTTP_BEGIN_MS } = patience;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(server.failure({ message: `began no conversation within ${beginMs / 1_000} s`, passing: true })), beginMs);
    try {
      await Promise.race([channel.#begin(), late.promise]);
      return channel;
    } catch (thrown) {
      channel.close();
      throw thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  async #begin(): Promise<void> {
    const answer = await this.#server.ask("POST", "/conversations", { signal: this.#over.signal });
    if (isRefused(answer)) throw this.#server.failure(answer);
    const { status, body, headers } = answer;
    if (status !== 200 || body === null || !/^application\/x-ndjson\b/i.test(headers.get("content-type") ?? "")) {
      const refused = await this.#server.refusal(answer);
      throw this.#server.failure(
        status === 200 ? { ...refused, message: `answers with what is no conversation (${headers.get("content-type") ?? "no type"})` } : refused,
      );
    }
    const { read, cancel } = reading(body);
    this.#cancel = cancel;
    if (this.#isClosed) return cancel();
    const { first, rest } = await this.#first(read);
    const posts = new NumberedPosts(this.#server, this.#beginning(first), this.#over.signal, this.#patience);
    this.#out = new PacedBatches({
      call: (batch) => posts.post(batch),
      failed: (thrown) => this.#break(failureOf(thrown, "sandbox_error")),
      most: this.#patience.mostWaiting ?? Number.POSITIVE_INFINITY,
      full: () => this.#break({ code: "environment_error", message: "the environment does not take what it is sent, and asks for more" }),
    });
    this.#watch();
    void this.#hear(read, rest);
  }

  /** The first line, and the lines that came with it. */
  async #first(read: Read): Promise<{ readonly first: string; readonly rest: readonly string[] }> {
    for (;;) {
      const piece = await this.#read(read);
      if (piece === null) throw this.#server.failure({ message: "ended the conversation before it began", passing: true });
      const [first, ...rest] = this.#linesOf(piece);
      if (first !== undefined) return { first, rest };
    }
  }

  async #read(read: Read): Promise<string | null> {
    try {
      return await read();
    } catch (thrown) {
      throw this.#server.failure({ message: `broke the conversation off: ${this.#server.clean(failureOf(thrown).message)}`, passing: true });
    }
  }

  #linesOf(piece: string): readonly string[] {
    try {
      return this.#lines.add(piece);
    } catch {
      throw this.#notOurs();
    }
  }

  #notOurs(): EdgewiseError {
    return this.#server.failure({ message: "begins with what is no conversation", passing: false });
  }

  /** The name of the conversation. */
  #beginning(line: string): string {
    let said: unknown;
    try {
      said = JSON.parse(line);
    } catch {
      throw this.#notOurs();
    }
    const beginning = BEGINNING.safeParse(said);
    if (!beginning.success) throw this.#notOurs();
    const { conversation, v } = beginning.data;
    if (v !== PROTOCOL_VERSION)
      throw this.#server.failure({ message: `speaks version ${v} of the protocol of environments; this service speaks ${PROTOCOL_VERSION}`, passing: false });
    return conversation;
  }

  /** What comes, until nothing more does. Never rejects. */
  async #hear(read: Read, rest: readonly string[]): Promise<void> {
    await this.#spoken.promise;
    this.#take(rest);
    while (!this.#isClosed) {
      let piece: string | null;
      try {
        piece = await read();
      } catch (thrown) {
        return this.#gone(`the connection broke off: ${failureOf(thrown).message}`);
      }
      if (piece === null) return this.#gone(this.#lines.isOpen ? "it ended the conversation in the middle of a message" : "it ended the conversation");
      this.#unheard = 0;
      try {
        this.#take(this.#lines.add(piece));
      } catch (thrown) {
        if (!(thrown instanceof LineTooLong)) throw thrown;
        return this.#break({
          code: "environment_error",
          message: `the environment sent too much at once: ${thrown.message}; ${MAX_BATCH_CHARACTERS} are taken`,
        });
      }
    }
  }

  #take(lines: readonly string[]): void {
    for (const line of lines) {
      if (this.#isClosed || line.trim() === "") continue;
      let batch: readonly unknown[];
      try {
        batch = batchOf(line);
      } catch (thrown) {
        return this.#break({
          code: "environment_error",
          message: `the environment sent what is no batch of messages: ${this.#server.clean(failureOf(thrown).message)}`,
        });
      }
      if (batch.length > 0) this.onBatch(batch);
    }
  }

  #watch(): void {
    // It was given up in the moment in which it began.
    if (this.#isClosed) return;
    const { beatMs = HTTP_BEAT_MS, silenceMs = HTTP_SILENCE_MS } = this.#patience;
    const lookMs = beatMs / 2;
    this.#look = setInterval(() => {
      if (++this.#unheard >= silenceMs / lookMs) return this.#gone(`nothing was heard of it for ${silenceMs / 1_000} s`);
      if (++this.#unsaid < 2) return;
      this.#unsaid = 0;
      this.#out?.beat();
    }, lookMs);
  }

  send(batch: readonly unknown[]): void {
    if (this.#isClosed) return;
    this.#spoken.resolve();
    this.#unsaid = 0;
    this.#out?.send(textOf(batch));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#look);
    this.#spoken.resolve();
    this.#over.abort(new Error("the conversation is over"));
    this.#cancel();
  }

  #gone(message: string): void {
    this.#break({ code: "sandbox_error", message: `the environment server ${this.#server.shown} is gone: ${this.#server.clean(message)}` });
  }

  #break(reason: Failure): void {
    if (this.#isClosed) return;
    this.close();
    this.onBroken(reason.code === "sandbox_error" ? { ...reason, passing: true } : reason);
  }
}
