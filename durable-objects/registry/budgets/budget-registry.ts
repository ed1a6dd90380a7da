import type { Env } from "../../../src/env.ts";
import type { Result } from "../../../src/errors/result.ts";
import { steadyNow } from "../../../src/steady-clock.ts";
import { LimiterRegistry } from "../limiters/limiter-registry.ts";
import type { KeptBudget, KeptBudgetControl } from "./kept-budget-control.ts";
import { KeptBudgetStore } from "./kept-budget-store.ts";

/** The part of a team's Registry that knows what the team, and whoever uses its keys, may spend. */
export abstract class BudgetRegistry extends LimiterRegistry implements KeptBudgetControl {
  readonly #budgets: KeptBudgetStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#budgets = new KeptBudgetStore(ctx.storage);
  }

  async listKeptBudgets(): Promise<readonly KeptBudget[]> {
    return this.#kept().all();
  }
  async putKeptBudget(put: Parameters<KeptBudgetControl["putKeptBudget"]>[0]): Promise<Result<KeptBudget>> {
    return this.#kept().put(put, steadyNow());
  }
  async deleteKeptBudget(name: string): Promise<boolean> {
    return this.#kept().remove(name);
  }

  #kept(): KeptBudgetStore {
    this.opened();
    return this.#budgets;
  }
}
