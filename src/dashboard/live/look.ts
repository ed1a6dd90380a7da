import { batch, signal } from "@preact/signals";
import type { Asked } from "../api/ask.ts";
import type { Problem } from "../api/problem.ts";
import type { Visibility } from "./visibility.ts";

/** After a look that failed. */
const FAILED_MS = 5_000;

/** What one question answers, asked again now and then while somebody sees it. For what has no events of its own. */
export class Look<T> {
  /** Null until the first answer. */
  readonly value = signal<T | null>(null);
  /** Of the last look; with a value that was had before it that is stale. */
  readonly problem = signal<Problem | null>(null);
  readonly isLoading = signal(false);
  /** When what is shown was last as the service has it, in Unix milliseconds. */
  readonly seenAt = signal(0);

  readonly #question: (signal: AbortSignal) => Promise<Asked<T>>;
  readonly #visibility: Visibility;
  readonly #everyMs: number;
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #unlisten: () => void;
  #closed = false;

  constructor(question: (signal: AbortSignal) => Promise<Asked<T>>, visibility: Visibility, everyMs: number) {
    this.#question = question;
    this.#visibility = visibility;
    this.#everyMs = everyMs;
    this.#unlisten = visibility.listen(() => {
      if (visibility.isVisible()) void this.refresh();
    });
  }

  async refresh(): Promise<void> {
    if (this.#closed) return;
    const asked = this.#begin();
    this.isLoading.value = true;
    try {
      const answer = await this.#question(asked.signal);
      if (asked.signal.aborted) return;
      batch(() => {
        this.isLoading.value = false;
        this.problem.value = answer.ok ? null : answer.problem;
        if (answer.ok) this.#have(answer.value);
      });
    } catch (error) {
      // Given up: another look has begun, or the page is left.
      if (asked.signal.aborted) return;
      throw error;
    }
    this.#again();
  }

  /** What a change answered: newer than every look that was begun before. */
  take(value: T): void {
    this.#begin();
    batch(() => {
      this.isLoading.value = false;
      this.problem.value = null;
      this.#have(value);
    });
    this.#again();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#unlisten();
  }

  #begin(): AbortController {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = new AbortController();
    return this.#asked;
  }

  #have(value: T): void {
    this.value.value = value;
    this.seenAt.value = Date.now();
  }

  #again(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(
      () => {
        if (this.#visibility.isVisible()) void this.refresh();
      },
      this.problem.value === null ? this.#everyMs : FAILED_MS,
    );
  }
}
