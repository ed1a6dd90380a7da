import { type Predicted, predictedSum, sumOf } from "./predicted-sum.ts";

/** How fast a run may go. */
export interface Pace {
  /** Rollouts at once: its `max_concurrent`; 0 or less = no limit. */
  readonly concurrent: number;
  /** Of the endpoint's key, as far as known; null = not known, or none. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

/** What there is to do in that time, and what is known of how long it takes. */
export interface WorkToCome {
  /** Seconds of each example that was played, its rollouts together. */
  readonly seconds: readonly number[];
  /** The longest rollout that was played, in seconds. */
  readonly longest: number;
  /** Examples to come, and rollouts of each. */
  readonly more: number;
  readonly rollouts: number;
  readonly calls: Predicted;
  readonly tokens: Predicted;
}

/** How many times as long as the longest of the rollouts that were seen the longest of e times as many may be. */
const LONGER = 2.25;

/**
 * Seconds until the rollouts to come are done, begun one after another on as many lanes as there are: at least their work divided by the lanes, and at
 * most some rollouts more, those that begin last. Of many rollouts the longest is longer than of few, and by how much nobody can tell from the few: the upper
 * end was chosen by simulation (docs/decisions/forecast-intervals.md). Under a limit no faster than it allows.
 */
export function wallTime({ seconds, longest, more, rollouts, calls, tokens }: WorkToCome, pace: Pace): Predicted {
  const waiting = more * rollouts;
  const lanes = pace.concurrent < 1 ? waiting : Math.min(pace.concurrent, waiting);
  if (lanes === 0) return { expected: 0, low: 0, high: 0 };
  const work = predictedSum(seconds, more);
  const typical = sumOf(seconds) / (seconds.length * rollouts);
  const least = (part: (predicted: Predicted) => number): number =>
    Math.max(minutesAt(part(calls), pace.requests_per_minute), minutesAt(part(tokens), pace.tokens_per_minute)) * 60;
  return {
    low: Math.max(
      work.low / lanes,
      least(({ low }) => low),
    ),
    // The last ones to end are the long ones.
    expected: Math.max(
      work.expected / lanes + (lanes === waiting ? longest - typical : longest / 2),
      least(({ expected }) => expected),
    ),
    high: Math.max(
      work.high / lanes + longest * (2 + LONGER * Math.log(1 + more / seconds.length)),
      least(({ high }) => high),
    ),
  };
}

const minutesAt = (count: number, perMinute: number | null): number => (perMinute === null ? 0 : count / perMinute);
