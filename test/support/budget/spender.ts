import { BUDGET_PROTOCOL, type BudgetRequest } from "../../../durable-objects/budget/budget-control.ts";

const NOTHING = { settled: 0, unseen: { calls: 0, amount: 0 }, reserved: 0, in_flight: 0, free: 0, wants: 0, least: null, leaves: false };

/** An executor as a Budget sees it: what it says is given, its number goes up by itself. */
export class Spender {
  readonly name: string;
  readonly life: Pick<BudgetRequest, "boot" | "runtime">;
  #seq = 0;

  constructor(name: string, life: Partial<Pick<BudgetRequest, "boot" | "runtime">> = {}) {
    this.name = name;
    this.life = { boot: "b", runtime: "r", ...life };
  }

  says(what: Partial<BudgetRequest> = {}): BudgetRequest {
    this.#seq++;
    return this.again(what);
  }

  /** Under the same number. */
  again(what: Partial<BudgetRequest> = {}): BudgetRequest {
    return { protocol: BUDGET_PROTOCOL, executor: this.name, ...this.life, seq: this.#seq, ...NOTHING, ...what };
  }
}

/** What an executor says whose calls wait: so many, of one bound. */
export const waiting = (calls: number, bound: number): Pick<BudgetRequest, "wants" | "least"> => ({ wants: calls * bound, least: bound });
