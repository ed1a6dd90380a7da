import { budgetsOf } from "../../../src/budgets/budget-name.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { placesOf } from "../../../src/config/plan/run-config.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import type { ResumeRequest } from "../control.ts";
import { returnUnits } from "../grants/pending.ts";
import { headVersion, type RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { freshBatching } from "./batching-head.ts";
import { dropJob } from "./drop-job.ts";
import { isLive, isUnsent, type Job } from "./job.ts";
import { putUnasked } from "./unasked.ts";

/** What a resume makes of batches: those that are under way go on, and a run may turn to them, or away once they are over. */

/** Jobs that may be at their provider. */
const sentJobs = (ledger: Ledger, { batching }: RunHead): readonly Job[] =>
  batching === undefined ? [] : ledger.batching.jobs().filter((job) => isLive(job) && !isUnsent(job));

const batchesOf = (jobs: readonly Job[]): string => (jobs.length === 1 ? "1 batch" : `${jobs.length} batches`);

/** Refuses what would lose answers that are paid for. `after`: the config that the run would go on with. */
export function batchRefusal(ledger: Ledger, head: RunHead, request: ResumeRequest, after: RunConfig): Result<null> {
  const sent = sentJobs(ledger, head);
  const places = (config: RunConfig): string => JSON.stringify(placesOf(config).map(({ base_url }) => base_url));
  if (sent.length > 0 && places(after) !== places(ledger.config()))
    return fail(
      "resume_mismatch",
      `base_url: ${batchesOf(sent)} of the run ${sent.length === 1 ? "is" : "are"} under way at ${placesOf(ledger.config())[0]?.base_url ?? "another address"}.`,
      "Resume it there first; what they answer is paid for.",
    );
  if (request.batch !== false || head.batching === undefined) return ok(null);
  const isAnswered = ledger.batching.jobs().some(({ index }) => index !== null) && head.pending > 0;
  if (sent.length === 0 && !isAnswered) return ok(null);
  return fail(
    "resume_mismatch",
    `batch: ${sent.length > 0 ? `${batchesOf(sent)} of the run may be at the provider` : `${head.pending} examples have answers of batches, and are not played yet`}.`,
    "Resume it with its batches first; what they answered is paid for.",
  );
}

/** Begins a generation: with batches or without, as its config says. Precondition: no live grants. */
export function turnBatches(ledger: Ledger, head: RunHead): void {
  const wants = ledger.config().batch === true;
  if (wants && head.batching === undefined) turnOn(ledger, head);
  else if (!wants && head.batching !== undefined) turnOff(ledger, head);
  if (head.batching !== undefined) {
    // What it can cost nobody knew when it was written: budgets that hold for it now would pay for nothing.
    const isPaid = budgetsOf(ledger.config()).length > 0;
    for (const job of ledger.batching.jobs()) if (isPaid && isLive(job) && isUnsent(job) && job.bound === null) dropJob(ledger, head, job);
    ledger.batching.forgetTries();
    // What it waited for may be over.
    for (const job of ledger.batching.jobs()) if (isLive(job) && (job.due_at > 0 || job.refusals > 0)) ledger.batching.put({ ...job, due_at: 0, refusals: 0 });
    head.batching = freshBatching(head.batching.unasked);
  }
  head.version = headVersion(head);
}

function turnOn(ledger: Ledger, head: RunHead): void {
  const n = head.n ?? 0;
  head.batching = freshBatching(Math.max(0, n - head.cursor));
  for (const { lo, hi } of ledger.returnedIn({ lo: 0, hi: n })) {
    ledger.deleteReturned(lo);
    putUnasked(ledger, head, [{ lo, hi, tries: 0 }]);
  }
  for (const suspect of ledger.waitingSuspects()) {
    ledger.putSuspect({ ...suspect, waiting: false });
    putUnasked(ledger, head, [{ lo: suspect.unit, hi: suspect.unit + 1, tries: 0 }]);
  }
  head.pending = 0;
}

function turnOff(ledger: Ledger, head: RunHead): void {
  const n = head.n ?? 0;
  for (const job of ledger.batching.jobs()) if (isLive(job)) dropJob(ledger, head, job);
  const ranges = ledger.batching.unaskedIn({ lo: 0, hi: n });
  ledger.batching.clearUnasked();
  delete head.batching;
  for (const range of ranges) returnUnits(ledger, head, range);
  head.pending += Math.max(0, n - head.cursor);
}
