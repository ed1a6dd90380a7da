import { normalQuantile } from "../metrics/distributions/normal.ts";
import type { RewardRange } from "../metrics/interval.ts";
import { MOST_ERRORS } from "../metrics/most-errors.ts";
import { type Course, distanceOf, type DriftVerdict, follow, NEW_COURSE } from "./course.ts";
import type { Level } from "./change-detector.ts";
import { type Attempts, type Compared, observationOf } from "./observation.ts";
import { type DriftSettings, FIRST_RUNS, NO_BASELINE } from "./settings.ts";

/** What a series of runs knows of its drift, between two runs. All of it is stored; times are Unix milliseconds. */
export interface DriftState {
  readonly version: 1;
  readonly began: Beginning;
  /** As they were then; others begin a series anew. */
  readonly settings: DriftSettings;
  /** What the runs were made by: of another one nothing is compared with what was. */
  readonly ruler: Ruler;
  /** Ids: the first runs, or those that a named baseline stood for in the newest comparison. */
  readonly baseline: readonly string[];
  readonly course: Course;
  /** The newest runs that were judged, the oldest first. */
  readonly judged: readonly string[];
  /** The run at which the series left where it was steady; null while it is. */
  readonly since: string | null;
  /** Runs that have ended and are not compared yet, the oldest first. */
  readonly waiting: readonly string[];
}

export interface Ruler {
  /** What the definition says of the evaluation, and of drift. */
  readonly of: string;
  readonly dataset_digest: string | null;
  readonly env_digest: string | null;
}

export type BeginningReason = "first" | "definition.changed" | "data.changed" | "code.changed" | "baseline.changed" | "reset";
export interface Beginning {
  readonly at: number;
  readonly reason: BeginningReason;
}

/** A run of the series that is over. */
export interface EndedRun {
  readonly run_id: string;
  readonly status: string;
  readonly rollouts: number;
  readonly errored: number;
  /** It ended by a rule to stop by. */
  readonly stopped: boolean;
  readonly ruler: Ruler;
}

/** What is to be compared. */
export interface ComparisonOrder {
  readonly run_id: string;
  /** Null: the runs are those of the series. */
  readonly baseline: { readonly name: string } | { readonly runs: readonly string[] };
  readonly metric: string;
}

/** What came of a comparison. */
export type ComparisonOutcome =
  | ({
      readonly kind: "compared";
      readonly baseline_runs: readonly string[];
      readonly metric: string;
      /** Means over the examples of both. */
      readonly baseline: number;
      readonly candidate: number;
      readonly ci95: readonly [number, number] | null;
      readonly range: RewardRange | null;
      readonly attempts: Attempts;
      /** Rollouts of the run without a score. */
      readonly errored: number;
    } & Compared)
  | { readonly kind: "unjudged"; readonly reason: string };

/** What is said of a run of a series, as stored beside it. */
export type RunDrift =
  /** It is one of the baseline's. */
  | { readonly verdict: "gathering"; readonly runs: number; readonly of: number }
  /** Its comparison is not done. */
  | { readonly verdict: "waiting" }
  /** Why it says nothing of drift. */
  | { readonly verdict: "unjudged"; readonly reason: string }
  | JudgedRun;

export interface JudgedRun {
  readonly verdict: DriftVerdict;
  readonly metric: string;
  readonly n: number;
  readonly clusters?: number;
  readonly baseline: number;
  readonly candidate: number;
  /** This run less its baseline, with its interval by itself. */
  readonly difference: number;
  readonly ci95: readonly [number, number] | null;
  /** Where the series lies: less where it lay while steady, or less the baseline while it is. */
  readonly level: { readonly difference: number; readonly ci95: readonly [number, number] };
  /** Of a change, after this run; `limit` is an alarm. */
  readonly evidence: number;
  readonly limit: number;
  readonly errored: number;
}

/** What happens to a series. */
export type DriftEvent =
  | { readonly type: "drift.began"; readonly run_id: string | null; readonly reason: BeginningReason }
  | {
      readonly type: "drift.worse" | "drift.better" | "drift.steady";
      readonly run_id: string;
      /** At which run it most likely began. */
      readonly since: string;
      readonly difference: number;
      readonly ci95: readonly [number, number];
    };

export interface DriftStep {
  readonly state: DriftState;
  /** By run. */
  readonly verdicts: readonly { readonly run_id: string; readonly drift: RunDrift }[];
  readonly events: readonly DriftEvent[];
}

const MOST_JUDGED = 200;
const OUTER = -normalQuantile(0.025);

export const newDrift = (settings: DriftSettings, ruler: Ruler, at: number, reason: BeginningReason): DriftState => ({
  version: 1,
  began: { at, reason },
  settings,
  ruler,
  baseline: [],
  course: NEW_COURSE,
  judged: [],
  since: null,
  waiting: [],
});

/** Takes a run that is over: of the baseline, to be compared, or neither. Null: there is nothing to say of it. */
export function runEnded(before: DriftState | null, run: EndedRun, settings: DriftSettings, now: number): DriftStep | null {
  const { run_id, ruler } = run;
  const reason = before === null ? "first" : rulerChange(before.ruler, ruler);
  if (settings.baseline === NO_BASELINE) return before === null || reason === null ? null : begun(before, newDrift(settings, ruler, now, reason), run_id);
  const problem = problemOf(run);
  // What such a run is made by says nothing of the series either.
  if (problem !== null) return { state: before ?? newDrift(settings, ruler, now, "first"), verdicts: [unjudged(run_id, problem)], events: [] };
  const { state, verdicts, events } =
    before !== null && reason === null
      ? { state: { ...before, ruler: completed(before.ruler, ruler) }, verdicts: [], events: [] }
      : begun(before, newDrift(settings, ruler, now, reason ?? "first"), run_id);
  if (settings.baseline === FIRST_RUNS && state.baseline.length < settings.first) {
    const baseline = [...state.baseline, run_id];
    const drift: RunDrift = { verdict: "gathering", runs: baseline.length, of: settings.first };
    return { state: { ...state, baseline }, verdicts: [...verdicts, { run_id, drift }], events };
  }
  return { state: { ...state, waiting: [...state.waiting, run_id] }, verdicts: [...verdicts, { run_id, drift: { verdict: "waiting" } }], events };
}

