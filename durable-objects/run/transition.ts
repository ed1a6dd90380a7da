import { codeChange } from "../../src/config/env-digest.ts";
import { loweredText } from "../../src/teams/admission.ts";
import { fail, ok, type Result } from "../../src/errors/result.ts";
import { emptyTotals } from "../../src/metrics/totals.ts";
import type { BatchPlanRequest, BatchToldRequest } from "./batching/batching-protocol.ts";
import { advanceBatches, refreshBatching } from "./batching/closing.ts";
import { batchPlan } from "./batching/plan.ts";
import { batchTold } from "./batching/told.ts";
import { adopt, adopted, inputs } from "./course/adoption.ts";
import { claim } from "./grants/claims.ts";
import { keepWaiting, otherCode } from "./grants/code-wait.ts";
import { noteSandbox } from "./grants/sandboxes.ts";
import { commit } from "./grants/commits.ts";
import type { RunContext } from "./state/context.ts";
import type { CreateRequest, HubPushOutcome } from "./control.ts";
import { logEvent } from "./state/events.ts";
import { finalised, part, sorted, upload, window } from "./course/finalise.ts";
import { newHead, newPushedHead, type RunHead } from "./state/head.ts";
import { alertsTold, noteOccurrences } from "./sending/alerts.ts";
import { type HeartbeatOutcome, heartbeatSent, keepPulse } from "./sending/heartbeat.ts";
import { hubPushed } from "./sending/hub-push.ts";
import type { Ledger } from "./state/ledger.ts";
import { advance, showProgress } from "./course/lifecycle.ts";
import { refreshOffer } from "./grants/offers.ts";
import { keepReport, reported, type ReportOutcome } from "./sending/monitor-report.ts";
import { announced, offered, type Outbox, projected, takeOutbox, withReport } from "./sending/outbox.ts";
import { type LookedAtPrepared, prepared } from "./course/preparation.ts";
import { merged, mergePlan } from "./course/merging.ts";
import { endOverBudget } from "./course/over-budget.ts";
import { indexed, intake, placed } from "./pushed/intake.ts";
import { advancePushed } from "./pushed/pushed-course.ts";
import type { BatchRequest, ClosingRequest, IndexedRequest, PlacedRequest } from "./pushed/pushed-protocol.ts";
import { closePushed, describePushed, pushBatch } from "./pushed/pushing.ts";
import type { PushedChanges } from "../../src/pushed/pushed-facts.ts";
import type * as P from "./protocol.ts";
import { cancel, failRun, interrupt, note, share } from "./grants/requests.ts";
import { repairSlice } from "./course/repair.ts";
import { type CountedResume, resume } from "./course/resume.ts";
import { moveWithClock } from "./course/set-back.ts";
import { type SweepOutcome, swept } from "./course/sweep.ts";
import { beat, join, lapseTickets, leave, liveTicket } from "./grants/tickets.ts";
import { steer } from "./steering/steer.ts";
import type { SteerRequest } from "./steering/steer-request.ts";
import { watchRun } from "./stopping/watching.ts";
import { clearBackoff } from "./sending/wake.ts";

/**
 * Every change of a run, by name. Each is a pure function of the ledger, its argument and the context, and runs in one
 * transaction between the same two frames: what is overdue happens first (lapses, the time limit), and at the end the run moves
 * on as far as it can and its offer is computed again.
 */
