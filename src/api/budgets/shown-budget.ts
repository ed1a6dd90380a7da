import type { BudgetView } from "../../../durable-objects/budget/budget-control.ts";
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
    spent: view === null ? null : { day: shownSpent(view.spent.day), month: shownSpent(view.spent.month), allotted_usd: dollarsOf(view.allotted) },
    updated_at: new Date(updated_at).toISOString(),
    updated_by,
  };
}

export const shownSpent = ({ settled, unseen }: BudgetView["spent"]["day"]) => ({
  settled_usd: dollarsOf(settled),
  unseen_usd: dollarsOf(unseen.amount),
  unseen_calls: unseen.calls,
});