/** What waited is of what is over. */
function begun(before: DriftState | null, state: DriftState, run_id: string | null): DriftStep {
  const verdicts = (before?.waiting ?? []).map((each) => unjudged(each, "the series began anew before it was compared"));
  return { state, verdicts, events: before === null ? [] : [{ type: "drift.began", run_id, reason: state.began.reason }] };
}

const unjudged = (run_id: string, reason: string): DriftStep["verdicts"][number] => ({ run_id, drift: { verdict: "unjudged", reason } });

/** The comparison that is to be made next; null where none is. */
export function nextComparison({ waiting, baseline, settings: { baseline: name, metric } }: DriftState): ComparisonOrder | null {
  const [run_id] = waiting;
  return run_id === undefined ? null : { run_id, metric, baseline: name === FIRST_RUNS ? { runs: baseline } : { name } };
}

/** Takes what came of the comparison of the run that is next; of any other it was taken before, and null is the answer. */
export function runCompared(before: DriftState, run_id: string, outcome: ComparisonOutcome, now: number): DriftStep | null {
  const { settings } = before;
  if (before.waiting[0] !== run_id) return null;
  const rest = { ...before, waiting: before.waiting.slice(1) };
  const without = (reason: string): DriftStep => ({ state: rest, verdicts: [unjudged(run_id, reason)], events: [] });
  if (outcome.kind === "unjudged") return without(outcome.reason);
  const observed = observationOf(outcome, outcome.attempts, outcome.range);
  if (observed === null) return without("fewer than two examples have a score in it and in the baseline, or none says what it varies by");
  const other = settings.baseline !== FIRST_RUNS && before.baseline.length > 0 && before.baseline.join() !== outcome.baseline_runs.join();
  const state: DriftState = other ? { ...newDrift(settings, before.ruler, now, "baseline.changed"), waiting: rest.waiting } : rest;
  const limit = 100 / settings.false_alarms;
  const { course, changed = 1 } = follow(state.course, observed, { runLength: limit, detect: settings.detect ?? usualChange(outcome) });
  const judged = [...state.judged, run_id].slice(-MOST_JUDGED);
  const began = judged.at(-changed) ?? run_id;
  const moves = course.verdict !== state.course.verdict;
  const level = levelShown(course);
  const drift: JudgedRun = {
    verdict: course.verdict,
    metric: outcome.metric,
    n: outcome.n,
    ...(outcome.clusters === undefined ? {} : { clusters: outcome.clusters }),
    baseline: outcome.baseline,
    candidate: outcome.candidate,
    difference: outcome.difference,
    ci95: outcome.ci95,
    level,
    evidence: course.evidence,
    limit,
    errored: outcome.errored,
  };
  const events: DriftEvent[] = other ? [{ type: "drift.began", run_id, reason: "baseline.changed" }] : [];
  if (moves) events.push({ type: `drift.${course.verdict}`, run_id, since: began, ...level });
  const since = course.verdict === "steady" ? null : moves ? began : state.since;
  return { state: { ...state, baseline: outcome.baseline_runs, course, judged, since }, verdicts: [{ run_id, drift }], events };
}

/** Begins anew, as somebody asks: with a named baseline as it is then, or the next first runs. */
export const resetDrift = (before: DriftState, now: number): DriftStep => begun(before, newDrift(before.settings, before.ruler, now, "reset"), null);

function problemOf({ status, rollouts, errored, stopped }: EndedRun): string | null {
  if (status !== "COMPLETED") return `it ended ${status}: what is there of it is no random part`;
  if (stopped) return "it stopped early, by a rule: its mean is not that of a run of fixed size";
  if (rollouts === 0) return "it has no rollouts";
  const share = errored / rollouts;
  return share > MOST_ERRORS
    ? `${(100 * share).toFixed(1)} % of its rollouts ended in an error and have no score: those that answered are no random part`
    : null;
}

function rulerChange(before: Ruler, after: Ruler): BeginningReason | null {
  const differs = (one: string | null, two: string | null): boolean => one !== null && two !== null && one !== two;
  if (before.of !== after.of) return "definition.changed";
  if (differs(before.dataset_digest, after.dataset_digest)) return "data.changed";
  return differs(before.env_digest, after.env_digest) ? "code.changed" : null;
}

/** What a run does not say is as it was. */
const completed = (before: Ruler, after: Ruler): Ruler => ({
  of: after.of,
  dataset_digest: after.dataset_digest ?? before.dataset_digest,
  env_digest: after.env_digest ?? before.env_digest,
});

/** A twentieth of what the metric can be; of one that nobody bounds, of what it is. */
function usualChange({ range, baseline }: { readonly range: RewardRange | null; readonly baseline: number }): number {
  const span = range === null ? Math.abs(baseline) : range[1] - range[0];
  return (span > 0 ? span : 1) / 20;
}

function levelShown(course: Course): JudgedRun["level"] {
  const { mean, variance }: Level = distanceOf(course) ?? { mean: 0, variance: 0 };
  const half = OUTER * Math.sqrt(variance);
  return { difference: mean, ci95: [mean - half, mean + half] };
}
