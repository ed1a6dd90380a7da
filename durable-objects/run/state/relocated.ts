import type { Place } from "../../../r2-layout/place.ts";
import type { Ledger } from "./ledger.ts";

/** The places where the same bytes are now, after segments were merged. */
export function relocated<T extends Place>(ledger: Pick<Ledger, "movedOf">, places: readonly T[]): readonly T[] {
  const moves = ledger.movedOf(places.map(({ segment }) => segment));
  if (moves.size === 0) return places;
  return places.map((place) => {
    const move = moves.get(place.segment);
    return move === undefined || place.offset + place.length > move.length ? place : { ...place, segment: move.target, offset: place.offset + move.start };
  });
}
