import type { Failure } from "../../../src/errors/result.ts";
import { endRun, markChanged } from "../course/lifecycle.ts";
import { returnUnits } from "../grants/pending.ts";
import type { Ack } from "../protocol.ts";
import { retryDelay } from "../sending/wake.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { BatchOutcome, BatchToldRequest } from "./batching-protocol.ts";
import { dropJob } from "./drop-job.ts";
import { type AskedRange, isAtWork, isLive, isUnsent, type Job, unitsIn } from "./job.ts";
import { hasOthersAtWork } from "./next-step.ts";
import { carrying, newestJob } from "./plan.ts";
import { putUnasked, takeUnasked } from "./unasked.ts";
import { without } from "./without.ts";

/** How often a request that came back without an answer is asked in one generation. */
export const BATCH_TRIES = 3;
/** Longest wait for the next look at a job. */
const MOST_LOOK_MS = 60_000;
const LOOK_GROWTH = 1.5;
/** Waits for room at the provider, where nothing else says when there is some: the first in first looks, and the longest. */
const FULL_LOOKS = 3;
const MOST_FULL_MS = 600_000;
/** Batches of one job that may fail as a whole. */
const MOST_FAILED = 8;

type Told<Kind extends BatchOutcome["kind"]> = Extract<BatchOutcome, { kind: Kind }>;

const OK: Ack = { kind: "ok" };
const LOST: Ack = { kind: "lost" };

/** What became of a step. A repeat of what is known changes nothing. */
export function batchTold(ledger: Ledger, head: RunHead, request: BatchToldRequest, context: RunContext): Ack {
  if (carrying(ledger, head, request) === null) return LOST;
  const { outcome } = request;
  // Who asks the provider, and hears of it, is alive, however long it takes there.
  if (head.pulse !== undefined) head.pulse = { ...head.pulse, progressed_at: context.now };
  delete head.lost_preparations;
  if (outcome.kind === "wrote") return wrote(ledger, head, outcome, context);
  const job = ledger.batching.jobs().find((each) => each.job === outcome.job);
  if (job === undefined) return LOST;
  switch (outcome.kind) {
    case "uploaded":
      if (job.state === "written") ledger.batching.put(moved(job, { state: "uploaded", file_id: outcome.file_id }));
      return OK;
    case "creating":
      return creating(ledger, head, job, context);
    case "submitted":
      return submitted(ledger, head, job, outcome, context);
    case "absent":
      if (job.state !== "creating") return OK;
      if (head.batching?.closing === undefined) ledger.batching.put(moved(job, { state: "uploaded", creating_at: null }));
      else dropJob(ledger, head, job);
      return OK;
    case "seen":
      return seen(ledger, head, job, outcome, context);
    case "refused":
      return refused(ledger, head, job, outcome, context);
    case "collected":
      return collected(ledger, head, job, outcome, context);
  }
}

/** The job with its next step at once, or at `due_at`. */
const moved = (job: Job, changes: Partial<Job>): Job => {
  const { full: _, ...rest } = job;
  return { ...rest, refusals: 0, due_at: 0, ...changes };
};

