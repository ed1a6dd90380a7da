/** How long a settled run stays where its team has said so, and from when on it says that it will be removed. */

export const DAY_MS = 86_400_000;
/** The longest notice. */
const MOST_NOTICE_DAYS = 7;

/** Days between the notice and the removal: a week, of a short time half. */
export const noticeDays = (days: number): number => Math.min(MOST_NOTICE_DAYS, Math.ceil(days / 2));

/** Settled at or before this moment, a run gets its notice now. Unix milliseconds, as all times here. */
export const noticeDue = (days: number, now: number): number => now - (days - noticeDays(days)) * DAY_MS;

/** When a run is removed that gets its notice now: nobody's runs go without one, however old they were when the team said so. */
export const removalOf = (settledAt: number, days: number, now: number): number => Math.max(settledAt + days * DAY_MS, now + noticeDays(days) * DAY_MS);
