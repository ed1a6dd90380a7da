import { isPassing } from "./follow-run.ts";
import { pause } from "./pause.ts";

/** How long to try again what a network or a service at a loss prevents. */
export interface Patience {
  /** From the first failure on. */
  readonly patienceMs: number;
  /** Longest wait between two attempts. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Hears once that there is an outage, and when it is over. */
  readonly onOutage: (error: unknown) => void;
  readonly onReturn: () => void;
}

const FIRST_WAIT_MS = 300;

/** Repeats `work` while its failure may pass; must be safe to repeat. */
export async function patiently<T>(work: () => Promise<T>, { patienceMs, maxWaitMs, signal, onOutage, onReturn }: Patience): Promise<T> {
  let since: number | null = null;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, maxWaitMs)) {
    try {
      const result = await work();
      if (since !== null) onReturn();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error) || (since !== null && performance.now() - since > patienceMs)) throw error;
      if (since === null) onOutage(error);
      since ??= performance.now();
    }
    await pause(wait, signal);
  }
}
