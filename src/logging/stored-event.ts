/** One event of a run, as its log and those who follow it have it. */
export interface StoredEvent {
  readonly seq: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly type: "log" | "commit";
  readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
  readonly message: string;
  /** For `commit`: rollouts whose rows were accepted. */
  readonly rollouts: number;
}
