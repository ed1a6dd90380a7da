import { signal } from "@preact/signals";
import type { Asked } from "../api/ask.ts";
import type { Problem } from "../api/problem.ts";
import type { Visibility } from "./visibility.ts";

/** Between two questions at least; after one that failed, it is asked again so late by itself. */
const PACE_MS = 2_000;
const FAILED_MS = 5_000;

/** An answer that is another one after each change of what it is of: asked for while somebody wants it, no more often than so. */
export class Polled<T> {
  /** Null until the first answer; the last one where later ones failed. */
  readonly value = signal<T | null>(null);
  /** Of the last question. */
  readonly problem = signal<Problem | null>(null);
  readonly #ask: (signal: AbortSignal) => Promise<Asked<T>>;
  readonly #visibility: Visibility;
  #wanted: string | null = null;
  #answered: string | null = null;
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  readonly #unlisten: () => void;

  constructor(ask: (signal: AbortSignal) => Promise<Asked<T>>, visibility: Visibility) {
    this.#ask = ask;
    this.#visibility = visibility;
    this.#unlisten = visibility.listen(() => this.#plan(0));
  }

  /** Asks, unless what is there is of this `version`. */
  want(version: string): void {
    this.#wanted = version;
    if (this.#asked === null) this.#plan(Math.max(0, this.#askedAt + PACE_MS - performance.now()));
  }

  /** Asks at once, whatever is there. */
  again(): void {
    this.#answered = null;
    this.#plan(0);
  }

  close(): void {
    this.#wanted = null;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#unlisten();
  }

  #plan(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#wanted === null || this.#wanted === this.#answered || !this.#visibility.isVisible() || this.#asked !== null) return;
    if (ms === 0) void this.#look();
    else this.#timer = setTimeout(() => this.#plan(0), ms);
  }

  async #look(): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    this.#askedAt = performance.now();
    const version = this.#wanted;
    try {
      const answer = await this.#ask(asked.signal);
      this.problem.value = answer.ok ? null : answer.problem;
      if (answer.ok) {
        this.value.value = answer.value;
        this.#answered = version;
      }
    } catch {
      // Given up: nobody wants it any more.
      return;
    } finally {
      this.#asked = null;
    }
    this.#plan(this.problem.value === null ? PACE_MS : FAILED_MS);
  }
}
