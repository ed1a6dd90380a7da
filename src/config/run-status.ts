/** Where a run stands, as everybody outside of it is told. */
export type RunStatus = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "TIMEOUT" | "CANCELLED";
