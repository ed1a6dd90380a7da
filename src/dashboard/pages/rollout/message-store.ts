import { signal } from "@preact/signals";
import type { RowMessage } from "../../../cells/row-messages.ts";
import type { RolloutMessages, RolloutOutline } from "../../api/answers.ts";
import type { Api } from "../../api/ask.ts";
import { isPassing, type Problem } from "../../api/problem.ts";
import type { MessageSource } from "../../design/transcript/message-source.ts";

/** Messages of one question, and how many questions' messages are kept. */
const CHUNK = 64;
const MOST_CHUNKS = 64;
/** After a look that failed and may go well later. */
const FAILED_MS = 5_000;

/** The messages of one rollout, asked for by their numbers when somebody looks at them. A rollout of any size has a few chunks of them in memory. */
export class MessageStore implements MessageSource {
  readonly outlines: MessageSource["outlines"];
  readonly turns: MessageSource["turns"];
  readonly #api: Api;
  readonly #path: string;
  readonly #chunks = new Map<number, readonly RowMessage[]>();
  readonly #queue: number[] = [];
  readonly #version = signal(0);
  readonly #problem = signal<Problem | null>(null);
  readonly #closed = new AbortController();
  #isAsking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `path`: of the rollout, below `/api/v1`. */
  constructor(api: Api, path: string, { messages, turns }: Pick<RolloutOutline, "messages" | "turns">) {
    this.#api = api;
    this.#path = path;
    this.outlines = messages as MessageSource["outlines"];
    this.turns = turns as MessageSource["turns"];
  }

  get problem(): Problem | null {
    return this.#problem.value;
  }

  whole(number: number): RowMessage | null {
    void this.#version.value;
    return this.#chunks.get(Math.floor(number / CHUNK))?.[number % CHUNK] ?? null;
  }

  want(number: number): void {
    const chunk = Math.floor(number / CHUNK);
    if (this.#has(chunk) || this.#queue.includes(chunk)) return;
    // What was looked at last is wanted most.
    this.#queue.unshift(chunk);
    void this.#next();
  }

  again(): void {
    clearTimeout(this.#timer);
    this.#problem.value = null;
    void this.#next();
  }

  /** The messages from this one to the end of its chunk, asked for now: for who reads them all. Null: they could not be had. */
  async read(number: number, signal: AbortSignal): Promise<readonly RowMessage[] | null> {
    const chunk = Math.floor(number / CHUNK);
    const known = this.#has(chunk) ? this.#chunks.get(chunk) : await this.#ask(chunk, signal);
    return known?.slice(number % CHUNK) ?? null;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
  }

  #has(chunk: number): boolean {
    const known = this.#chunks.get(chunk);
    return known !== undefined && known.length === this.#sizeOf(chunk);
  }

  #sizeOf = (chunk: number): number => Math.min(CHUNK, this.outlines.length - chunk * CHUNK);

  async #next(): Promise<void> {
    if (this.#isAsking || this.#problem.value !== null) return;
    this.#isAsking = true;
    try {
      for (let chunk = this.#queue[0]; chunk !== undefined && this.#problem.value === null; chunk = this.#queue[0]) {
        const messages = await this.#ask(chunk, this.#closed.signal);
        if (messages === null) break;
        this.#queue.splice(this.#queue.indexOf(chunk), 1);
      }
    } catch (error) {
      // The page is left.
      if (!this.#closed.signal.aborted) throw error;
    } finally {
      this.#isAsking = false;
    }
  }

  /** Rejects where it is given up. */
  async #ask(chunk: number, abort: AbortSignal): Promise<readonly RowMessage[] | null> {
    const messages: RowMessage[] = [];
    const [first, end] = [chunk * CHUNK, chunk * CHUNK + this.#sizeOf(chunk)];
    while (first + messages.length < end) {
      const answer = await this.#api.ask<RolloutMessages>(`${this.#path}/messages`, { query: { from: first + messages.length, to: end }, signal: abort });
      if (!answer.ok || answer.value.messages.length === 0) {
        this.#problem.value = answer.ok
          ? { kind: "broken", text: "The rollout has fewer messages than it said.", hint: "Load the page again.", status: 0, code: null }
          : answer.problem;
        clearTimeout(this.#timer);
        if (isPassing(this.#problem.value)) this.#timer = setTimeout(() => this.again(), FAILED_MS);
        return null;
      }
      messages.push(...(answer.value.messages as readonly RowMessage[]));
      this.#keep(chunk, [...messages]);
    }
    return messages;
  }

  #keep(chunk: number, messages: readonly RowMessage[]): void {
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, messages);
    const [oldest] = this.#chunks.keys();
    if (this.#chunks.size > MOST_CHUNKS && oldest !== undefined) this.#chunks.delete(oldest);
    this.#version.value++;
  }
}
