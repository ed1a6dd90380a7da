import { BATCH_ANSWERS_A_BREATH } from "../../limits.ts";
import type { ExecutorPorts } from "../ports.ts";

/**
 * Has everybody who is answered out of storage stop at the same time, now and then, for a moment. The local runtime looks at its sockets and timers only when nothing else is to
 * be done, and rollouts that are answered at once leave it nothing: without this it hears nobody until the last of them is over, which its command takes for a loop.
 */
export class Breather {
  readonly #sleep: ExecutorPorts["sleep"];
  #count = 0;
  #breath: Promise<void> | null = null;

  constructor(sleep: ExecutorPorts["sleep"]) {
    this.#sleep = sleep;
  }

  /** To be waited for before each answer. */
  async breathe(): Promise<void> {
    if (++this.#count % BATCH_ANSWERS_A_BREATH === 0)
      this.#breath ??= this.#sleep(1).finally(() => {
        this.#breath = null;
      });
    if (this.#breath !== null) await this.#breath;
  }
}