function wrote(ledger: Ledger, head: RunHead, outcome: Told<"wrote">, context: RunContext): Ack {
  const jobs = ledger.batching.jobs();
  if (outcome.job <= newestJob(jobs)) return OK;
  if (head.batching?.closing !== undefined) return LOST;
  const taken = takeUnasked(ledger, head, outcome.units);
  if (taken === null) return OK;
  const asked = without(taken, outcome.ready);
  for (const range of outcome.ready) returnUnits(ledger, head, range);
  const { object, job, place, bytes, requests, bound } = outcome;
  // An object without a unit to ask for would be a job that nothing waits for.
  if (object === null || asked.length === 0) return OK;
  const fresh: Job = {
    job,
    generation: head.generation,
    state: "written",
    place,
    object,
    bytes,
    requests,
    units: unitsIn(asked),
    bound,
    file_id: null,
    creating_at: null,
    batch_id: null,
    submitted_at: null,
    ended_at: null,
    expires_at: null,
    counts: { answered: 0, failed: 0 },
    index: null,
    looks: 0,
    refusals: 0,
    due_at: 0,
  };
  ledger.batching.add(fresh, asked);
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Batch ${job}: ${requests} requests of ${unitsIn(asked)} examples written, ${bytes} bytes`);
  return OK;
}

/** Whether it may be created now: who is told `lost` does not. */
function creating(ledger: Ledger, head: RunHead, job: Job, context: RunContext): Ack {
  const stops = head.batching?.closing !== undefined || head.paused !== undefined;
  if (stops || (job.state !== "uploaded" && job.state !== "creating")) return LOST;
  // Who begins anew has looked for what was begun before, until it could not be there any more: what is there later is this one's.
  ledger.batching.put({ ...job, state: "creating", creating_at: context.now });
  return OK;
}

function submitted(ledger: Ledger, head: RunHead, job: Job, { batch_id, expires_at }: Told<"submitted">, context: RunContext): Ack {
  if (job.batch_id !== null || (job.state !== "creating" && !isUnsent(job))) return OK;
  ledger.batching.put(
    moved(job, {
      state: "submitted",
      batch_id,
      creating_at: null,
      submitted_at: context.now,
      expires_at,
      looks: 0,
      due_at: context.now + lookDelay(0, context),
    }),
  );
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Batch ${job.job}: submitted as ${batch_id}`);
  return OK;
}

/** Wait after so many looks. Milliseconds. */
const lookDelay = (looks: number, { timing }: RunContext): number => Math.min(MOST_LOOK_MS, timing.look * LOOK_GROWTH ** Math.min(looks, 20));

function seen(ledger: Ledger, head: RunHead, job: Job, { state, counts }: Told<"seen">, context: RunContext): Ack {
  if (!isAtWork(job)) return OK;
  if (state === "ended") {
    ledger.batching.put(moved(job, { state, counts, ended_at: context.now }));
    // There is room again.
    for (const other of ledger.batching.jobs()) if (other.full === true) ledger.batching.put({ ...other, due_at: 0 });
    if (head.batching?.write_at !== undefined) head.batching = withoutWait(head.batching);
    markChanged(head, context);
    logEvent(ledger, head, context, "INFO", `Batch ${job.job}: ended, ${counts.answered} answered, ${counts.failed} failed`);
    return OK;
  }
  // One that is asked to stop is looked at often again.
  const looks = state === job.state ? job.looks + 1 : 0;
  ledger.batching.put(moved(job, { state: job.state === "cancelling" ? "cancelling" : state, counts, looks, due_at: context.now + lookDelay(looks, context) }));
  return OK;
}

const withoutWait = ({ write_at: _, ...batching }: NonNullable<RunHead["batching"]>): NonNullable<RunHead["batching"]> => batching;

function refused(ledger: Ledger, head: RunHead, before: Job, { how, failure, batch_id }: Told<"refused">, context: RunContext): Ack {
  // The word of a step that is over.
  if (!isLive(before)) return OK;
  const job = batch_id === undefined && how !== "full" ? before : withoutBatch(before, batch_id);
  if (how === "for-good" || (job.failed?.length ?? 0) >= MOST_FAILED) return endFor(ledger, head, job, failure, context);
  if (how === "missing") {
    ledger.batching.put(moved(job, { state: "dropped" }));
    askAgain(ledger, head, job, ledger.batching.unitsOf(job.job));
    logEvent(ledger, head, context, "WARNING", `Batch ${job.job} is not at its provider any more: ${failure.message}; its requests are asked again`);
    return OK;
  }
  if (isUnsent(job) && head.batching?.closing !== undefined) {
    dropJob(ledger, head, job);
    return OK;
  }
  if (how === "full") return waitForRoom(ledger, head, job, failure, context);
  const wait = Math.max(retryDelay(job.refusals), job.state === "creating" ? lookDelay(0, context) : 0);
  ledger.batching.put({ ...job, refusals: job.refusals + 1, due_at: context.now + wait });
  // The first attempts are told, and then ever fewer.
  if (Number.isInteger(Math.log2(job.refusals + 1)))
    logEvent(ledger, head, context, "WARNING", `Batch ${job.job}: ${failure.message}; tried again in ${Math.ceil(wait / 1_000)} s`);
  return OK;
}

