const CALLBACKS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when `signal` aborts; the function it gives back takes that back. All callbacks of a signal share one listener:
 * hundreds of lanes wait on the same signal, and adding and removing the platform's own showed in the profile of an executor.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = CALLBACKS.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  CALLBACKS.set(signal, callbacks);
  const abort = (): void => {
    for (const callback of callbacks) callback();
    callbacks.clear();
  };
  signal.addEventListener("abort", abort, { once: true });
  return callbacks;
}
