import { LOADING_FIELDS, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { freshBatching } from "../batching/batching-head.ts";
import { dropJob } from "../batching/drop-job.ts";
import { isLive, isUnsent } from "../batching/job.ts";
import type { ResumeRequest } from "../control.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** Whether the run has rows or anything that is kept of rollouts, or is to get some from a folder: then it stays with the data that they are of. */
export function hasBegun(ledger: Ledger, head: RunHead): boolean {
  if (head.import !== null || ledger.piecesIn({ lo: 0, hi: head.n ?? 0 }).length > 0) return true;
  // What was asked of its rows is paid for.
  if (head.batching !== undefined && ledger.batching.jobs().some((job) => !isUnsent(job) && job.state !== "dropped")) return true;
  for (const _ of ledger.doneFrom(0)) return true;
  return false;
}

/** The fields in which a run that has not begun takes what the resume says. */
export function loadingOf({ expect }: ResumeRequest): Partial<RunConfig> {
  return Object.fromEntries(LOADING_FIELDS.flatMap((name) => (expect[name] === undefined ? [] : [[name, expect[name]]])));
}

/** Lets go of the pinned inputs, so that the data set is read as if for the first time. Only without rows and without live grants. */
export function unpin(ledger: Ledger, head: RunHead): void {
  ledger.clearInputs();
  head.n = null;
  head.pinned_for = null;
  head.dataset_digest = null;
  head.env_digest = null;
  delete head.env_digests;
  head.input_bytes = 0;
  head.cursor = 0;
  head.pending = 0;
  if (head.batching === undefined) return;
  for (const job of ledger.batching.jobs()) if (isLive(job)) dropJob(ledger, head, job);
  ledger.batching.clearUnasked();
  head.batching = freshBatching(0);
}
