/** Characters of messages that wait to cross together, about: enough to share the cost of a call, and far below what a call may carry. */
const TOGETHER = 1024 * 1024;

export interface PacedOptions {
  readonly call: (batch: string) => Promise<void>;
  /** Told once: nothing is sent after it. */
  readonly failed: (thrown: unknown) => void;
  /** Characters that may wait; default: any number. */
  readonly most?: number;
  /** More would wait: what does is let go of, and nothing is sent any more. */
  readonly full?: () => void;
}

/**
 * Batches on their way over calls, one call at a time: what is said meanwhile goes with the next one. A call costs some hundred messages' worth, so with many rollouts
 * under way they share it, and whoever is alone waits for nobody.
 */
export class PacedBatches {
  readonly #options: PacedOptions;
  /** The messages of batches, as JSON without the brackets. */
  #waiting: string[] = [];
  #characters = 0;
  #flying: Promise<void> | null = null;

  constructor(options: PacedOptions) {
    this.#options = options;
  }

  /** `batch`: the JSON text of an array. */
  send(batch: string): void {
    const { most = Number.POSITIVE_INFINITY, full } = this.#options;
    if (batch.length > 2) {
      this.#waiting.push(batch.slice(1, -1));
      this.#characters += batch.length - 2;
    }
    if (this.#characters > most) {
      this.#forget();
      return full?.();
    }
    if (this.#flying === null) this.#next();
  }

  /** A call without a message, for whoever listens whether anybody is there; where one is under way that is sign enough. */
  beat(): void {
    if (this.#flying === null) this.#call("[]");
  }

  /** Settles when all that was sent so far has arrived, or nothing more will. */
  async sent(): Promise<void> {
    while (this.#flying !== null) await this.#flying;
  }

  #next(): void {
    let characters = 0;
    let count = 0;
    for (const text of this.#waiting) {
      if (count > 0 && characters + text.length > TOGETHER) break;
      characters += text.length;
      count++;
    }
    if (count === 0) return;
    this.#characters -= characters;
    this.#call(`[${this.#waiting.splice(0, count).join(",")}]`);
  }

  #call(batch: string): void {
    this.#flying = this.#options.call(batch).then(
      () => {
        this.#flying = null;
        this.#next();
      },
      (thrown: unknown) => {
        this.#flying = null;
        this.#forget();
        this.#options.failed(thrown);
      },
    );
  }

  #forget(): void {
    this.#waiting = [];
    this.#characters = 0;
  }
}
