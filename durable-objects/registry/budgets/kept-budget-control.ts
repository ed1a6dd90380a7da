import type { KeptLimits } from "../../../src/budgets/kept-limits.ts";
import type { Result } from "../../../src/errors/result.ts";

/** A budget that a team's Registry keeps: of the team, of one of its keys, or, in that of the default team alone, of a key for every team. Times are Unix milliseconds. */
export interface KeptBudget {
  /** Of its Budget (src/budgets/budget-name.ts). */
  readonly name: string;
  readonly limits: KeptLimits;
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

export interface KeptBudgetControl {
  /** By their names. */
  listKeptBudgets(): Promise<readonly KeptBudget[]>;
  /** In the place of what had the name. The same once more changes nothing. */
  putKeptBudget(put: { readonly name: string; readonly limits: KeptLimits; readonly user: string }): Promise<Result<KeptBudget>>;
  /** False where there was none. */
  deleteKeptBudget(name: string): Promise<boolean>;
}
