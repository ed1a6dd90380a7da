import type { RunReport } from "../../monitor/monitor-control.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { isSuspended } from "../grants/offers.ts";
import { endedBy } from "../course/ended-by.ts";
import { retryDelay } from "./wake.ts";

export interface ReportOutcome {
  readonly kind: RunReport["kind"];
  /** `gone`: there is no such monitor. */
  readonly outcome: "taken" | "gone";
}

/**
 * What the monitor is to be told now, if anything: at once when the run begins to work, by the clock while it does and has not stalled, and how it ended. The
 * end is repeated until it was heard; a word by the clock is not, since the next one says as much. A run whose command died says nothing: it is lost.
 */
export function keepReport(ledger: Ledger, head: RunHead, context: RunContext): RunReport | null {
  const config = ledger.config();
  if (config.monitor === undefined || head.watch?.gone === true) return null;
  const watch = head.watch ?? { alive: false, next_at: context.now, owed: null };
  if (isWorking(ledger, head, context)) {
    const due = !watch.alive || (context.now >= watch.next_at && head.pulse?.stalled !== true);
    if (due) head.watch = { alive: true, next_at: context.now + context.timing.heartbeat, owed: null };
    return due ? { kind: "beat" } : null;
  }
  const kind = watch.alive ? endOf(head) : (watch.owed?.kind ?? null);
  if (kind === null) {
    if (watch.alive) head.watch = { ...watch, alive: false };
    return null;
  }
  const { tries, retry_at } = watch.owed ?? { tries: 0, retry_at: context.now };
  const due = context.now >= retry_at;
  const owed = due ? { kind, tries: tries + 1, retry_at: context.now + retryDelay(tries + 1) } : { kind, tries, retry_at };
  head.watch = { ...watch, alive: false, owed };
  return due ? reportOf(kind, config.run_id, head) : null;
}

const isWorking = (ledger: Ledger, head: RunHead, context: RunContext): boolean =>
  (head.phase === "preparing" || head.phase === "open") && !isSuspended(ledger.config(), head, context);

/** Null: nobody ended it, its command is gone. */
function endOf({ status, interrupted, failure }: RunHead): "done" | "failed" | null {
  if (status === "FAILED" || status === "TIMEOUT" || endedBy(failure) !== null) return "failed";
  return status === "COMPLETED" || status === "CANCELLED" || interrupted ? "done" : null;
}

function reportOf(kind: "done" | "failed", runId: string, { status, failure }: RunHead): RunReport {
  if (kind === "done") return { kind };
  return { kind, reason: `run ${runId} ended ${status}${failure === null ? "" : ` (${failure.code})`}` };
}

/** What became of a report. */
export function reported(ledger: Ledger, head: RunHead, { kind, outcome }: ReportOutcome, context: RunContext): null {
  if (head.watch === undefined) return null;
  if (outcome === "gone") {
    logEvent(ledger, head, context, "WARNING", `The monitor ${ledger.config().monitor?.name ?? ""} is deleted: nobody watches the run`);
    head.watch = { ...head.watch, owed: null, gone: true };
  } else if (head.watch.owed?.kind === kind) head.watch = { ...head.watch, owed: null };
  return null;
}

/** Whether the outcome changes anything that is stored. */
export const isReportNews = ({ kind, outcome }: ReportOutcome): boolean => outcome === "gone" || kind !== "beat";
