const LOOK_MS = 1_000;
/** What is set back by less delays by less than a lease. */
const LEAST_MS = 10_000;

interface Clocks {
  /** The machine's, which may be set. */
  readonly machine: () => number;
  /** One that nobody sets. */
  readonly steady: () => number;
}

/**
 * Tells when the machine's clock was set back, and by how many milliseconds. In a runtime that saw it before, clocks stand still and timers wait until
 * it has caught up: in its objects and in executors, for as long as it was set back by. The answer ends the watch.
 */
export function watchClock(onSetBack: (ms: number) => void, { machine, steady }: Clocks = { machine: Date.now, steady: () => performance.now() }): () => void {
  let apart = machine() - steady();
  const timer = setInterval(() => {
    const before = apart;
    apart = machine() - steady();
    if (before - apart >= LEAST_MS) onSetBack(before - apart);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
