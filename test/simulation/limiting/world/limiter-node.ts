import { Book } from "../../../../durable-objects/limiter/book.ts";
import type { ExchangeAnswer, ExchangeRequest, LimiterView } from "../../../../durable-objects/limiter/limiter-control.ts";
import type { StoredLimiter } from "../../../../durable-objects/limiter/stored-limiter.ts";
import type { Amounts } from "../../../../src/endpoint-limits/limit-kinds.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The Limiter: its book as shipped, what its object has stored, and an end at any moment. */
export class LimiterNode {
  readonly #time: VirtualTime;
  #book: Book | null = null;
  #stored: StoredLimiter | null = null;
  /** What a person gave to everybody, as the Registry has it, which is asked at the beginning of a life. */
  given: Amounts | null = null;
  readonly #exchanges: number[] = [];
  killedAt: number | null = null;
  /** Steps so far, and the one at which it is killed; null = at none. */
  steps = 0;
  killAt: number | null = null;
  /** Nobody reaches it. */
  isAway = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Throws when it is killed meanwhile, or cannot be reached. */
  async exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
    if (this.isAway) throw new Error("Network connection lost.");
    this.#exchanges.push(this.#time.clock.now);
    this.#step();
    const now = this.#time.now();
    const book = this.#alive(now);
    const answer = book.exchange(request, now);
    this.#step();
    this.#write(book, now);
    this.#step();
    return answer;
  }

  /** As the owner sees it. */
  view(): LimiterView | null {
    return this.#book?.view(null, this.#time.now()) ?? null;
  }

  /** Milliseconds since the beginning. */
  exchangedBetween(from: number, to: number): number {
    return this.#exchanges.filter((at) => at >= from && at < to).length;
  }

  /** What it has not stored is gone. */
  kill(): void {
    this.killedAt = this.#time.clock.now;
    this.#book = null;
  }

  #alive(now: number): Book {
    if (this.#book !== null) return this.#book;
    this.#book = new Book({ stored: structuredClone(this.#stored), life: "life", now });
    this.#book.give(null, this.given);
    return this.#book;
  }

  #write(book: Book, now: number): void {
    const unwritten = book.unwritten(now);
    if (unwritten !== null) this.#stored = structuredClone(unwritten);
  }

  #step(): void {
    if (this.steps++ !== this.killAt) return;
    this.kill();
    throw new Error("the Limiter was killed");
  }
}
