import type { Failure } from "../errors/result.ts";

/** Why nothing comes any more. */
export interface Broken extends Failure {
  /** The other side may be there again in a while: whoever has begun nothing with it may try again. */
  readonly passing?: boolean;
}

/** What brings messages to the other side and back, in batches and in their order. Neither side knows how. */
export interface Channel {
  /** Messages are JSON. Never throws: what cannot be sent is a broken channel. */
  send(batch: readonly unknown[]): void;
  /** Set once, before the first batch can come. */
  onBatch: (batch: readonly unknown[]) => void;
  /** The other side is gone: nothing comes any more. `sandbox_error` where that is nobody's fault, `environment_error` where the environment's. */
  onBroken: (reason: Broken) => void;
  /** Nobody waits for an answer any more. */
  close(): void;
  /** In place of `close`, where the other side did not do as it was told: nobody is to meet this copy of its code again. Absent = there is no such thing. */
  drop?(): void;
}
