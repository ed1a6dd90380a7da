import type { ExecutorPorts } from "./ports.ts";

const LOOK_MS = 1_000;
/** Without a sign of life from the parent for this long, executors abort and nothing is joined. */
export const PARENT_SILENCE_MS = 5_000;

/** Watches the process that started the local service: workerd outlives it and would go on calling models. */
export class Lifeline {
  readonly #ports: ExecutorPorts;
  readonly #onLost: () => void;
  readonly #over = new AbortController();
  #seenAt: number;

  constructor(ports: ExecutorPorts, onLost: () => void) {
    this.#ports = ports;
    this.#onLost = onLost;
    this.#seenAt = ports.now();
  }

  /** False when there is no sign of life to begin with. */
  async begin(): Promise<boolean> {
    if (!this.#ports.local) return true;
    if (!(await this.#ports.parentLives())) return false;
    this.#seenAt = this.#ports.now();
    void this.#watch();
    return true;
  }

  end(): void {
    this.#over.abort();
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#ports.sleep(LOOK_MS, this.#over.signal).catch(() => undefined);
      if (this.#over.signal.aborted) return;
      if (await this.#ports.parentLives()) this.#seenAt = this.#ports.now();
      else if (this.#ports.now() - this.#seenAt >= PARENT_SILENCE_MS) {
        this.#onLost();
        return;
      }
    }
  }
}
