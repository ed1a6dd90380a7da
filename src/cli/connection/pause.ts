import { setTimeout as sleep } from "node:timers/promises";

/** Waits; when the signal fires meanwhile, throws its reason rather than a general abort error. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
