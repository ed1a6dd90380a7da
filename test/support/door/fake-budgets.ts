import type { BudgetControl, BudgetLimits, BudgetView } from "../../../durable-objects/budget/budget-control.ts";
import type { KeptBudget, KeptBudgetControl } from "../../../durable-objects/registry/budgets/kept-budget-control.ts";
import { ok, type Result } from "../../../src/errors/result.ts";
import { FakeLimiters } from "./fake-limiters.ts";

/** The budgets that a team keeps, in memory. */
export class FakeBudgets extends FakeLimiters implements KeptBudgetControl {
  readonly keptBudgets = new Map<string, KeptBudget>();

  async listKeptBudgets(): Promise<readonly KeptBudget[]> {
    return [...this.keptBudgets.values()];
  }
  async putKeptBudget({ name, limits, user }: Parameters<KeptBudgetControl["putKeptBudget"]>[0]): Promise<Result<KeptBudget>> {
    const now = 1_700_000_000_000;
    const kept = { name, limits, created_at: now, updated_at: now, updated_by: user };
    this.keptBudgets.set(name, kept);
    return ok(kept);
  }
  async deleteKeptBudget(name: string): Promise<boolean> {
    return this.keptBudgets.delete(name);
  }
}

const NOTHING = { settled: 0, unseen: { calls: 0, amount: 0 } };

/** A Budget that remembers what it was told, and has spent what a test says. */
export class FakeBudget implements BudgetControl {
  limits: BudgetLimits | null = null;
  /** Of every call to `set`, the second argument. */
  readonly before: (number | undefined)[] = [];
  spent: BudgetView["spent"] = { total: NOTHING, day: NOTHING, month: NOTHING };
  batches: { jobs: number; amount: number } | null = null;
  removed = false;

  async exchange(): Promise<never> {
    throw new Error("nobody spends here");
  }
  async job(): Promise<never> {
    throw new Error("nobody spends here");
  }
  async set(limits: BudgetLimits | null, spent?: number): Promise<void> {
    this.limits = limits;
    this.before.push(spent);
  }
  async view(): Promise<BudgetView | null> {
    return this.limits === null ? null : { limits: this.limits, spent: this.spent, allotted: 0, ...(this.batches === null ? {} : { batches: this.batches }) };
  }
  async remove(): Promise<void> {
    this.removed = true;
  }
}
