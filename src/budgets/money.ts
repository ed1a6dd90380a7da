/** Inside Budgets money is whole nano-dollars, so that sums are exact; everywhere else it is dollars. */
const NANO = 1_000_000_000;

export const dollarsOf = (nano: number): number => nano / NANO;

/** A limit as a person gave it: not rounded up, since nothing above it may be spent. */
export const limitOf = (dollars: number): number => Math.floor(Math.round(dollars * NANO * 1_000) / 1_000);
