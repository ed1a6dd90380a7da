import { markChanged } from "../course/lifecycle.ts";
import { returnUnits } from "../grants/pending.ts";
import type { Ack } from "../protocol.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { BatchToldRequest } from "./batching-protocol.ts";
import { dropJob } from "./drop-job.ts";
import { isAtWork, isHeld, isUnsent, type Job, unitsIn } from "./job.ts";
import { askAgain, LOST, lookDelay, moved, OK, type Told, writesAtOnce } from "./moves.ts";
import { carrying, newestJob } from "./plan.ts";
import { refused, unwritten } from "./refused.ts";
import { putUnasked, takeUnasked } from "./unasked.ts";
import { without } from "./without.ts";

/** What became of a step. A repeat of what is known changes nothing. */
export function batchTold(ledger: Ledger, head: RunHead, request: BatchToldRequest, context: RunContext): Ack {
  if (carrying(ledger, head, request) === null) return LOST;
  const { outcome } = request;
  // Who asks the provider, and hears of it, is alive, however long it takes there.
  if (head.pulse !== undefined) head.pulse = { ...head.pulse, progressed_at: context.now };
  delete head.lost_preparations;
  if (outcome.kind === "wrote") return wrote(ledger, head, outcome, context);
  const job = ledger.batching.jobs().find((each) => each.job === outcome.job);
  if (job === undefined) return outcome.kind === "refused" ? unwritten(ledger, head, outcome, context) : LOST;
  switch (outcome.kind) {
    case "uploaded":
      if (job.state === "written") ledger.batching.put(moved(job, { state: "uploaded", file_id: outcome.file_id }));
      return OK;
    case "creating":
      return creating(ledger, head, job, context);
    case "submitted":
      return submitted(ledger, head, job, outcome, context);
    case "released":
      if (isHeld(job)) ledger.batching.put({ ...job, bound: null });
      return OK;
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

function wrote(ledger: Ledger, head: RunHead, outcome: Told<"wrote">, context: RunContext): Ack {
  const jobs = ledger.batching.jobs();
  if (outcome.job <= newestJob(jobs)) return OK;
  if (head.batching?.closing !== undefined) return LOST;
  const taken = takeUnasked(ledger, head, outcome.units);
  if (taken === null) return OK;
  const asked = without(taken, outcome.ready);
  for (const range of outcome.ready) returnUnits(ledger, head, range);
  const { object, job, place, bytes, requests, bound } = outcome;
  writesAtOnce(head);
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
    ...(outcome.cut === true ? { cut: true as const } : {}),
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

function seen(ledger: Ledger, head: RunHead, job: Job, { state, counts }: Told<"seen">, context: RunContext): Ack {
  if (!isAtWork(job)) return OK;
  if (state === "ended") {
    ledger.batching.put(moved(job, { state, counts, ended_at: context.now }));
    // There is room again.
    for (const other of ledger.batching.jobs()) if (other.full === true) ledger.batching.put({ ...other, due_at: 0 });
    writesAtOnce(head);
    markChanged(head, context);
    logEvent(ledger, head, context, "INFO", `Batch ${job.job}: ended, ${counts.answered} answered, ${counts.failed} failed`);
    return OK;
  }
  // One that is asked to stop is looked at often again.
  const looks = state === job.state ? job.looks + 1 : 0;
  ledger.batching.put(moved(job, { state: job.state === "cancelling" ? "cancelling" : state, counts, looks, due_at: context.now + lookDelay(looks, context) }));
  return OK;
}

function collected(ledger: Ledger, head: RunHead, job: Job, outcome: Told<"collected">, context: RunContext): Ack {
  if (job.state !== "ended") return OK;
  const { counts, lost, index } = outcome;
  ledger.batching.put(moved(job, { state: "collected", counts, index, ...(Object.keys(lost).length === 0 ? {} : { lost }) }));
  const units = ledger.batching.unitsOf(job.job);
  // What it did not cost is there again.
  writesAtOnce(head);
  // What of its unit is in no job yet is asked then, beside what was lost: each such job brings an answer, so that they come to an end.
  if (job.cut === true && counts.answered + counts.failed > 0) putUnasked(ledger, head, units);
  else {
    const ready = job.cut === true ? [] : outcome.ready;
    for (const range of ready) returnUnits(ledger, head, range);
    askAgain(ledger, head, job, without(units, ready));
  }
  markChanged(head, context);
  const lostText = Object.entries(lost).map(([why, requests]) => `, ${requests} ${why}`);
  logEvent(ledger, head, context, "INFO", `Batch ${job.job}: ${counts.answered} answers in storage${lostText.join("")}`);
  return OK;
}
