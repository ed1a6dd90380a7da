import type { Permits } from "../../clients/client.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { EdgewiseError } from "../../errors/result.ts";

/**
 * As `permits`, but that a call for which too little is left is not rejected: it waits until its signal ends it. The run was told, and ends what waits; a call that was
 * rejected would be the outcome of its rollout, or of its scores, and what is kept of the rollout would be lost with it.
 */
export class UntilEnded implements Permits {
  readonly #permits: Permits;
  #unpaid = 0;

  constructor(permits: Permits) {
    this.#permits = permits;
  }

  get reads(): boolean {
    return this.#permits.reads === true;
  }

  /** Calls that wait though nobody will pay for them. */
  get unpaid(): number {
    return this.#unpaid;
  }

  async enter(...[signal, cost]: Parameters<Permits["enter"]>): Promise<void> {
    try {
      await this.#permits.enter(signal, cost);
    } catch (thrown) {
      if (!(thrown instanceof EdgewiseError) || thrown.code !== "over_budget" || !signal) throw thrown;
      this.#unpaid++;
      await new Promise<never>((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        else onAbort(signal, () => reject(signal.reason));
      }).finally(() => this.#unpaid--);
    }
  }

  leave(...ended: Parameters<Permits["leave"]>): void {
    this.#permits.leave(...ended);
  }
}
