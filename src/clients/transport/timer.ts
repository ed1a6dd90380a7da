import type { Sleep } from "../client.ts";

/** Calls `then` after so many milliseconds, unless the function that it gives back is called before. */
export type Timer = (ms: number, then: () => void) => () => void;

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
    return () => off.abort();
  };
