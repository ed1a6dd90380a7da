import { type Course, follow, NEW_COURSE } from "../../src/drift/course.ts";
import { observationOf } from "../../src/drift/observation.ts";
import { pairedDifference } from "../../src/metrics/comparison/paired-difference.ts";
import { Random } from "../simulation/world/random.ts";
import { bernoulli, difficulty, mean, repeat } from "./draws.ts";

/** A series of runs of a model over the same examples, and what the detector says of it. */
export interface DriftCase {
  readonly examples: number;
  readonly attempts: number;
  /** Mean of the model. */
  readonly p: number;
  /** Runs of the baseline. */
  readonly first: number;
  /** So much less often it passes each example, from the run after `steady` others on; 0 = never. */
  readonly drop: number;
  readonly steady: number;
}

export interface DriftFigures extends DriftCase {
  /** Of series in which nothing changes: alarms in 100 runs. */
  readonly alarms: number;
  /** Of series with a drop: share found within 5, 10 and 20 runs of it; and the median of runs that it took, null where fewer than half were found in 40. */
  readonly found: readonly [number, number, number];
  readonly delay: number | null;
}

export const DRIFT_OPTIONS = { runLength: 100, detect: 0.05 };
/** Runs of a series in which nothing changes; and after a drop. */
const RUNS = 200;
const LOOKED = 40;

export const DRIFT_CASES: readonly DriftCase[] = [
  ...[20, 50, 200, 500, 1_000].flatMap((examples) => [0.5, 0.7, 0.9].map((p): DriftCase => ({ examples, attempts: 1, p, first: 3, drop: 0, steady: 0 }))),
  ...[0.98, 1].flatMap((p) => [20, 200].map((examples): DriftCase => ({ examples, attempts: 1, p, first: 3, drop: 0, steady: 0 }))),
  ...[1, 10].map((first): DriftCase => ({ examples: 200, attempts: 1, p: 0.7, first, drop: 0, steady: 0 })),
  { examples: 200, attempts: 4, p: 0.7, first: 3, drop: 0, steady: 0 },
  ...[0, 20].flatMap((steady) =>
    [50, 200, 500, 1_000].flatMap((examples) => [0.5, 0.7, 0.9].map((p): DriftCase => ({ examples, attempts: 1, p, first: 3, drop: 0.05, steady }))),
  ),
  ...[1, 10].map((first): DriftCase => ({ examples: 500, attempts: 1, p: 0.7, first, drop: 0.05, steady: 0 })),
  { examples: 200, attempts: 4, p: 0.7, first: 3, drop: 0.05, steady: 20 },
];

/** Plays one case; the same seed gives the same figures on every machine. */
export function playDrift(played: DriftCase, plays: number, seed: number): DriftFigures {
  const random = new Random(seed);
  const delays: number[] = [];
  let alarms = 0;
  for (let play = 0; play < plays; play++) {
    const series = new Series(played, random);
    if (played.drop === 0) {
      for (let run = 0; run < RUNS; run++) if (series.next(0)) alarms += 1;
      continue;
    }
    for (let run = 0; run < played.steady; run++) series.next(0);
    let delay = 0;
    while (delay < LOOKED && series.verdict !== "worse") {
      series.next(played.drop);
      delay += 1;
    }
    delays.push(series.verdict === "worse" ? delay : Number.POSITIVE_INFINITY);
  }
  delays.sort((a, b) => a - b);
  const within = (runs: number): number => delays.filter((delay) => delay <= runs).length / plays;
  const median = delays[Math.floor(delays.length / 2)] ?? Number.POSITIVE_INFINITY;
  return {
    ...played,
    alarms: alarms / plays / (RUNS / 100),
    found: [within(5), within(10), within(20)],
    delay: Number.isFinite(median) ? median : null,
  };
}

class Series {
  readonly #played: DriftCase;
  readonly #random: Random;
  readonly #chances: readonly number[];
  readonly #baseline: Float64Array;
  #course: Course = NEW_COURSE;

  constructor(played: DriftCase, random: Random) {
    this.#played = played;
    this.#random = random;
    const { p, drop, examples, first, attempts } = played;
    // So hard that no drop takes a chance below 0, and the difference is the same everywhere.
    const spread = p === 1 ? 0 : Math.max(0, 1 - drop / Math.min(p, 1 - p));
    this.#chances = repeat(examples, () => difficulty(random, p, spread));
    this.#baseline = this.#means(first * attempts, 0);
  }

  get verdict(): Course["verdict"] {
    return this.#course.verdict;
  }

  /** Whether the run is the first of those that are said to be worse, or better. */
  next(drop: number): boolean {
    const { first, attempts } = this.#played;
    const before = this.#course.verdict;
    const found = pairedDifference(this.#baseline, this.#means(attempts, drop), [0, 1]);
    const run = observationOf(found, { baseline: first * attempts, run: attempts }, [0, 1]);
    if (run === null) throw new RangeError("a case has two examples at least");
    this.#course = follow(this.#course, run, DRIFT_OPTIONS).course;
    return before === "steady" && this.#course.verdict !== "steady";
  }

  #means(attempts: number, drop: number): Float64Array {
    return Float64Array.from(this.#chances, (chance) => mean(repeat(attempts, () => bernoulli(this.#random, Math.max(0, chance - drop)))));
  }
}
