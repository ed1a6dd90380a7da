import { RUN_STATUSES, type RunStatus } from "../../config/run-status.ts";
import type { FolderFacts } from "./folder-facts.ts";

/** Of a folder that nobody has written to for so long nothing is under way, as far as anybody can tell. */
const QUIET_MS = 60_000;

export interface FolderStatus {
  readonly status: RunStatus;
  /** Nothing more is expected. */
  readonly isSettled: boolean;
  /** It has not ended, and nobody writes to it. */
  readonly isSuspended: boolean;
}

/**
 * How the run of a folder stands. Ours say it. Others do not: while rows are missing and the folder is written to they go on; where nobody writes to it any more they were ended before their time.
 * `rows`: null where nobody has counted them; `quietMs`: since it was written to.
 */
export function folderStatus({ run, own, problem }: FolderFacts, rows: number | null, quietMs: number): FolderStatus {
  const isQuiet = quietMs > QUIET_MS;
  const stated = RUN_STATUSES.find((status) => status === own.status);
  if (stated === "PENDING" || stated === "RUNNING") return { status: stated, isSettled: false, isSuspended: isQuiet };
  if (stated !== undefined) return { status: stated, isSettled: true, isSuspended: false };
  const wanted = run?.num_examples && run.rollouts_per_example ? run.num_examples * run.rollouts_per_example : null;
  const lacks = wanted !== null && rows !== null && rows < wanted;
  // A command of ours writes its first rows before its metadata.
  if (!isQuiet && (run === null || lacks)) return { status: "RUNNING", isSettled: false, isSuspended: false };
  return { status: problem !== null ? "FAILED" : lacks ? "CANCELLED" : "COMPLETED", isSettled: true, isSuspended: false };
}
