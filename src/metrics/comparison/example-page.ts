import { type Moves, movesOf } from "./example-moves.ts";
import type { Join } from "./join.ts";
import type { ScoreTable } from "./score-table.ts";

export const EXAMPLE_ORDERS = ["worst", "best", "id"] as const;
/** `different`: worse or better; `all`: every example of the baseline, those that the candidate lacks included. */
export const EXAMPLE_KINDS = ["worse", "better", "different", "all"] as const;

export interface ExamplePageWish {
  readonly metric: string;
  /** Which of the candidates is held against the baseline, from 0; the others are shown beside. */
  readonly candidate: number;
  readonly order: (typeof EXAMPLE_ORDERS)[number];
  readonly only: (typeof EXAMPLE_KINDS)[number];
  readonly offset: number;
  readonly limit: number;
}

/** An example in one of the runs. */
export interface ExampleCell {
  /** Which of the table's it is, in the order in which their first rows stand there, from 0. */
  readonly index: number;
  readonly example_id: number;
  /** Of the metric; null where all of its rollouts ended in an error, or none has it. */
  readonly mean: number | null;
  /** Its first row, from 1, and how many of its rows stand there one behind another. */
  readonly row: number;
  readonly rows: number;
}

export interface ExamplePage extends Pick<Moves, "worse" | "better" | "equal" | "unscored"> {
  /** Of the kind that was asked for, on all pages. */
  readonly total: number;
  /** Of the baseline, and not in the candidate. */
  readonly missing: number;
  /** A cell for each run, the baseline first; null where the run has not the example. */
  readonly examples: readonly (readonly (ExampleCell | null)[])[];
}

/** A page of the examples of a comparison. `joins`: of the baseline's table with that of each candidate, in their order. */
export function examplePage(baseline: ScoreTable, candidates: readonly ScoreTable[], joins: readonly Join[], wish: ExamplePageWish): ExamplePage {
  const [candidate, join] = [candidates[wish.candidate], joins[wish.candidate]];
  if (candidate === undefined || join === undefined) throw new RangeError("there is no such candidate");
  const means = (table: ScoreTable): Float64Array | undefined => table.columns.get(wish.metric)?.means;
  const moves = movesOf(means(baseline), means(candidate), join);
  const ordered = orderedExamples(baseline, join, moves, wish);
  const shown = ordered.slice(wish.offset, wish.offset + wish.limit);
  const partners = joins.map((each) => partnersOf(shown, each));
  const { worse, better, equal, unscored } = moves;
  return {
    total: ordered.length,
    worse,
    better,
    equal,
    unscored,
    missing: join.only_baseline,
    examples: shown.map((example) => [
      cellOf(baseline, means(baseline), example),
      ...candidates.map((table, run) => {
        const other = partners[run]?.get(example);
        return other === undefined ? null : cellOf(table, means(table), other);
      }),
    ]),
  };
}

/** Examples of the baseline in the order that was asked for. What has no difference is behind what has one. */
function orderedExamples({ ids, examples }: ScoreTable, join: Join, moves: Moves, { order, only }: ExamplePageWish): readonly number[] {
  const { moved, worse, difference } = moves;
  const pairs = only === "worse" ? moved.slice(0, worse) : only === "better" ? moved.slice(worse) : moved;
  const chosen = (only === "all" ? [...moved.slice(0, worse), ...pairsThat(join, (pair) => difference(pair) === 0), ...moved.slice(worse)] : pairs).map(
    (pair) => join.a[pair] ?? 0,
  );
  if (order === "best") chosen.reverse();
  if (only === "all") {
    const joined = new Uint8Array(examples);
    for (const example of join.a) joined[example] = 1;
    for (const pair of pairsThat(join, (each) => Number.isNaN(difference(each)))) chosen.push(join.a[pair] ?? 0);
    for (let example = 0; example < examples; example++) if (joined[example] === 0) chosen.push(example);
  }
  return order === "id" ? chosen.sort((x, y) => (ids[x] ?? 0) - (ids[y] ?? 0) || x - y) : chosen;
}

function pairsThat(join: Join, holds: (pair: number) => boolean): readonly number[] {
  const pairs: number[] = [];
  for (let pair = 0; pair < join.a.length; pair++) if (holds(pair)) pairs.push(pair);
  return pairs;
}

/** The candidate's examples that these of the baseline are. */
function partnersOf(examples: readonly number[], { a, b }: Join): ReadonlyMap<number, number> {
  const wanted = new Set(examples);
  const partners = new Map<number, number>();
  for (const [pair, example] of a.entries()) if (wanted.has(example)) partners.set(example, b[pair] ?? 0);
  return partners;
}

function cellOf({ ids, rows, adjacent }: ScoreTable, means: Float64Array | undefined, example: number): ExampleCell {
  const mean = means?.[example] ?? Number.NaN;
  return { index: example, example_id: ids[example] ?? 0, mean: Number.isNaN(mean) ? null : mean, row: rows[example] ?? 0, rows: adjacent[example] ?? 0 };
}
