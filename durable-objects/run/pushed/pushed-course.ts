import { differencesOf, differenceText } from "../../../src/pushed/pushed-averages.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { endRun, markChanged, PREPARATIONS_TO_FAIL } from "../course/lifecycle.ts";
import { type PushedHead, hasIntake } from "./pushed-head.ts";

/** Places that stay empty beside each sample, at most: beyond it examples are too uneven for a table of attempts. */
const MOST_EMPTY = 20;
const FEW_PLACES = 100_000;

/** Whether examples are too uneven for a table of attempts. `most`: samples of the largest. */
export function areUneven({ most, examples, samples }: Pick<PushedHead, "most" | "examples" | "samples">): boolean {
  const places = most * examples;
  return places > FEW_PLACES && places > MOST_EMPTY * samples;
}

/** Moves a pushed evaluation on as far as what is stored allows; does nothing to another run. */
export function advancePushed(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (head.pushed === undefined || head.phase !== "open") return;
  if (hasIntake(head.pushed) && (head.lost_preparations ?? 0) >= PREPARATIONS_TO_FAIL) {
    const message = `Reading what was pushed was begun ${head.lost_preparations} times, and each time whoever read it fell silent.`;
    return end(ledger, head, head.pushed, context, "FAILED", { code: "preparation_failed", message, hint: "Push smaller samples." });
  }
  const { closing, unread, placing } = head.pushed;
  if (closing === null || unread > 0) return;
  if (placing === null) beginPlacing(ledger, head, head.pushed, context);
  else if (placing.unit === head.n) finishPlacing(ledger, head, head.pushed, context);
  if (head.phase === "open" && head.n === 0) finishPlacing(ledger, head, head.pushed, context);
}

/** Rows are put into their order from the first one on: what was placed before is of other samples. */
function beginPlacing(ledger: Ledger, head: RunHead, pushed: PushedHead, context: RunContext): void {
  const isUneven = areUneven(pushed);
  const { ungrouped: _, ...grouped } = pushed;
  head.pushed = { ...grouped, ...(isUneven ? { ungrouped: true } : {}), placing: { unit: 0, after: null } };
  head.n = isUneven ? pushed.samples : pushed.examples;
  head.done = 0;
  head.cursor = 0;
  head.totals = emptyTotals();
  head.row_bytes = 0;
  ledger.clearDone();
  const threshold = ledger.pushed.facts().metadata.pass_threshold;
  if (typeof threshold === "number") head.pass_threshold = threshold;
  ledger.putConfig({ ...ledger.config(), num_examples: head.n, rollouts_per_example: Math.max(1, isUneven ? 1 : pushed.most) });
  if (isUneven)
    logEvent(ledger, head, context, "WARNING", `One example has ${pushed.most} of ${pushed.samples} samples: they are not grouped as attempts at examples`);
  markChanged(head, context);
}

function finishPlacing(ledger: Ledger, head: RunHead, pushed: PushedHead, context: RunContext): void {
  for (const difference of differencesOf(ledger.pushed.facts().metrics, head.totals))
    logEvent(ledger, head, context, "WARNING", `The average ${differenceText(difference)}`);
  const { closing = "COMPLETED", message } = pushed;
  const failure: Failure | null = closing === "FAILED" ? { code: "internal", message: message ?? "It failed where it was made." } : null;
  end(ledger, head, pushed, context, closing ?? "COMPLETED", failure);
}

function end(ledger: Ledger, head: RunHead, pushed: PushedHead, context: RunContext, status: RunHead["status"], failure: Failure | null): void {
  head.pushed = { ...pushed, closing: null, placing: null, changed: false };
  delete head.lost_preparations;
  endRun(ledger, head, context, status, "drain", failure);
}
