/** How often executors come, and how long what they are told holds. Milliseconds. */
export const VALID_MS = 10_000;
/** The Budget counts from when an exchange comes, and by so much longer, since clocks differ in pace. */
export const MARGIN_MS = 500;
/** As of a Limiter (durable-objects/limiter/exchange-times.ts): an object takes 500 to 750 requests a second, and this one writes with nearly each. */
const EXCHANGES_PER_SECOND = 50;
const USUAL_MS = 1_000;
/** Where calls wait for money that another executor may give back. */
const HURRIED_MS = 250;

/** Two exchanges may be lost within what holds. */
const LAST_MS = 4_000;

export function againMs(executors: number, isShort: boolean): number {
  return Math.min(LAST_MS, Math.max(isShort ? HURRIED_MS : USUAL_MS, (executors * 1_000) / EXCHANGES_PER_SECOND));
}

/** What an executor is to have free, and what is known of the others. Nano-dollars. */
export interface Claim {
  /** What nobody else has, its own free money included. */
  readonly spare: number;
  readonly reserved: number;
  readonly wants: number;
  readonly least: number | null;
  /** What calls of others wait for. */
  readonly othersWant: number;
  /** Executors that spend. */
  readonly executors: number;
}

/**
 * What an executor is to have free: enough for all that waits, and where there is plenty another wave, so that a call that ends is followed by the next without an
 * exchange. Where there is not enough for all who wait, a part by what each waits for; and no less than its least call, or nothing, so that what is left is not
 * divided into parts of which none is enough.
 */
export function freeFor({ spare, reserved, wants, least, othersWant, executors }: Claim): number {
  if (spare <= 0) return 0;
  if (wants + othersWant <= spare) return wants + Math.min(reserved + wants, Math.floor((spare - wants - othersWant) / (2 * Math.max(1, executors))));
  if (least === null || spare < least) return 0;
  return Math.max(least, Math.min(wants, Math.floor(spare * (wants / (wants + othersWant)))));
}
