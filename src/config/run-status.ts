export const RUN_STATUSES = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"] as const;
/** Where a run stands, as everybody outside of it is told. */
export type RunStatus = (typeof RUN_STATUSES)[number];
