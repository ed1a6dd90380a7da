import type { Ledger } from "../state/ledger.ts";
import { PLACES_A_TURN } from "./turns.ts";

/**
 * Segments that rows of done units are in, or `others`: the first `limit` after `after`, ascending. The rows are looked through in turns, and
 * memory holds twice as many names. Rejects when the run is gone meanwhile.
 */
export async function referencedSegments(
  ledger: Pick<Ledger, "placesFrom">,
  others: readonly string[],
  { after, limit }: { readonly after: string; readonly limit: number },
  pause: () => Promise<boolean>,
): Promise<readonly string[]> {
  let names = new Set(others.filter((name) => name > after));
  /** Names beyond it are not among the first. */
  let last: string | null = null;
  const first = (): string[] => [...names].sort().slice(0, limit);
  let seen = 0;
  for (const { segment } of ledger.placesFrom(0)) {
    if (++seen % PLACES_A_TURN === 0 && !(await pause())) throw new Error("the run is gone");
    if (segment <= after || (last !== null && segment > last)) continue;
    names.add(segment);
    if (names.size < 2 * limit) continue;
    const kept = first();
    names = new Set(kept);
    last = kept.at(-1) ?? null;
  }
  return first();
}
