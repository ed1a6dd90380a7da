import type { Sleep } from "../client.ts";

/** Calls `then` after so many milliseconds, unless the function that it gives back is called before. */
export type Timer = (ms: number, then: () => void) => () => void;

/** Made once: a signal makes a new error, with its stack, where it is given no reason. */
const CALLED_OFF = new Error("the timer was called off");

export const timerOf =
  (sleep: Sleep): Timer =>
  (ms, then) => {
    const off = new AbortController();
    sleep(ms, off.signal).then(
      () => {
        if (!off.signal.aborted) then();
      },
      () => undefined,
    );
    return () => off.abort(CALLED_OFF);
  };
