import { RewardSpread } from "../../src/metrics/interval.ts";
import { Random } from "../simulation/world/random.ts";
import { bernoulli, difficulty, mean, repeat } from "./draws.ts";

/** Runs of a model whose mean over all examples there could be is known. */
export interface CoverageCase {
  readonly examples: number;
  readonly attempts: number;
  /** Mean of what examples give. */
  readonly p: number;
  /** How much examples differ: see `difficulty`. */
  readonly spread: number;
}

export interface CoverageFigures extends CoverageCase {
  readonly plays: number;
  /** Share of runs whose 95 % interval held the truth. */
  readonly covered: number;
  /** The same for the normal interval over attempts as if they were independent, which most tools print. */
  readonly naive: number;
}

export const COVERAGE_CASES: readonly CoverageCase[] = [20, 50, 500].flatMap((examples) =>
  [1, 4].flatMap((attempts) => [0.5, 0.9].flatMap((p) => [0, 1].map((spread) => ({ examples, attempts, p, spread })))),
);

/** Plays one case; the same seed gives the same figures on every machine. */
export function playCoverage(played: CoverageCase, plays: number, seed: number): CoverageFigures {
  const { examples, attempts, p, spread } = played;
  const random = new Random(seed);
  let covered = 0;
  let naive = 0;
  for (let play = 0; play < plays; play++) {
    const uncertainty = new RewardSpread();
    const all: number[] = [];
    for (let example = 0; example < examples; example++) {
      const chance = difficulty(random, p, spread);
      const rewards = repeat(attempts, () => bernoulli(random, chance));
      uncertainty.addExample(rewards);
      all.push(...rewards);
    }
    const interval = uncertainty.result().reward_ci95;
    if (interval !== null && interval[0] <= p && p <= interval[1]) covered += 1;
    const middle = mean(all);
    const half = 1.959963984540054 * Math.sqrt((middle * (1 - middle)) / all.length);
    if (Math.abs(middle - p) <= half) naive += 1;
  }
  return { ...played, plays, covered: covered / plays, naive: naive / plays };
}
