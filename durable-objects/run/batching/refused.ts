import type { Failure } from "../../../src/errors/result.ts";
import { endRun, markChanged } from "../course/lifecycle.ts";
import type { Ack } from "../protocol.ts";
import { retryDelay } from "../sending/wake.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { dropJob } from "./drop-job.ts";
import { isHeld, isLive, isUnsent, type Job } from "./job.ts";
import { askAgain, lookDelay, moved, OK, type Told } from "./moves.ts";
import { hasOthersAtWork } from "./next-step.ts";

/** A step that was not done: when it is tried again, and what becomes of the job meanwhile. */

/** Waits for room at the provider, where nothing else says when there is some: the first in first looks, and the longest. */
const FULL_LOOKS = 3;
const MOST_FULL_MS = 600_000;
/** Batches of one job that may fail as a whole, by what may pass. */
const MOST_FAILED = 8;

/** The first attempts are told, and then ever fewer. */
const isTold = (refusals: number): boolean => Number.isInteger(Math.log2(refusals + 1));

/** No job could be made of what was planned: for want of money, say. */
export function unwritten(ledger: Ledger, head: RunHead, { how, failure }: Told<"refused">, context: RunContext): Ack {
  const { batching } = head;
  if (batching === undefined || how === "for-good") {
    endRun(ledger, head, context, "FAILED", "abort", failure);
    return OK;
  }
  const { write_refusals: before = 0 } = batching;
  const wait = Math.min(MOST_FULL_MS, lookDelay(0, context) * 2 ** Math.min(before, 10));
  head.batching = { ...batching, write_refusals: before + 1, write_at: context.now + wait };
  // That a budget waits for batches under way is its ordinary course.
  const level = failure.code === "over_budget" ? "INFO" : "WARNING";
  if (isTold(before))
    logEvent(ledger, head, context, level, `No batch is written now: ${failure.message}; tried again in ${Math.ceil(wait / 1_000)} s at most`);
  return OK;
}

export function refused(ledger: Ledger, head: RunHead, before: Job, { how, failure, batch_id }: Told<"refused">, context: RunContext): Ack {
  if (!isLive(before)) {
    if (isHeld(before)) ledger.batching.put(how === "for-good" ? { ...before, bound: null } : later(before, retryDelay(before.refusals), context));
    return OK;
  }
  const job = batch_id === undefined && how !== "full" ? before : withoutBatch(before, batch_id);
  if (how === "for-good" || (how === "passing" && (job.failed?.length ?? 0) >= MOST_FAILED)) return endFor(ledger, head, job, failure, context);
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
  ledger.batching.put(later(job, wait, context));
  if (isTold(job.refusals)) logEvent(ledger, head, context, "WARNING", `Batch ${job.job}: ${failure.message}; tried again in ${Math.ceil(wait / 1_000)} s`);
  return OK;
}

const later = (job: Job, wait: number, { now }: RunContext): Job => ({ ...job, refusals: job.refusals + 1, due_at: now + wait });

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
    ledger.batching.put({ ...later(job, Math.min(MOST_FULL_MS, first * 2 ** Math.min(job.refusals, 10)), context), full: true });
  } else {
    dropJob(ledger, head, job);
    if (head.batching !== undefined) head.batching = { ...head.batching, most_units: Math.max(1, Math.floor(job.units / 2)), write_at: context.now + first };
  }
  markChanged(head, context);
  if (isTold(job.refusals)) logEvent(ledger, head, context, "WARNING", `Batch ${job.job}: the provider takes no more now: ${failure.message}`);
  return OK;
}

/** What may be there of it stays for a resume; one of which nothing is there is written anew. */
function endFor(ledger: Ledger, head: RunHead, job: Job, failure: Failure, context: RunContext): Ack {
  if (isUnsent(job)) dropJob(ledger, head, job);
  else ledger.batching.put({ ...job, due_at: 0 });
  endRun(ledger, head, context, "FAILED", "abort", failure);
  return OK;
}
