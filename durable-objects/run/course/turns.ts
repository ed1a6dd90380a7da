import type { Done, Ledger } from "../state/ledger.ts";
import { ROLLOUTS_A_TURN } from "./repair.ts";

/** Places of units that one turn looks at: some ten milliseconds. */
export const PLACES_A_TURN = 8_192;

/**
 * All done units of `among` (absent = in unit order), with a pause for other calls of the Run after each turn; what is committed meanwhile may or may not be
 * among them. `pause` says whether the run is still there: ends early where it is not.
 */
export async function* inTurns(ledger: Ledger, pause: () => Promise<boolean>, among: Iterable<Done> = ledger.doneFrom(0)): AsyncGenerator<Done> {
  const most = Math.max(1, Math.floor(ROLLOUTS_A_TURN / ledger.config().rollouts_per_example));
  let seen = 0;
  for (const done of among) {
    if (seen === most && !(await pause())) return;
    if (seen === most) seen = 0;
    seen++;
    yield done;
  }
}
