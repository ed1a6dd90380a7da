import type { BudgetControl } from "../../../durable-objects/budget/budget-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppPorts } from "../app-ports.ts";

/** A fresh stub of a Budget. Throws where the deployment has none: a budget that nobody keeps to is none. */
export function budgetNamed(ports: Pick<AppPorts, "budget">, name: string): BudgetControl {
  const budget = ports.budget(name);
  if (budget !== null) return budget;
  throw new EdgewiseError("not_found", "This deployment has no Budgets: nothing would keep to a limit of what may be spent.", {
    hint: "Take the binding BUDGET and its migration over from the wrangler.toml of this version, export Budget from the main module, and deploy.",
  });
}
