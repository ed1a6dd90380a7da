/** What crosses the border between a Budget and the executors that spend from it, and the door. Every answer is a value; money is whole nano-dollars. */
export const BUDGET_PROTOCOL = 1;

/** Spans of time that a limit may be of: all of it, a day or a month of UTC. */
export const BUDGET_SPANS = ["total", "day", "month"] as const;
export type BudgetSpan = (typeof BUDGET_SPANS)[number];
export type BudgetLimits = { readonly [S in BudgetSpan]?: number };

export interface BudgetRequest {
  readonly protocol: typeof BUDGET_PROTOCOL;
  readonly executor: string;
  /** As those of tickets: what an earlier boot or life of the process had in its hands is out of them at once. */
  readonly boot: string;
  readonly runtime: string;
  /** Raised by one for each; the same number again means that the answer was lost: what was spent counts once. */
  readonly seq: number;
  /** Since the last exchange that was answered: what calls came to by their usage, and calls whose end nobody saw, at their bounds. */
  readonly settled: number;
  readonly unseen: { readonly calls: number; readonly amount: number };
  /** Of its allotment: what calls under way have reserved, how many those are, and what is free (below 0: calls came to more than their bounds). */
  readonly reserved: number;
  readonly in_flight: number;
  readonly free: number;
  /** Calls that wait for money: their bounds together, and the least of them; null = none waits. */
  readonly wants: number;
  readonly least: number | null;
  /** It spends nothing more: what is free goes back. */
  readonly leaves: boolean;
}

/** Nothing is left for the least of what waits, and nothing is out that may come back. */
export interface Overspent {
  readonly span: BudgetSpan;
  readonly limit: number;
  readonly settled: number;
  readonly unseen: { readonly calls: number; readonly amount: number };
  /** The limits of other spans; Budgets of before do not say them. */
  readonly beside?: BudgetLimits;
}

export type BudgetAnswer =
  | {
      readonly kind: "ok";
      /** Added to what is free; below 0 = so much of it is to go back: what is still free then is left out of `free` in the next exchange. */
      readonly allots: number;
      /** From the sending of the exchange: after that nothing is reserved from what was allotted. */
      readonly valid_ms: number;
      /** When to come again at the latest. */
      readonly again_ms: number;
      readonly over: Overspent | null;
    }
  /** What is stored is of another version, or nobody set a limit: nothing may be spent, and the message says why. */
  | { readonly kind: "refused"; readonly message: string };

export interface BudgetView {
  readonly limits: BudgetLimits;
  /** By span, of the one that is now. */
  readonly spent: { readonly [S in BudgetSpan]: { readonly settled: number; readonly unseen: { readonly calls: number; readonly amount: number } } };
  /** In the hands of executors. */
  readonly allotted: number;
}

/** A Budget's methods; its object's name is `run/{runName}`, `team/{team}` or `key/{team or *}/{variable}`. */
export interface BudgetControl {
  exchange(request: BudgetRequest): Promise<BudgetAnswer>;
  /**
   * What holds from now on: without a span nothing is limited, and counted all the same; null = it is over, and exchanges are refused. `spent`: what is known
   * to have been spent, also before there was a Budget: no less counts in all, with what is unseen and what executors have not told of yet, and all of it in
   * each span where nothing was counted yet.
   */
  set(limits: BudgetLimits | null, spent?: number): Promise<void>;
  view(): Promise<BudgetView | null>;
  /** Forgets everything: its run is deleted. */
  remove(): Promise<void>;
}