export const TRANSITIONS = {
  join: (ledger: Ledger, head: RunHead, request: P.JoinRequest, context: RunContext) => join(ledger, head, request, context),
  claim: (ledger: Ledger, head: RunHead, request: P.ClaimRequest, context: RunContext) => claim(ledger, head, request, context),
  commit: (ledger: Ledger, head: RunHead, request: P.CommitRequest, context: RunContext) => commit(ledger, head, request, context),
  beat: (ledger: Ledger, head: RunHead, request: P.BeatRequest, context: RunContext) => beat(ledger, head, request, context),
  leave: (ledger: Ledger, head: RunHead, request: P.LeaveRequest): P.Ack => {
    leave(ledger, head, request);
    return { kind: "ok" };
  },
  prepared: (ledger: Ledger, head: RunHead, request: LookedAtPrepared, context: RunContext) => prepared(ledger, head, request, context),
  inputs: (ledger: Ledger, head: RunHead, request: P.TicketId) => inputs(ledger, head, request),
  adopt: (ledger: Ledger, head: RunHead, request: P.AdoptRequest, context: RunContext) => adopt(ledger, head, request, context),
  adopted: (ledger: Ledger, head: RunHead, request: P.TicketId, context: RunContext) => adopted(ledger, head, request, context),
  note: (ledger: Ledger, head: RunHead, request: P.NoteRequest, context: RunContext) => note(ledger, head, request, context),
  otherCode: (ledger: Ledger, head: RunHead, request: P.OtherCodeRequest, context: RunContext) => otherCode(ledger, head, request, context),
  fail: (ledger: Ledger, head: RunHead, request: P.FailRequest, context: RunContext) => failRun(ledger, head, request, context),
  endOverBudget: (ledger: Ledger, head: RunHead, request: P.OverBudgetRequest, context: RunContext) => endOverBudget(ledger, head, request, context),
  sandbox: (ledger: Ledger, head: RunHead, request: P.SandboxRequest) => noteSandbox(head, liveTicket(ledger, request), request),
  mergePlan: (ledger: Ledger, head: RunHead, request: P.MergePlanRequest, context: RunContext) => mergePlan(ledger, head, request, context),
  merged: (ledger: Ledger, head: RunHead, request: P.MergedRequest) => merged(ledger, head, request),
  intake: (ledger: Ledger, head: RunHead, request: P.TicketId) => intake(ledger, head, request),
  indexed: (ledger: Ledger, head: RunHead, request: IndexedRequest, context: RunContext) => indexed(ledger, head, request, context),
  placed: (ledger: Ledger, head: RunHead, request: PlacedRequest, context: RunContext) => placed(ledger, head, request, context),
  pushBatch: (ledger: Ledger, head: RunHead, request: BatchRequest, context: RunContext) => pushBatch(ledger, head, request, context),
  describePushed: (ledger: Ledger, head: RunHead, changes: PushedChanges, context: RunContext) => describePushed(ledger, head, changes, context),
  closePushed: (ledger: Ledger, head: RunHead, request: ClosingRequest, context: RunContext) => closePushed(ledger, head, request, context),
  batchPlan: (ledger: Ledger, head: RunHead, request: BatchPlanRequest, context: RunContext) => batchPlan(ledger, head, request, context),
  batchTold: (ledger: Ledger, head: RunHead, request: BatchToldRequest, context: RunContext) => batchTold(ledger, head, request, context),
  window: (ledger: Ledger, head: RunHead, request: P.TicketId) => window(ledger, head, request),
  sorted: (ledger: Ledger, head: RunHead, request: P.SortedRequest) => sorted(ledger, head, request),
  upload: (ledger: Ledger, head: RunHead, request: P.UploadRequest) => upload(ledger, head, request),
  part: (ledger: Ledger, head: RunHead, request: P.PartRequest) => part(ledger, head, request),
  finalised: (ledger: Ledger, head: RunHead, request: P.FinalisedRequest, context: RunContext) => finalised(ledger, head, request, context),
  cancel: (ledger: Ledger, head: RunHead, _request: null, context: RunContext) => cancel(ledger, head, context),
  interrupt: (ledger: Ledger, head: RunHead, _request: null, context: RunContext) => interrupt(ledger, head, context),
  steer: (ledger: Ledger, head: RunHead, request: SteerRequest, context: RunContext) => steer(ledger, head, request, context),
  share: (_ledger: Ledger, head: RunHead, digest: string | null, context: RunContext) => share(head, digest, context),
  resume: (ledger: Ledger, head: RunHead, request: CountedResume, context: RunContext) => resume(ledger, head, request, context),
  offered: (_ledger: Ledger, head: RunHead, seq: number) => offered(head, seq),
  projected: (_ledger: Ledger, head: RunHead, version: number) => projected(head, version),
  heartbeat: (ledger: Ledger, head: RunHead, outcome: HeartbeatOutcome, context: RunContext) => heartbeatSent(ledger, head, outcome, context),
  reported: (ledger: Ledger, head: RunHead, outcome: ReportOutcome, context: RunContext) => reported(ledger, head, outcome, context),
  /** Both in one row: a run that settles tells both. */
  projectedAndTold: (_ledger: Ledger, head: RunHead, { version, told }: { readonly version: number; readonly told: readonly string[] }) => {
    projected(head, version);
    return alertsTold(head, told);
  },
  alertsTold: (_ledger: Ledger, head: RunHead, ids: readonly string[]) => alertsTold(head, ids),
  hubPushed: (ledger: Ledger, head: RunHead, outcome: HubPushOutcome, context: RunContext) => hubPushed(ledger, head, outcome, context),
  swept: (_ledger: Ledger, head: RunHead, outcome: SweepOutcome, context: RunContext): null => swept(head, outcome, context),
  /** Nothing but the frames: what the alarm does. */
  wake: (): null => null,
  /** Watchdog, dead-letter queue: the frames, and everything is announced again to whoever may have forgotten. Changes nothing else. */
  poke: (_ledger: Ledger, head: RunHead, _request: null, context: RunContext): null => {
    showProgress(head, context);
    return null;
  },
} as const;

