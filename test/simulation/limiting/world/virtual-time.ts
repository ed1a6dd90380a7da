import { Clockwork } from "../../world/clockwork.ts";

/** So that dates in headers are dates. */
const EPOCH = Date.UTC(2026, 0, 1);

/** All that waits for time in one queue; promises that a thing settles are through before the next thing happens. */
export class VirtualTime {
  readonly clock = new Clockwork();

  /** What takes real time, such as a digest: no time of the world passes meanwhile. */
  #real: Promise<unknown> = Promise.resolve();
  #holding = 0;

  /** Unix milliseconds. */
  readonly now = (): number => EPOCH + this.clock.now;

  readonly sleep = (ms: number, signal?: AbortSignal | null): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = (): void => reject(signal?.reason);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.clock.after(Math.max(0, ms), () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      });
    });

  /** No time passes until `work` is settled, which must not wait for time. One after the other, since which of two is faster is not the world's. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    const settled = this.#real.then(work);
    this.#real = settled.catch(() => undefined);
    this.#holding++;
    return settled.finally(() => this.#holding--);
  }

  /** Lets things happen until `isOver`, or until that time; whether it was over. Milliseconds since the beginning. */
  async pass(until: number, isOver: () => boolean = () => false): Promise<boolean> {
    let reached = false;
    this.clock.at(until, () => {
      reached = true;
    });
    while (!reached) {
      if (isOver()) return true;
      // What happens at one moment needs no pause in between.
      do this.clock.step();
      while (!reached && this.clock.nextAt === this.clock.now);
      do {
        await this.#real;
        await new Promise((resolve) => setImmediate(resolve));
      } while (this.#holding > 0);
    }
    return isOver();
  }
}
