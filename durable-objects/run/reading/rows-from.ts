import type { SamplePage, SamplePlace } from "../control.ts";

/** The places that have rows `[skip, skip + count)` of all that `places` have, read no further than that; `skip` is then what is to be left out of the first. */
export function rowsFrom(places: Iterable<SamplePlace>, skip: number, count: number): Pick<SamplePage, "skip" | "places"> {
  const found: SamplePlace[] = [];
  let [before, missing] = [skip, count];
  for (const place of places) {
    if (found.length === 0 && before >= place.rows) {
      before -= place.rows;
      continue;
    }
    missing -= found.length === 0 ? place.rows - before : place.rows;
    found.push(place);
    if (missing <= 0) break;
  }
  return { skip: before, places: found };
}
