/** How whatever makes runs by itself (a schedule, a training loop's evaluator) repeats what it has not heard of. Milliseconds. */

interface Waits {
  readonly first: number;
  readonly last: number;
}
/** Until what was sent for and not heard of is sent for again: hundreds that are due at once take a while to be created, and one more message each would make it longer. */
export const RESEND_WAITS: Waits = { first: 60_000, last: 5 * 60_000 };
/** Between attempts to create a run that was refused, or could not be sent for, and how long it is tried. */
export const CREATE_WAITS: Waits = { first: 5_000, last: 5 * 60_000 };
export const GIVE_UP_MS = 60 * 60_000;
/** Between looks at a run. */
export const LOOK_WAITS: Waits = { first: 1_000, last: 60_000 };

/** Doubled with each try. */
export const waitOf = ({ first, last }: Waits, tries: number): number => Math.min(last, first * 2 ** Math.min(tries, 20));