export type TransitionName = keyof typeof TRANSITIONS;
/** Argument of a transition; its first two parameters are the ledger and the head. */
export type Request<N extends TransitionName> = (typeof TRANSITIONS)[N] extends (ledger: Ledger, head: RunHead, request: infer R, ...rest: never[]) => unknown
  ? unknown extends R
    ? null
    : R
  : null;
export type Answer<N extends TransitionName> = ReturnType<(typeof TRANSITIONS)[N]>;

/** Runs one transition on a run that exists; `null` when it does not (the caller answers `gone`, nothing is written). */
export function transit<N extends TransitionName>(
  ledger: Ledger,
  name: N,
  request: Request<N>,
  context: RunContext,
): { answer: Answer<N>; outbox: Outbox } | null {
  const head = ledger.head();
  if (head === null) return null;
  const before = JSON.stringify(head);
  const { status, phase, done } = head;
  moveWithClock(ledger, head, context);
  lapseTickets(ledger, head, context);
  clearBackoff(head, context);
  keepWaiting(ledger, head, context);
  advanceBatches(ledger, head, context);
  advance(ledger, head, context);
  const step = TRANSITIONS[name] as unknown as (ledger: Ledger, head: RunHead, request: Request<N>, context: RunContext) => Answer<N>;
  const answer = step(ledger, head, request, context);
  repairSlice(ledger, head, context);
  watchRun(ledger, head, done, context);
  advancePushed(ledger, head, context);
  advanceBatches(ledger, head, context);
  advance(ledger, head, context);
  refreshBatching(ledger, head, context);
  // Before the offer: what it logs is an event, and so many events want a merger.
  const heartbeat = keepPulse(ledger, head, { status, phase, done }, context);
  noteOccurrences(ledger, head, { status, phase, done }, context);
  refreshOffer(ledger, head, context);
  const due = withReport(takeOutbox(head, heartbeat, context), keepReport(ledger, head, context));
  const outbox = name === "poke" ? announced(head, due) : due;
  if (JSON.stringify(head) !== before) {
    head.updated_at = context.now;
    ledger.putHead(head);
  }
  return { answer, outbox };
}

/** First transaction of a run. Creating it again with the same configuration is harmless (a lost answer). */
export function create(ledger: Ledger, request: CreateRequest, context: RunContext): Result<Outbox> {
  if (ledger.head() !== null) {
    const same = JSON.stringify(ledger.config()) === JSON.stringify(request.config);
    return same ? ok({ offer: null, projection: null, heartbeat: null }) : fail("illegal_transition", "A run with this id exists already.");
  }
  const { pushed } = request;
  const head =
    pushed === undefined
      ? newHead(request.config, request.boot, request.import, emptyTotals(), context.now)
      : newPushedHead(request.config, request.boot, emptyTotals(), context.now);
  ledger.putConfig(request.config);
  if (pushed !== undefined) ledger.pushed.create(pushed);
  const { env_id, model, run_id, schedule, evaluator } = request.config;
  logEvent(ledger, head, context, "INFO", `Run ${run_id} created: ${env_id}, ${model}`);
  if (schedule !== undefined) logEvent(ledger, head, context, "INFO", `Made by the schedule ${schedule.name}, due ${new Date(schedule.due_at).toISOString()}`);
  if (evaluator !== undefined)
    logEvent(ledger, head, context, "INFO", `Made by the evaluator ${evaluator.name}, step ${evaluator.step}, evaluation ${evaluator.evaluation}`);
  const [before, offered] = head.env_digests?.slice(-2) ?? [];
  if (request.import?.code_changed === true && before !== undefined && offered !== undefined)
    logEvent(ledger, head, context, "WARNING", codeChange(before, offered));
  if (request.lowered_from !== undefined) logEvent(ledger, head, context, "WARNING", loweredText(request.config.max_concurrent, request.lowered_from));
  const heartbeat = keepPulse(ledger, head, head, context);
  refreshOffer(ledger, head, context);
  const outbox = withReport(takeOutbox(head, heartbeat, context), keepReport(ledger, head, context));
  ledger.putHead(head);
  return ok(outbox);
}
