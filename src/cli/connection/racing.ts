/**
 * What `work` gives, unless `ms` pass or `signal` fires first: then the time-out, or the signal's reason. A fetch and the reader of a body may
 * never settle after an abort, so no wait relies on that. Whatever loses the race goes on unheard.
 */
export async function racing<T>(work: Promise<T>, ms: number, late: string, signal?: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason);
    timer = setTimeout(() => reject(new DOMException(late, "TimeoutError")), ms);
  });
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
