/**
 * `reserved`: nothing of it is at its provider. `sent`: it may be billed. `lapsed`: nobody spoke of it for longer than a batch lives: it counts as unseen, until it is settled after all.
 * `settled`: it is over, and known so that it does not count twice.
 */
export type JobHold = "reserved" | "sent" | "lapsed" | "settled";

export interface StoredJob {
  readonly job: string;
  /** Of the last word that counted. */
  readonly epoch: number;
  readonly seq: number;
  readonly hold: JobHold;
  /** Held; of one that lapsed, what counts as unseen; 0 = settled. */
  readonly amount: number;
  readonly requests: number;
  /** Unix milliseconds: until when it is held, or since when it has lapsed or is settled. */
  readonly at: number;
}
