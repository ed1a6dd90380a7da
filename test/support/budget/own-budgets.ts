import type { BudgetControl, BudgetLimits, BudgetView, JobRequest } from "../../../durable-objects/budget/budget-control.ts";
import { Ledger } from "../../../durable-objects/budget/ledger.ts";

/** Budgets by their names, each with its ledger as shipped, as an executor reaches them. */
export class OwnBudgets {
  readonly ledgers = new Map<string, Ledger>();
  readonly said: JobRequest[] = [];
  readonly #now: () => number;
  /** Answers that are lost on their way, after they were counted. */
  answersLost = 0;

  constructor(budgets: Readonly<Record<string, BudgetLimits>>, now: () => number = Date.now) {
    this.#now = now;
    for (const [name, limits] of Object.entries(budgets)) {
      const ledger = new Ledger(null, now());
      ledger.set(limits, 0, now());
      this.ledgers.set(name, ledger);
    }
  }

  readonly stub = (name: string): Pick<BudgetControl, "exchange" | "job"> | null => {
    const ledger = this.ledgers.get(name);
    if (ledger === undefined) return null;
    return {
      exchange: async (request) => ledger.exchange(request, this.#now()),
      job: async (request) => {
        this.said.push(request);
        const answer = ledger.job(structuredClone(request), this.#now());
        if (this.answersLost-- > 0) throw new Error("Network connection lost.");
        return answer;
      },
    };
  };

  view(name: string): BudgetView {
    const view = this.ledgers.get(name)?.view(this.#now()) ?? null;
    if (view === null) throw new RangeError(`there is no budget ${name}`);
    return view;
  }
}
