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
  /** Held for jobs in batches; Budgets of before have none. */
  readonly batches?: { readonly jobs: number; readonly amount: number };
}

/**
 * What a Budget is told of a job, which is a batch of requests at a provider (`--batch`): the most that it can cost is held for as long as it lives, through grants, restarts and
 * kills, and settled once when its answers are there. Money is whole nano-dollars. Every word may be repeated, and counts once.
 */
export interface JobRequest {
  readonly protocol: typeof BUDGET_PROTOCOL;
  /** `{runName}/{when the run was made}/{number of the job}`: a run that was deleted, and taken over again from its folder, counts its jobs from 1 anew. */
  readonly job: string;
  /** Of the grant that says it: whoever had an earlier one reserves nothing any more. */
  readonly epoch: number;
  /** Raised with each word of a grant, but for one that is said again: what comes late changes nothing. */
  readonly seq: number;
  readonly word: JobWord;
}

export type JobWord =
  /** What may be reserved is asked, for what costs at least `least`. Nothing of the job was sent: what an earlier writer of it reserved is free. */
  | { readonly kind: "ask"; readonly least: number }
  /**
   * `reserve`: its requests are written, and none of it is at its provider, or nothing is any more. `send`: it is about to be created there, so that it may be billed from now on.
   * Both hold `amount` for `requests`, whatever was held before. `least`: of what it is made of, what costs least.
   */
  | { readonly kind: "reserve" | "send"; readonly amount: number; readonly requests: number; readonly least: number }
  /** `release`: nothing of it is at its provider, nor will be as things stand. `lose`: what became of it there nobody will know, so that all that it holds counts as unseen. */
  | { readonly kind: "release" }
  | { readonly kind: "lose" }
  /** It is over: what its answers came to by their usage, and those that may be billed and do not say what they took, at their bounds. */
  | { readonly kind: "settle"; readonly settled: number; readonly unseen: { readonly calls: number; readonly amount: number } };

export type JobAnswer =
  | {
      readonly kind: "ok";
      /** Whether it holds what was asked for; where not, it holds what it held. */
      readonly held: boolean;
      /** The most that it could hold now, what it holds among it. */
      readonly room: number;
      /** What is settled and unseen alone leaves less than `least`: whatever comes back, it is too little. Null = it may come back, or it is held. */
      readonly over: Overspent | null;
    }
  | { readonly kind: "refused"; readonly message: string };

/** A Budget's methods; its object's name is `run/{runName}`, `team/{team}` or `key/{team or *}/{variable}`. */
export interface BudgetControl {
  exchange(request: BudgetRequest): Promise<BudgetAnswer>;
  /** A word of a job whose requests are in one batch. Budgets of before do not know it. */
  job(request: JobRequest): Promise<JobAnswer>;
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
