import type { ExecutorPorts } from "./ports.ts";

/** What an environment takes longer to tear down is not waited for before its ticket is given back. */
const TEARDOWN_MS = 2_000;

/** Waits for `work`, but not long. */
export async function briefly({ sleep }: Pick<ExecutorPorts, "sleep">, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, sleep(TEARDOWN_MS, over.signal).catch(() => undefined)]);
  over.abort();
}
