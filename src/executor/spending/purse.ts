import type { BudgetAnswer, BudgetRequest, Overspent } from "../../../durable-objects/budget/budget-control.ts";

/** One call that waits for money. */
interface Waiter {
  readonly amount: number;
  readonly admit: () => void;
  readonly refuse: (over: Overspent) => void;
  readonly reject: (reason: Error) => void;
}

/** What a purse says of itself in an exchange. */
export type PurseReport = Pick<BudgetRequest, "settled" | "unseen" | "reserved" | "in_flight" | "free" | "wants" | "least">;
type Ok = Extract<BudgetAnswer, { readonly kind: "ok" }>;

/** Below this part of what is reserved free money is taken for low: the next calls would have to wait for an exchange. */
const LOW_SHARE = 0.5;

/**
 * What one executor has in its hands of one Budget: a call reserves its bound in one synchronous step, and gives back what it did not come to. Whole nano-dollars;
 * times are milliseconds of the clock that is handed in.
 */
export class Purse {
  /** Of its Budget. */
  readonly name: string;
  readonly #now: () => number;
  /** Something is to be said soon: a call waits, or little is left. */
  onShort: () => void = () => undefined;
  /** Something is to be said with the next exchange. */
  onChange: () => void = () => undefined;
  #free = 0;
  #reserved = 0;
  #inFlight = 0;
  #settled = 0;
  #unseen = { calls: 0, amount: 0 };
  /** Of what is free, what the Budget asked for: it goes with the next exchange. */
  #owed = 0;
  #validUntil = Number.NEGATIVE_INFINITY;
  /** In the order in which they came. */
  readonly #line = new Set<Waiter>();

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
  }

  /** Calls that wait for money of it. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Whether calls are under way that it pays for, or wait to be. */
  get isInUse(): boolean {
    return this.#line.size > 0 || this.#reserved > 0;
  }

  /** Whether it has, or knows, nothing that its Budget has to hear of. */
  get isEmpty(): boolean {
    return !this.isInUse && this.#free === 0 && !this.hasNews;
  }

  /** Whether anything came of calls since it spoke last. */
  get hasNews(): boolean {
    return this.#settled > 0 || this.#unseen.calls > 0;
  }

  /** Whether nobody waits before a call of so much, and it could begin. */
  has(amount: number): boolean {
    return this.#line.size === 0 && this.#fits(amount);
  }

  /** Reserves; only where it `has` that much, or for one of its line. */
  take(amount: number): void {
    this.#free -= amount;
    this.#reserved += amount;
    this.#inFlight++;
    if (this.#free < LOW_SHARE * this.#reserved) this.onShort();
  }

  /** Resolves with `amount` reserved; rejects with the signal's reason, or with what `refused` makes of a Budget that has nothing left for it. */
  wait(amount: number, signal: AbortSignal | null | undefined, refused: (over: Overspent) => Error): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#line.delete(waiter);
        reject(signal?.reason);
      };
      const over = (end: () => void): void => {
        signal?.removeEventListener("abort", giveUp);
        this.#line.delete(waiter);
        end();
      };
      const waiter: Waiter = {
        amount,
        admit: () => over(resolve),
        refuse: (told) => over(() => reject(refused(told))),
        reject: (reason) => over(() => reject(reason)),
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#line.add(waiter);
      this.#pump();
      if (this.#line.has(waiter)) this.onShort();
    });
  }

  /** What a call that had reserved `amount` came to, whatever that is: 0 where nothing was sent. */
  settle(amount: number, cost: number): void {
    this.#reserved -= amount;
    this.#inFlight--;
    this.#free += amount - cost;
    this.#settled += cost;
    this.onChange();
    this.#pump();
  }

  /** Nobody saw the end of a call: it counts at what it had reserved. */
  lose(amount: number): void {
    this.#reserved -= amount;
    this.#inFlight--;
    this.#unseen = { calls: this.#unseen.calls + 1, amount: this.#unseen.amount + amount };
    this.onChange();
  }

  /** What is said in an exchange that is about to be sent; it counts as said. `leaves`: nothing more is taken from it. */
  report(leaves: boolean): PurseReport {
    // What lay idle since the last word is of more use elsewhere.
    const isIdle = leaves || (!this.isInUse && !this.hasNews);
    const back = isIdle ? Math.max(0, this.#free) : Math.max(0, Math.min(this.#free, this.#owed));
    this.#free -= back;
    this.#owed = 0;
    let wants = 0;
    let least: number | null = null;
    for (const { amount } of this.#line) {
      wants += amount;
      least = Math.min(amount, least ?? amount);
    }
    const said = { settled: this.#settled, unseen: this.#unseen, reserved: this.#reserved, in_flight: this.#inFlight, free: this.#free, wants, least };
    this.#settled = 0;
    this.#unseen = { calls: 0, amount: 0 };
    return said;
  }

  /** What the Budget answered to an exchange that was sent at `sentAt`. */
  told({ allots, valid_ms, over }: Ok, sentAt: number): void {
    this.#validUntil = sentAt + valid_ms;
    if (allots > 0) this.#free += allots;
    this.#owed = Math.max(0, -allots);
    this.#pump();
    if (over === null) return;
    // Who came since the exchange was sent may need less.
    const left = over.limit - over.settled - over.unseen.amount;
    for (const waiter of this.#line) if (waiter.amount > left) waiter.refuse(over);
  }

  /** Whoever waits does no longer: its Budget pays for nothing. */
  giveUp(reason: Error): void {
    for (const waiter of this.#line) waiter.reject(reason);
  }

  #fits(amount: number): boolean {
    return amount <= this.#free && this.#now() < this.#validUntil;
  }

  /** Whoever can begin does: of those that wait some need less than others, and what is left may be enough for them alone. */
  #pump(): void {
    for (const waiter of this.#line) {
      if (!this.#fits(waiter.amount)) continue;
      this.#line.delete(waiter);
      this.take(waiter.amount);
      waiter.admit();
    }
  }
}