/** As it was before anything of it was at the provider: what is there failed as a whole. */
function withoutBatch(job: Job, batch_id: string | null = job.batch_id): Job {
  const failed = job.failed ?? [];
  const all = batch_id === null || failed.includes(batch_id) ? failed : [...failed, batch_id];
  const state = job.state === "written" ? "written" : "uploaded";
  return { ...job, state, batch_id: null, creating_at: null, submitted_at: null, ...(all.length === 0 ? {} : { failed: all }) };
}

/** It is created when there is room; one that is alone at the provider is too large, and its units are asked in halves. */
function waitForRoom(ledger: Ledger, head: RunHead, job: Job, failure: Failure, context: RunContext): Ack {
  const first = FULL_LOOKS * lookDelay(0, context);
  if (hasOthersAtWork(ledger, job) || job.units === 1) {
    const due_at = context.now + Math.min(MOST_FULL_MS, first * 2 ** Math.min(job.refusals, 10));
    ledger.batching.put({ ...job, refusals: job.refusals + 1, due_at, full: true });
  } else {
    dropJob(ledger, head, job);
    if (head.batching !== undefined) head.batching = { ...head.batching, most_units: Math.max(1, Math.floor(job.units / 2)), write_at: context.now + first };
  }
  markChanged(head, context);
  logEvent(ledger, head, context, "WARNING", `Batch ${job.job}: the provider takes no more now: ${failure.message}`);
  return OK;
}

/** What is there of it stays for a resume; one that failed as a whole is written anew. */
function endFor(ledger: Ledger, head: RunHead, job: Job, failure: Failure, context: RunContext): Ack {
  if (isAtWork(job) || job.state === "ended") ledger.batching.put({ ...job, due_at: 0 });
  else dropJob(ledger, head, job);
  endRun(ledger, head, context, "FAILED", "abort", failure);
  return OK;
}

function collected(ledger: Ledger, head: RunHead, job: Job, outcome: Told<"collected">, context: RunContext): Ack {
  if (job.state !== "ended") return OK;
  const { counts, lost, index } = outcome;
  ledger.batching.put(moved(job, { state: "collected", counts, index, ...(Object.keys(lost).length === 0 ? {} : { lost }) }));
  const again = without(ledger.batching.unitsOf(job.job), outcome.ready);
  for (const range of outcome.ready) returnUnits(ledger, head, range);
  askAgain(ledger, head, job, again);
  markChanged(head, context);
  const lostText = Object.entries(lost).map(([why, requests]) => `, ${requests} ${why}`);
  logEvent(ledger, head, context, "INFO", `Batch ${job.job}: ${counts.answered} answers in storage${lostText.join("")}`);
  return OK;
}

/** Units that lack answers: asked again, or played as they are when they were asked as often as they are. Of a run that ends they stay owed. */
function askAgain(ledger: Ledger, head: RunHead, { generation }: Job, again: readonly AskedRange[]): void {
  const closing = head.batching?.closing !== undefined;
  for (const { lo, hi, tries } of again) {
    const tried = (generation === head.generation ? tries : 0) + 1;
    if (closing) putUnasked(ledger, head, [{ lo, hi, tries }]);
    else if (tried < BATCH_TRIES) putUnasked(ledger, head, [{ lo, hi, tries: tried }]);
    else returnUnits(ledger, head, { lo, hi });
  }
}
