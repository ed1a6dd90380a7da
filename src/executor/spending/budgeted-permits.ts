import type { Overspent } from "../../../durable-objects/budget/budget-control.ts";
import { nanoText } from "../../report/text/cost-text.ts";
import type { AttemptCost, Permits } from "../../clients/client.ts";
import type { Gate } from "../../clients/gate.ts";
import { WaitingLine } from "../../clients/waiting-line.ts";
import type { AttemptOutcome } from "../../endpoint-limits/limit-kinds.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { Price } from "../../prices/price.ts";
import { billedNano, payable, type Reserved } from "./payable.ts";
import type { Purse } from "./purse.ts";

/** Calls of a grant without a limit of requests that wait for money at once. */
const MOST_WAITING = 64;

export interface Spending {
  /** What keeps a request from beginning beside money. */
  readonly permits: Permits;
  /** Of the grant: no more calls wait for money than it would let begin. */
  readonly gate: Pick<Gate, "size" | "inFlight">;
  /** All that it is paid from, in the order of their names. */
  readonly purses: readonly Purse[];
  /** What a model costs where it is called; null = nobody knows. */
  readonly priceOf: (model: string) => Price | null;
  /** Nothing is left in this Budget for calls that wait. */
  readonly onOver: (budget: string, over: Overspent) => void;
}

/**
 * Permits for requests that are paid for: one begins when it has its permit and the most that it can cost is reserved in every purse, in one step, and settles at its
 * end. None holds a permit while it waits for money. While one waits those behind it wait as well, so that a long one has its turn.
 */
export class BudgetedPermits implements Permits {
  readonly reads = true;
  readonly #spending: Spending;
  readonly #reserved = new Map<AttemptCost, Reserved>();
  /** Behind those that wait for money. */
  readonly #line = new WaitingLine();
  /** Those that wait for money, or have it and no permit. */
  #asking = 0;

  constructor(spending: Spending) {
    this.#spending = spending;
  }

  /** Requests that wait for money. */
  get waiting(): number {
    return this.#line.length + this.#asking;
  }

  async enter(signal?: AbortSignal | null, cost?: AttemptCost): Promise<void> {
    if (cost === undefined) throw new RangeError("a request that a budget holds for does not say what it can cost");
    const { permits, purses } = this.#spending;
    const reserved = this.#bound(cost);
    const { amount } = reserved;
    if (amount === 0 || this.waiting === 0) {
      await permits.enter(signal, cost);
      if (amount === 0 || purses.every((purse) => purse.has(amount))) {
        if (amount > 0) for (const purse of purses) purse.take(amount);
        this.#reserved.set(cost, reserved);
        return;
      }
      permits.leave(unsent(cost), cost);
    }
    // Of the line whoever admits counts.
    if (this.#line.length > 0 || this.#asking >= this.#mayAsk) await this.#line.wait(undefined, signal);
    else this.#asking++;
    try {
      await this.#reserve(amount, signal);
      try {
        await permits.enter(signal, cost);
      } catch (thrown) {
        for (const purse of purses) purse.settle(amount, 0);
        throw thrown;
      }
      this.#reserved.set(cost, reserved);
    } finally {
      this.#asking--;
      this.#pump();
    }
  }

  leave(outcome?: AttemptOutcome, cost?: AttemptCost): void {
    if (cost !== undefined) this.#settle(cost);
    this.#spending.permits.leave(outcome, cost);
    this.#pump();
  }

  /** How many may wait for money at once: what would begin if there were any. */
  get #mayAsk(): number {
    const { size, inFlight } = this.#spending.gate;
    return Math.max(1, Math.min(MOST_WAITING, size - inFlight));
  }

  #pump(): void {
    while (this.#line.length > 0 && this.#asking < this.#mayAsk) {
      this.#asking++;
      this.#line.admitFirst();
    }
  }

  /** From one purse after the other, so that of several who wait for the same ones one always has what the next needs. */
  async #reserve(amount: number, signal: AbortSignal | null | undefined): Promise<void> {
    const had: Purse[] = [];
    try {
      for (const purse of this.#spending.purses) {
        await purse.wait(amount, signal, (over) => this.#over(purse.name, over));
        had.push(purse);
      }
    } catch (thrown) {
      for (const purse of had) purse.settle(amount, 0);
      throw thrown;
    }
  }

  #over(budget: string, over: Overspent): EdgewiseError {
    this.#spending.onOver(budget, over);
    const { limit, settled, unseen } = over;
    const lost = unseen.calls === 0 ? "" : `, and ${nanoText(unseen.amount)} are of ${unseen.calls} calls whose end nobody saw`;
    return new EdgewiseError("over_budget", `too little is left of the budget of ${nanoText(limit)} (${budget}): ${nanoText(settled)} are settled${lost}`);
  }

  #settle(cost: AttemptCost): void {
    const reserved = this.#reserved.get(cost);
    if (reserved === undefined) return;
    this.#reserved.delete(cost);
    const { amount, price } = reserved;
    if (amount === 0) return;
    const spent = cost.spent ?? { kind: "unseen" };
    for (const purse of this.#spending.purses) {
      if (spent.kind === "unseen") purse.lose(amount);
      else purse.settle(amount, spent.kind === "nothing" ? 0 : billedNano(spent.usage, price));
    }
  }

  /** Throws `unknown_price` and `unbounded_cost`. */
  #bound({ bound }: AttemptCost): Reserved {
    if (bound === undefined) throw new RangeError("a request that a budget holds for does not say what it can cost");
    return payable(bound, this.#spending.priceOf(bound.model));
  }
}

const unsent = (cost: AttemptCost): AttemptOutcome => ({
  kind: "unsent",
  ...{ ms: 0, cost, used: null, told: null, named: null, named_limit: null, retry_after_ms: null },
});
