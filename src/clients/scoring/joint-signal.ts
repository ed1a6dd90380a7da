import { onAbort } from "../transport/on-abort.ts";

/** The signal of work that several wait for: aborted once the last of them has gone, with that one's reason. */
export class JointSignal {
  readonly #controller = new AbortController();
  #waiting = 0;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** One more waits, until `signal`. What `work` comes to, or a rejection with the signal's reason. */
  async join<T>(signal: AbortSignal | null, work: Promise<T>): Promise<T> {
    if (signal?.aborted) throw signal.reason;
    this.#waiting++;
    if (signal === null) return await work;
    return await new Promise<T>((resolve, reject) => {
      const letGo = onAbort(signal, () => {
        reject(signal.reason);
        if (--this.#waiting === 0) this.#controller.abort(signal.reason);
      });
      work.then(resolve, reject).finally(letGo);
    });
  }
}
