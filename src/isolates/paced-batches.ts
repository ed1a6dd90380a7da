/** Characters of messages that wait to cross together, about: enough to share the cost of a call, and far below what a call may carry. */
const TOGETHER = 1024 * 1024;

/**
 * Batches on their way over calls, one call at a time: what is said meanwhile goes with the next one. A call costs some hundred messages' worth, so with many rollouts
 * under way they share it, and whoever is alone waits for nobody.
 */
export class PacedBatches {
  readonly #call: (texts: string) => Promise<void>;
  readonly #failed: (thrown: unknown) => void;
  /** The messages of batches, as JSON without the brackets. */
  #waiting: string[] = [];
  #flying: Promise<void> | null = null;

  /** `failed` is told once: nothing is sent after it. */
  constructor(call: (batch: string) => Promise<void>, failed: (thrown: unknown) => void) {
    this.#call = call;
    this.#failed = failed;
  }

  /** `batch`: the JSON text of an array. */
  send(batch: string): void {
    if (batch.length > 2) this.#waiting.push(batch.slice(1, -1));
    if (this.#flying === null) this.#next();
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
    const batch = `[${this.#waiting.splice(0, count).join(",")}]`;
    this.#flying = this.#call(batch).then(
      () => {
        this.#flying = null;
        this.#next();
      },
      (thrown: unknown) => {
        this.#flying = null;
        this.#waiting = [];
        this.#failed(thrown);
      },
    );
  }
}
