import type { Join } from "./join.ts";

/** Joined examples by what a metric did from the one run to the other. */
export interface Moves {
  readonly unscored: number;
  readonly worse: number;
  readonly better: number;
  readonly equal: number;
  /** Pairs of the join that moved: what lost most first, and of what lost the same the earlier pair. */
  readonly moved: readonly number[];
  /** Of a pair, to the candidate's mean; NaN where one of the runs has no score of it. */
  difference(pair: number): number;
}

/** `one`, `two`: means by example of the joined tables; undefined where a table has no such metric. */
export function movesOf(one: Float64Array | undefined, two: Float64Array | undefined, join: Join): Moves {
  const difference = (pair: number): number => (two?.[join.b[pair] ?? 0] ?? Number.NaN) - (one?.[join.a[pair] ?? 0] ?? Number.NaN);
  const counts = { unscored: 0, worse: 0, better: 0, equal: 0 };
  const moved: number[] = [];
  for (let pair = 0; pair < join.a.length; pair++) {
    const moves = difference(pair);
    if (Number.isNaN(moves)) counts.unscored += 1;
    else if (moves === 0) counts.equal += 1;
    else {
      counts[moves < 0 ? "worse" : "better"] += 1;
      moved.push(pair);
    }
  }
  moved.sort((x, y) => difference(x) - difference(y) || x - y);
  return { ...counts, moved, difference };
}
