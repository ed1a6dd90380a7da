import { type BudgetOwner, budgetOwner } from "../../../src/budgets/budget-name.ts";
import { dollarsOf } from "../../../src/budgets/money.ts";
import { nanoText } from "../../../src/report/text/cost-text.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Failure } from "../../../src/errors/result.ts";
import { DEFAULT_TEAM } from "../../../src/teams/team-name.ts";
import { BUDGET_SPANS, type BudgetSpan, type Overspent } from "../../budget/budget-control.ts";
import { liveTicket } from "../grants/tickets.ts";
import type { Ack, OverBudgetRequest } from "../protocol.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { endLastScores } from "./last-scores.ts";
import { endByLimit } from "./lifecycle.ts";

/**
 * Nothing is left in a Budget for the least of what waits. What is generated is scored as far as its scores cost nothing, or others leave something; where
 * that is all that waits, it is scored by a resume.
 */
export function endOverBudget(ledger: Ledger, head: RunHead, request: OverBudgetRequest, context: RunContext): Ack {
  if (liveTicket(ledger, request) === null) return { kind: "lost" };
  if (head.last_scores !== undefined) {
    endLastScores(head);
    logEvent(ledger, head, context, "WARNING", "What is generated is not all scored: nothing is left of the budget for its judges; a resume scores the rest");
  } else if (head.phase === "preparing" || head.phase === "open") {
    endByLimit(ledger, head, context, "CANCELLED", overBudget(ledger.config(), budgetOwner(request.budget), request.over));
  }
  return { kind: "ok" };
}

const SPANS: Readonly<Record<BudgetSpan, string>> = { total: "", day: " of this day (UTC)", month: " of this month (UTC)" };
const WHEN: Readonly<Record<BudgetSpan, string>> = { total: "", day: " when the day is over (00:00 UTC), or", month: " when the month is over (UTC), or" };

function overBudget(config: RunConfig, owner: BudgetOwner, over: Overspent): Failure {
  const { span, limit, settled, unseen } = over;
  const of = SPANS[span];
  // What all teams spend together is the owner's to know.
  const spent = owner.kind === "key" && owner.team === null ? "" : `: ${nanoText(settled)} settled${unseenText(unseen)}`;
  return {
    code: "over_budget",
    message: `${whose(owner)}${spent === "" ? "" : ` ${nanoText(limit)}`}${of} is spent${spent}; results so far are kept.`,
    hint: hintOf(config, owner, over),
  };
}

function whose(owner: BudgetOwner): string {
  if (owner.kind === "run") return "max_cost";
  if (owner.kind === "team") return `The budget of the team ${owner.team},`;
  return owner.team === null
    ? `The budget that the owner of the service has for ${owner.variable}`
    : `The budget of the team ${owner.team} for ${owner.variable},`;
}

function unseenText({ calls, amount }: Overspent["unseen"]): string {
  if (calls === 0 && amount === 0) return "";
  return `, at most ${nanoText(amount)} of ${calls === 1 ? "1 call" : `${calls} calls`} whose end nobody saw`;
}

function hintOf({ env_id, run_id }: RunConfig, owner: BudgetOwner, { span, limit, settled, unseen, beside = {} }: Overspent): string {
  // A limit that was lowered may be below what is spent.
  const more = further(dollarsOf(Math.max(limit, settled + unseen.amount)));
  const resume = `npx edgewise eval run ${env_id} -R ${run_id}`;
  if (owner.kind === "run") return `Go on with: ${resume} --max-cost ${more}`;
  if (owner.kind === "key" && owner.team === null) return `Go on${WHEN[span]} once its owner allows more: ${resume}`;
  const flags = [...(owner.team === DEFAULT_TEAM ? [] : [`--team ${owner.team}`]), ...(owner.kind === "key" ? [`--key ${owner.variable}`] : [])];
  // What is set anew replaces the limits of all spans.
  const kept = BUDGET_SPANS.flatMap((each) => (beside[each] === undefined ? [] : [`--${each} ${dollarsOf(beside[each])}`]));
  const set = ["npx edgewise budget set", ...flags, `--${span} ${more}`, ...kept].join(" ");
  return `Go on${WHEN[span]} with a larger one (${set}): ${resume}`;
}

/** A larger limit to be typed: 8 after 5, 16 after 10. */
const further = (dollars: number): number => Number((dollars * 1.6).toPrecision(2));
