/**
 * Time for everything that lasts: leases, waits, limits. A machine's clock may be set ahead while runs work, or stand there after a sleep, and the
 * local runtime has no other: its `performance.now()` is that clock too. Only its timers go on as before. So while executors of the local service
 * work, timers count the time; where nobody counts it is the machine's clock, as it is deployed. One for the whole isolate, so that Runs and
 * executors agree on it whatever it is. (A clock that was set back stops the timers too: `src/cli/service/runtime/clock-watch.ts`.)
 */

/** How often the time is counted. */
const TICK_MS = 250;
/** What the machine's clock says of two moments is believed up to here: a busy machine is late by seconds, and who sets a clock by less costs a lease at most. */
const MOST_LATE_MS = 60_000;

/** The time as it was last counted. */
let counted = 0;
/** What the machine's clock said then. */
let machineThen = 0;
let counting = 0;
/** The furthest that was told since: between the moment the clock was set and the next tick nothing is known but that. */
let told = 0;

/** Unix milliseconds that neither leap nor go back while somebody counts; else the machine's, once that is as far. */
export function steadyNow(): number {
  if (counting === 0) return Math.max(counted, Date.now());
  const since = Date.now() - machineThen;
  told = Math.max(told, counted + (since >= 0 && since <= MOST_LATE_MS ? since : 0));
  return told;
}

/** The same for a script of its own, in Node: from the start of its process on by a clock that nobody sets. Whole milliseconds, as everywhere. */
export const scriptNow = (): number => Math.floor(performance.timeOrigin + performance.now());

/** Counts until the answer is called: to be called, and answered, in an invocation that lasts. */
export function countTime(): () => void {
  if (counting === 0) [counted, machineThen, told] = [steadyNow(), Date.now(), 0];
  counting++;
  let [own, machine] = [steadyNow(), Date.now()];
  const timer = setInterval(() => {
    const gone = Date.now() - machine;
    machine += gone;
    own += gone >= TICK_MS / 2 && gone <= MOST_LATE_MS ? gone : TICK_MS;
    // Others count as well: the furthest is right, since no one can have waited longer than it was.
    own = Math.max(own, counted);
    [counted, machineThen] = [own, machine];
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    counting--;
    counted = Math.max(counted, told);
  };
}
