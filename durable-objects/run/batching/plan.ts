import { liveTicket } from "../grants/tickets.ts";
import { redosOf } from "../grants/redos.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import type { TicketId, UnitRange } from "../protocol.ts";
import type { BatchPlan, BatchPlanRequest } from "./batching-protocol.ts";
import type { Job } from "./job.ts";
import { answersFor } from "./known-answers.ts";
import { type JobStep, mostUnits, nextStep } from "./next-step.ts";
import { nextUnasked } from "./unasked.ts";

/** The live grant that carries batches, named by a request. */
export function carrying(ledger: Ledger, head: RunHead, request: TicketId): Ticket | null {
  const ticket = liveTicket(ledger, request);
  return ticket !== null && ticket.task.kind === "batch" && head.phase === "open" && head.batching !== undefined ? ticket : null;
}

/** What is to be done next; the same until it is told what became of it, or it is due no more. */
export function batchPlan(ledger: Ledger, head: RunHead, request: BatchPlanRequest, context: RunContext): BatchPlan {
  if (carrying(ledger, head, request) === null) return { kind: "lost" };
  const step = nextStep(ledger, head, context);
  if (step === null) return { kind: "none" };
  if (step.kind === "wait") return { kind: "wait", until_ms: Math.max(0, step.at - context.now) };
  if (step.kind === "write") return writing(ledger, head);
  return planOf(ledger, head, step.kind, step.job);
}

function writing(ledger: Ledger, head: RunHead): BatchPlan {
  const jobs = ledger.batching.jobs();
  const units = nextUnasked(ledger, head, mostUnits(ledger, head));
  return {
    kind: "write",
    job: newestJob(jobs) + 1,
    first: !jobs.some(({ generation }) => generation === head.generation),
    units,
    chunks: chunksOf(ledger, units),
    ...about(ledger, head, units),
  };
}

export const newestJob = (jobs: readonly Job[]): number => jobs.at(-1)?.job ?? 0;

function chunksOf(ledger: Ledger, units: readonly UnitRange[]) {
  const chunks = new Map(units.flatMap((range) => ledger.chunksIn(range)).map((chunk) => [chunk.lo, chunk]));
  return [...chunks.values()];
}

/** What of these units need not be asked. */
const about = (ledger: Ledger, head: RunHead, units: readonly UnitRange[]) => ({
  redo: units.flatMap((range) => redosOf(ledger, head, range)),
  pieces: units.flatMap((range) => ledger.piecesIn(range)),
  known: answersFor(ledger, head, units),
});

function planOf(ledger: Ledger, head: RunHead, kind: JobStep, job: Job): BatchPlan {
  const { job: number, place, object, bytes, requests, file_id, creating_at } = job;
  if (kind === "release") return { kind, job: number, place };
  if (kind === "upload") return { kind, job: number, place, object, bytes };
  if (kind === "create" || kind === "find") {
    const others = ledger.batching.jobs().flatMap((each) => (each.job === number || each.batch_id === null ? [] : [each.batch_id]));
    const taken = [...others, ...(job.failed ?? [])];
    return {
      kind: "create",
      job: number,
      place,
      object,
      bytes,
      requests,
      file_id,
      creating_at,
      bound: job.bound,
      ...(kind === "find" ? { find_only: true as const } : {}),
      taken,
    };
  }
  // Of one that is at the provider it is known.
  const batch_id = job.batch_id ?? "";
  if (kind !== "collect") return { kind, job: number, place, batch_id };
  const units = ledger.batching.unitsOf(number);
  return { kind, job: number, place, batch_id, object, requests, units: units.map(({ lo, hi }) => ({ lo, hi })), ...about(ledger, head, units) };
}
