import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** Who claims has loaded the environment. */
export const isLoaded = (ledger: Ledger): boolean => ledger.tickets().some(({ task, seq }) => task.kind === "units" && seq > 0);

/** Whether nobody is to load the environment now: it is waited for, or somebody tries it for all. */
export function isLoadingHeldUp(ledger: Ledger, { loading, phase }: RunHead, { now }: RunContext): boolean {
  if (loading === undefined || (phase !== "preparing" && phase !== "open")) return false;
  return now < loading.retry_at || (!isLoaded(ledger) && ledger.tickets().some(({ task }) => task.kind !== "adopt"));
}
