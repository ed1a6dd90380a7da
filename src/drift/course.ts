import { normalQuantile } from "../metrics/distributions/normal.ts";
import { detect, type Level, updated } from "./change-detector.ts";
import type { Observation } from "./observation.ts";

/** What is said of a run that was compared. */
export type DriftVerdict = "steady" | "worse" | "better";

/** A detector between two runs, as stored. */
export interface Course {
  readonly verdict: DriftVerdict;
  /** Where differences lie while all is steady, of the baseline and the runs that were; null before the first comparison. */
  readonly steady: Level | null;
  /** Where they lie since they left it; null while they have not. */
  readonly moved: Level | null;
  /** The level that is watched is one of the two, as it was before these runs. */
  readonly runs: readonly Observation[];
  /** Evidence of a change, of `limit`, after the newest run. */
  readonly evidence: number;
}

export const NEW_COURSE: Course = { verdict: "steady", steady: null, moved: null, runs: [], evidence: 0 };

export interface CourseOptions {
  /** Runs to a false alarm, on average at the least. */
  readonly runLength: number;
  /** What size of change is looked for. */
  readonly detect: number;
}

export interface CourseStep {
  readonly course: Course;
  /** So many runs ago, this one included, the change began that this run brought to light; absent = it brought none. */
  readonly changed?: number;
}

/** A beginning further back than this is no longer looked for. */
const MOST_RUNS = 200;
/** Two levels are the same where 0 lies in the 95 % interval of their difference. */
const APART = -normalQuantile(0.025);

/** Takes the next run of the series. */
export function follow(course: Course, run: Observation, { runLength, detect: size }: CourseOptions): CourseStep {
  const steady = course.steady ?? { mean: 0, variance: run.shared };
  const [watched, runs] = shortened(course.moved ?? steady, [...course.runs, careful(run, course.runs)]);
  const { evidence, direction, since } = detect(watched, runs, size);
  const isChange = evidence >= runLength;
  const found = isChange ? { changed: runs.length - since } : {};
  if (course.moved === null) {
    if (!isChange) return { course: { verdict: "steady", steady: course.steady === null ? steady : watched, moved: null, runs, evidence } };
    const before = updated(watched, runs.slice(0, since));
    return { course: { verdict: direction, steady: before, moved: levelOf(runs.slice(since)), runs: [], evidence: 0 }, ...found };
  }
  const now = isChange ? levelOf(runs.slice(since)) : updated(watched, runs);
  const distance = (now.mean - steady.mean) / Math.sqrt(now.variance + steady.variance);
  if (Math.abs(distance) < APART) return { course: { verdict: "steady", steady, moved: null, runs: [], evidence: 0 }, changed: found.changed ?? 1 };
  const verdict = distance < 0 ? "worse" : "better";
  if (isChange) return { course: { verdict, steady, moved: now, runs: [], evidence: 0 }, ...found };
  return { course: { verdict, steady, moved: watched, runs, evidence } };
}

/** Of runs alone, whatever was before them. */
function levelOf([first, ...more]: readonly Observation[]): Level {
  if (first === undefined) throw new RangeError("a level takes a run");
  return updated({ mean: first.difference, variance: first.own }, more);
}

/** A spread that comes out small by chance makes differences look large: no run's is below what those before it had on average. */
function careful(run: Observation, before: readonly Observation[]): Observation {
  if (before.length === 0) return run;
  const usual = before.reduce((sum, { own }) => sum + own, 0) / before.length;
  return run.own >= usual ? run : { ...run, own: usual };
}

function shortened(level: Level, runs: readonly Observation[]): readonly [Level, readonly Observation[]] {
  const over = runs.length - MOST_RUNS;
  return over <= 0 ? [level, runs] : [updated(level, runs.slice(0, over)), runs.slice(over)];
}

/** Where the series lies now, less where it lies while steady; null before the first run. */
export function distanceOf({ steady, moved, runs }: Course): Level | null {
  if (steady === null) return null;
  const now = moved === null ? updated(steady, runs) : updated(moved, runs);
  return moved === null ? now : { mean: now.mean - steady.mean, variance: now.variance + steady.variance };
}
