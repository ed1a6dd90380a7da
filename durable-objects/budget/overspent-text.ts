import type { BudgetOwner } from "../../src/budgets/budget-name.ts";
import { dollarsOf } from "../../src/budgets/money.ts";
import { nanoText } from "../../src/report/text/cost-text.ts";
import { DEFAULT_TEAM } from "../../src/teams/team-name.ts";
import { BUDGET_SPANS, type BudgetSpan, type Overspent } from "./budget-control.ts";

/** A Budget that has nothing left, in words. */

const SPANS: Readonly<Record<BudgetSpan, string>> = { total: "", day: " of this day (UTC)", month: " of this month (UTC)" };

/** Whose it is, how much of it there was, and what became of that: a sentence without its end. */
export function overspentText(owner: BudgetOwner, { span, limit, settled, unseen }: Overspent): string {
  const of = SPANS[span];
  // What all teams spend together is the owner's to know.
  const isSecret = owner.kind === "key" && owner.team === null;
  return `${whose(owner)}${isSecret ? "" : ` ${nanoText(limit)}`}${of} is spent${isSecret ? "" : `: ${nanoText(settled)} settled${unseenText(unseen)}`}`;
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

/** The command that sets a larger one; null where it is the owner's of the service, or a run's. */
export function largerBudget(owner: BudgetOwner, over: Overspent): string | null {
  if (owner.kind === "run" || owner.team === null) return null;
  const flags = [...(owner.team === DEFAULT_TEAM ? [] : [`--team ${owner.team}`]), ...(owner.kind === "key" ? [`--key ${owner.variable}`] : [])];
  // What is set anew replaces the limits of all spans.
  const { span, beside = {} } = over;
  const kept = BUDGET_SPANS.flatMap((each) => (beside[each] === undefined ? [] : [`--${each} ${dollarsOf(beside[each])}`]));
  return ["npx edgewise budget set", ...flags, `--${span} ${largerLimit(over)}`, ...kept].join(" ");
}

/** In dollars, to be typed: 8 after 5, 16 after 10. A limit that was lowered may be below what is spent. */
export const largerLimit = ({ limit, settled, unseen }: Overspent): number =>
  Number((dollarsOf(Math.max(limit, settled + unseen.amount)) * 1.6).toPrecision(2));
