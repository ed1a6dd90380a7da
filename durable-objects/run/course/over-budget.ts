import { type BudgetOwner, budgetOwner } from "../../../src/budgets/budget-name.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { BudgetSpan, Overspent } from "../../budget/budget-control.ts";
import { largerBudget, largerLimit, overspentText } from "../../budget/overspent-text.ts";
import { liveTicket } from "../grants/tickets.ts";
import type { Ack, OverBudgetRequest } from "../protocol.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { beginClosing, lacksMoney } from "../batching/closing.ts";
import { endLastScores } from "./last-scores.ts";
import { endByLimit } from "./lifecycle.ts";

/**
 * Nothing is left in a Budget for the least of what waits. What is generated is scored as far as its scores cost nothing, or others leave something; where
 * that is all that waits, it is scored by a resume.
 */
export function endOverBudget(ledger: Ledger, head: RunHead, request: OverBudgetRequest, context: RunContext): Ack {
  const ticket = liveTicket(ledger, request);
  if (ticket === null) return { kind: "lost" };
  if (head.last_scores !== undefined) {
    endLastScores(head);
    logEvent(ledger, head, context, "WARNING", "What is generated is not all scored: nothing is left of the budget for its judges; a resume scores the rest");
  } else if (head.phase === "preparing" || head.phase === "open") {
    const failure = overBudget(ledger.config(), budgetOwner(request.budget), request.over);
    const isClosing = head.batching?.closing !== undefined || beginClosing(ledger, head, { why: "budget", failure }, context);
    if (!isClosing) endByLimit(ledger, head, context, "CANCELLED", failure);
    else if (ticket.task.kind === "units") lacksMoney(head);
  }
  return { kind: "ok" };
}

const WHEN: Readonly<Record<BudgetSpan, string>> = { total: "", day: " when the day is over (00:00 UTC), or", month: " when the month is over (UTC), or" };

const overBudget = (config: RunConfig, owner: BudgetOwner, over: Overspent): Failure => ({
  code: "over_budget",
  message: `${overspentText(owner, over)}; results so far are kept.`,
  hint: hintOf(config, owner, over),
});

function hintOf({ env_id, run_id }: RunConfig, owner: BudgetOwner, over: Overspent): string {
  const resume = `npx edgewise eval run ${env_id} -R ${run_id}`;
  if (owner.kind === "run") return `Go on with: ${resume} --max-cost ${largerLimit(over)}`;
  const larger = largerBudget(owner, over);
  const when = WHEN[over.span];
  return larger === null ? `Go on${when} once its owner allows more: ${resume}` : `Go on${when} with a larger one (${larger}): ${resume}`;
}
