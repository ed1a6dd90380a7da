/** Time that passes only when everybody waits for it: hours of waiting in a moment, and in the right order. */
export class SteppedClock {
  #now = 1_000_000;
  #waiting: { readonly at: number; readonly go: () => void }[] = [];

  readonly now = (): number => this.#now;

  readonly sleep = (ms: number, signal?: AbortSignal | null): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const entry = { at: this.#now + Math.max(0, ms), go: resolve };
      signal?.addEventListener(
        "abort",
        () => {
          this.#waiting = this.#waiting.filter((each) => each !== entry);
          reject(signal.reason);
        },
        { once: true },
      );
      this.#waiting.push(entry);
    });

  /** Lets time pass until `work` is settled; throws when it waits for something else than time. */
  async through<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const done = (): void => {
      settled = true;
    };
    work.then(done, done);
    for (let idle = 0; !settled; ) {
      await new Promise((resolve) => setImmediate(resolve));
      if (settled) break;
      const next = this.#waiting.reduce((first, each) => (each.at < first.at ? each : first), this.#waiting[0] ?? { at: Number.NaN, go: () => undefined });
      if (Number.isNaN(next.at)) {
        if (++idle > 1_000) throw new Error("nobody waits for time, and the work is not done");
        continue;
      }
      idle = 0;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#now = Math.max(this.#now, next.at);
      next.go();
    }
    return await work;
  }
}
