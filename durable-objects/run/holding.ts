/** What a grant lets be under way at once. */
export interface Holding {
  /** Units open at once. */
  readonly lanes: number;
  /** Model requests in flight at once. */
  readonly requests: number;
  /** Of the model requests, those that may be in flight at once where the run limits them apart from its lanes; absent = all. */
  readonly generation?: number;
  /** Requests of judges in flight at once, beside those; absent = no limit. */
  readonly scoring?: number;
}

/**
 * What the Run lets a live grant have under way from now on, in place of what it was granted with: more, which the Run counts from here on, or less, which
 * it goes on counting in full until the executor says that no more is under way.
 */
export interface Allowance extends Holding {
  /** Raised by one with each further one of the grant, from 1: of two answers that cross, the higher counts. */
  readonly size: number;
  /** The run's weight from now on; absent = as the grant was made with. */
  readonly priority?: number;
}

/** Part of a call under a grant: what of it is not used any more, and who is beside it. */
export interface GivesBack {
  /** A unit that was to be alone had to begin while other grants in the same isolate had something open; absent = no, and from executors of before. */
  readonly beside?: true;
  /**
   * It has no more than this under way, and will have no more unless it is allowed: the rest may be granted to others. Absent: all that was granted, and from
   * executors of before. `size`: of the newest allowance that it has heard of, without which it says nothing of that; absent = 0.
   */
  readonly holds?: Holding & { readonly size?: number };
}
