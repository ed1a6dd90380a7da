import { BATCH_JOB_REQUESTS } from "../../../src/limits.ts";
import { isLoadingHeldUp } from "../grants/loading.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { isAtWork, isHeld, isLive, isUnsent, type Job } from "./job.ts";

/** What is to be done next for a run in batches: the one order in which everything is. */

/** What ends goes first: it makes room for the rest. */
const ORDER = ["release", "collect", "cancel", "look", "find", "create", "upload"] as const;

export type JobStep = (typeof ORDER)[number];
export type Step =
  | { readonly kind: "write" }
  | { readonly kind: JobStep; readonly job: Job }
  /** Nothing before then. */
  | { readonly kind: "wait"; readonly at: number };

/** The step for a job, whenever it is due; null where it has none now. */
function stepOf(job: Job, closing: boolean, paused: boolean): JobStep | null {
  switch (job.state) {
    case "ended":
      return "collect";
    case "submitted":
      return closing ? "cancel" : "look";
    case "cancelling":
      return "look";
    case "creating":
      // What may have begun there is ours to stop.
      return closing || paused ? "find" : "create";
    case "uploaded":
      return closing || paused ? null : "create";
    case "written":
      return closing || paused ? null : "upload";
    case "dropped":
      return isHeld(job) ? "release" : null;
    case "collected":
      return null;
  }
}

/** Null: nothing, until something else happens. Only while the run is open. */
export function nextStep(ledger: Ledger, head: RunHead, context: RunContext): Step | null {
  const { batching, paused } = head;
  if (batching === undefined || head.phase !== "open") return null;
  const jobs = ledger.batching.jobs();
  const live = jobs.filter(isLive);
  const steps = jobs.flatMap((job) => {
    const kind = stepOf(job, batching.closing !== undefined, paused !== undefined);
    return kind === null ? [] : [{ kind, job }];
  });
  const due = steps.filter(({ job }) => job.due_at <= context.now);
  for (const kind of ORDER) {
    const step = due.find((each) => each.kind === kind);
    if (step !== undefined) return step;
  }
  const at = steps.map(({ job }) => job.due_at);
  if (mayWrite(ledger, head, live, context)) {
    const { write_at = 0 } = batching;
    if (write_at <= context.now) return { kind: "write" };
    at.push(write_at);
  }
  return at.length === 0 ? null : { kind: "wait", at: Math.min(...at) };
}

/** One job at a time is made ready for the provider, of as many units as there are: what is still to come is waited for. */
function mayWrite(ledger: Ledger, head: RunHead, live: readonly Job[], context: RunContext): boolean {
  const { batching, paused } = head;
  if (batching === undefined || batching.closing !== undefined || paused !== undefined || batching.unasked === 0) return false;
  if (live.some((job) => isUnsent(job) || job.state === "creating") || isLoadingHeldUp(ledger, head, context)) return false;
  const growing = head.pinning === true || head.repair !== undefined || (head.held ?? 0) > 0;
  return !growing || batching.unasked >= mostUnits(ledger, head);
}

/** Units of one job, at most. */
export function mostUnits(ledger: Ledger, { batching }: RunHead): number {
  const fit = Math.max(1, Math.floor(BATCH_JOB_REQUESTS / ledger.config().rollouts_per_example));
  return Math.min(fit, batching?.most_units ?? fit);
}

/** Whether another job of the run than this one is at the provider: when it ends there is more room. */
export const hasOthersAtWork = (ledger: Ledger, job: Job): boolean => ledger.batching.jobs().some((each) => each.job !== job.job && isAtWork(each));
