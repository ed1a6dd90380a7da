import { BUDGET_SPANS, type BudgetLimits, type BudgetSpan, type Overspent } from "./budget-control.ts";

/** What one span has of money that is gone, in nano-dollars. */
export interface StoredWindow {
  readonly span: BudgetSpan;
  /** Which day or month of UTC it is of: `2026-11-23`, `2026-11`; "" = all time. */
  readonly label: string;
  readonly settled: number;
  readonly unseen_calls: number;
  readonly unseen: number;
}

/** How much of the time of day, as ISO writes it, names a span. */
const LETTERS: Readonly<Record<BudgetSpan, number>> = { total: 0, day: 10, month: 7 };

const labelOf = (span: BudgetSpan, now: number): string => new Date(now).toISOString().slice(0, LETTERS[span]);

/** Money of which the end is known, or never will be: by day, by month and in all. All are counted, whichever is limited. */
export class Windows {
  #windows: readonly StoredWindow[];

  constructor(stored: readonly StoredWindow[], now: number) {
    this.#windows = BUDGET_SPANS.map(
      (span) => stored.find((window) => window.span === span) ?? { span, label: labelOf(span, now), settled: 0, unseen_calls: 0, unseen: 0 },
    );
  }

  get all(): readonly StoredWindow[] {
    return this.#windows;
  }

  get(span: BudgetSpan): StoredWindow {
    const window = this.#windows.find((each) => each.span === span);
    if (window === undefined) throw new RangeError(`not a span: ${span}`);
    return window;
  }

  /**
   * Begins the day and the month that it is now; one that is over does not come back, whatever a clock says. `lost`: what was counted as unseen and may still
   * be billed: it counts in the new span too. Whether one began.
   */
  turn(now: number, lost: { readonly calls: number; readonly amount: number }): boolean {
    const before = this.#windows;
    this.#windows = before.map((window) => {
      const label = labelOf(window.span, now);
      return label <= window.label ? window : { ...window, label, settled: 0, unseen_calls: lost.calls, unseen: lost.amount };
    });
    return this.#windows.some((window, at) => window !== before[at]);
  }

  /** Counts in every span; below 0 = it is known now what became of what was unseen. */
  add({ settled = 0, calls = 0, unseen = 0 }: { readonly settled?: number; readonly calls?: number; readonly unseen?: number }): void {
    this.#windows = this.#windows.map((window) => ({
      ...window,
      settled: window.settled + settled,
      unseen_calls: window.unseen_calls + calls,
      unseen: window.unseen + unseen,
    }));
  }

  /** As they were. */
  reset(before: readonly StoredWindow[]): void {
    this.#windows = before;
  }

  /** It is known now what became of what counted as unseen since then (Unix milliseconds): in a day or a month that began later it does not count. */
  takeBack(since: number, { calls, unseen }: { readonly calls: number; readonly unseen: number }): void {
    this.#windows = this.#windows.map((window) =>
      window.label === labelOf(window.span, since) ? { ...window, unseen_calls: window.unseen_calls - calls, unseen: window.unseen - unseen } : window,
    );
  }

  /** No less than `spent` is gone in all, settled or unseen; where nothing was counted yet, in each span. */
  least(spent: number): void {
    const isNew = this.#windows.every(({ settled, unseen_calls }) => settled === 0 && unseen_calls === 0);
    this.#windows = this.#windows.map((window) =>
      isNew || window.span === "total" ? { ...window, settled: Math.max(window.settled, spent - window.unseen) } : window,
    );
  }

  /** What the strictest limit leaves; below 0 where a limit was lowered below what is gone. */
  left(limits: BudgetLimits): number {
    return Math.min(...this.#windows.map(({ span, settled, unseen }) => (limits[span] ?? Number.POSITIVE_INFINITY) - settled - unseen));
  }

  /** The first limit that leaves less than `least`. */
  overspent(limits: BudgetLimits, least: number): Overspent | null {
    for (const { span, settled, unseen, unseen_calls } of this.#windows) {
      const limit = limits[span];
      if (limit === undefined || limit - settled - unseen >= least) continue;
      const { [span]: _, ...beside } = limits;
      return { span, limit, settled, unseen: { calls: unseen_calls, amount: unseen }, ...(Object.keys(beside).length === 0 ? {} : { beside }) };
    }
    return null;
  }
}
