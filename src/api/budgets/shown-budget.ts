import type { BudgetSpan, BudgetView } from "../../../durable-objects/budget/budget-control.ts";
import type { KeptBudget } from "../../../durable-objects/registry/budgets/kept-budget-control.ts";
import { budgetOwner } from "../../budgets/budget-name.ts";
import { dollarsOf } from "../../budgets/money.ts";

/** A budget as `/budgets` shows it. `view`: null where nothing was spent from it, or it does not answer. */
export function shownBudget({ name, limits, updated_at, updated_by }: KeptBudget, view: BudgetView | null) {
  const owner = budgetOwner(name);
  const key = owner.kind === "key" ? owner : null;
  return {
    of: key === null ? "team" : key.team === null ? "everybody" : "key",
    team: owner.kind === "run" ? null : owner.team,
    api_key_var: key?.variable ?? null,
    limits,
    spent: view === null ? null : { day: shownSpent(view, "day"), month: shownSpent(view, "month"), allotted_usd: dollarsOf(view.allotted) },
    updated_at: new Date(updated_at).toISOString(),
    updated_by,
  };
}

/** Of one span; what is held for batches is so in each. */
export function shownSpent({ spent, batches }: BudgetView, span: BudgetSpan) {
  const { settled, unseen } = spent[span];
  return {
    settled_usd: dollarsOf(settled),
    unseen_usd: dollarsOf(unseen.amount),
    unseen_calls: unseen.calls,
    ...(batches === undefined || batches.jobs === 0 ? {} : { batches_usd: dollarsOf(batches.amount), batches: batches.jobs }),
  };
}
