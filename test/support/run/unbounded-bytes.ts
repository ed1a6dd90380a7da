import { type ExecutorBytes, IsolateBytes } from "../../../src/executor/isolate-bytes.ts";

/** For tests of anything else: nobody waits for memory. */
export const unboundedBytes = (): ExecutorBytes => new IsolateBytes(Number.POSITIVE_INFINITY).open({ now: () => 0, sleep: async () => undefined });
