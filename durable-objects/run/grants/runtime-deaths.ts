/**
 * The runtime of a local service may end by itself, by what it ran or by a hand from outside, and is started again under the same command. Its
 * executors are dead for sure then, since the Run lives in the same process: their tickets need not run out.
 */
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ticket } from "../state/ledger.ts";

/**
 * After so many within this time the next ones wait for lease and grace: a unit that kills takes five runtimes with it before it is given up, and
 * several of them would otherwise end so many within a minute that the command takes it for no unit's doing.
 */
const QUICK = 2;
const WINDOW_MS = 60_000;

/** Whether the ticket's process has died under the present boot, so that it ends now. The first ticket of a dead runtime makes its death known. */
export function endedWithRuntime(ticket: Ticket, head: RunHead, { now, runtime }: RunContext): boolean {
  const { runtime: dead } = ticket;
  if (dead === undefined || dead === runtime) return false;
  const recent = (head.runtime_deaths ?? []).filter(({ at }) => now - at < WINDOW_MS);
  const known = recent.find((death) => death.runtime === dead);
  if (known !== undefined) return !known.waits;
  const waits = recent.length >= QUICK;
  head.runtime_deaths = [...recent, { runtime: dead, at: now, waits }];
  return !waits;
}
