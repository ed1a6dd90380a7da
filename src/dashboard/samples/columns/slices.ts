/** Long work in pieces, between which the page is drawn and keys are heard: a piece takes some milliseconds, far below the 50 from which it is a long task. */
const SLICE_MS = 8;

export class Slices {
  readonly #signal: AbortSignal;
  #until = performance.now() + SLICE_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Called between pieces that take less than a millisecond or so. Rejects where the work is given up. */
  async breathe(): Promise<void> {
    this.#signal.throwIfAborted();
    if (performance.now() < this.#until) return;
    await nextTask();
    this.#signal.throwIfAborted();
    this.#until = performance.now() + SLICE_MS;
  }
}

/** Behind what waits to be done; a timer would be held back by four milliseconds. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const told = (): void => {
      port1.close();
      resolve();
    };
    port1.addEventListener("message", told);
    port1.start();
    port2.postMessage(null);
  });
}
