import type { RewardRange } from "../interval.ts";
import type { ExampleScore } from "./envelope-bounds.ts";

/** A sum of floats is as much off at most; anything further is outside. */
const ROUNDING = 1e-9;

/**
 * The mean of an example's attempts; null is one that has no score, since it ended in an error: then the least and the most that the mean can be. Rounding
 * beyond the range is cut; what else is outside stays, for the bounds to refuse.
 */
export function exampleScore(scores: readonly (number | null)[], [low, high]: RewardRange): ExampleScore {
  const known = scores.filter((score) => score !== null);
  const sum = known.reduce((total, score) => total + score, 0);
  const unknown = scores.length - known.length;
  const within = (score: number): number => {
    const rounding = ROUNDING * Math.max(1, Math.abs(low), Math.abs(high));
    if (score < low && score >= low - rounding) return low;
    return score > high && score <= high + rounding ? high : score;
  };
  return [within((sum + unknown * low) / scores.length), within((sum + unknown * high) / scores.length)];
}
