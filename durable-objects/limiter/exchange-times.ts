/** How often executors come, and how long what they are told holds. Milliseconds. */

/** From the sending of an exchange, by the executor's clock. */
export const VALID_MS = 10_000;
/** The Limiter counts from when it comes, and by so much longer, since clocks differ in pace. */
export const MARGIN_MS = 500;

/** So many executors a second may come; beyond, each comes less often (an object takes 500 to 750 requests a second, D durable-objects/best-practices/rules-of-durable-objects). */
const EXCHANGES_PER_SECOND = 50;
const LEAST_LIMITED_MS = 250;
/** Two exchanges may be lost within what holds. */
const MOST_LIMITED_MS = 4_000;
const OPEN_MS = 2_000;
const OPEN_IDLE_MS = 10_000;
/** What a holder is short of is with another one, who gives it back with its next exchange. */
const HURRY_SHARE = 0.4;

const eachOf = (executors: number): number => (executors * 1_000) / EXCHANGES_PER_SECOND;

export const limitedMs = (executors: number): number => Math.max(LEAST_LIMITED_MS, Math.min(MOST_LIMITED_MS, eachOf(executors)));
export const hurriedMs = (executors: number): number => Math.ceil(HURRY_SHARE * limitedMs(executors));
/** `idle`: it has nothing in flight and nothing that waits. */
export const openMs = (executors: number, idle: boolean): number => Math.max(idle ? OPEN_IDLE_MS : OPEN_MS, eachOf(executors));
