import { RewardSpread } from "../../src/metrics/interval.ts";
import { PrefixMean } from "../../src/metrics/one-run/live-mean.ts";
import type { Estimate } from "../../src/metrics/one-run/estimate.ts";
import { Random } from "../simulation/world/random.ts";
import { bernoulli, difficulty, mean, repeat } from "./draws.ts";

/** A run in which wrong answers take longer, looked at while it goes on: what its live number says of its end. */
export interface LiveCase {
  readonly examples: number;
  /** Examples under way at once. */
  readonly lanes: number;
  /** How many times as long a wrong answer takes. */
  readonly slower: number;
  /** Share of the examples that are done when it is looked at. */
  readonly at: number;
}

/** Of one live number: how often its 95 % interval holds the mean that the run ends with, and how far off it is on average. */
export interface LiveShares {
  readonly covered: number;
  readonly bias: number;
}

export interface LiveFigures extends LiveCase {
  /** The mean of the first examples without a gap, in a random order. */
  readonly prefix: LiveShares;
  /** The mean of whatever is done. */
  readonly naive: LiveShares;
  /** Looks at which there was a number of the first kind: two examples at least. */
  readonly looks: number;
}

export const LIVE_CASES: readonly LiveCase[] = [1, 3, 10].flatMap((slower) => [0.1, 0.25, 0.5].map((at) => ({ examples: 500, lanes: 32, slower, at })));

class Shares {
  #looks = 0;
  #covered = 0;
  #bias = 0;

  add({ mean: found, ci95 }: Estimate, truth: number): void {
    this.#looks += 1;
    this.#bias += found - truth;
    if (ci95 !== null && ci95[0] <= truth && truth <= ci95[1]) this.#covered += 1;
  }

  get result(): LiveShares & { readonly looks: number } {
    return { covered: this.#covered / this.#looks, bias: this.#bias / this.#looks, looks: this.#looks };
  }
}

/** Plays one case; the same seed gives the same figures on every machine. */
export function playLive(played: LiveCase, plays: number, seed: number): LiveFigures {
  const random = new Random(seed);
  const [prefixes, naives] = [new Shares(), new Shares()];
  for (let play = 0; play < plays; play++) {
    const scores = repeat(played.examples, () => bernoulli(random, difficulty(random, 0.5, 1)));
    const done = doneAt(played, scores, random);
    const gap = done.indexOf(false);
    const prefix = new PrefixMean();
    const naive = new RewardSpread();
    for (const [position, reward] of scores.entries()) {
      if (position < gap) prefix.add([{ reward, error: null, input_tokens: 0, output_tokens: 0, truncated: false, metrics: {} }]);
      if (done[position] === true) naive.addExample([reward]);
    }
    if (prefix.examples < 2) continue;
    prefixes.add(prefix.estimate(), mean(scores));
    naives.add(naive.estimate(), mean(scores));
  }
  const { looks, ...prefix } = prefixes.result;
  const { looks: _, ...naive } = naives.result;
  return { ...played, prefix, naive, looks };
}

/** Which examples are done at the moment when so many are: lanes take them in their order, and each takes a random time. */
function doneAt({ examples, lanes, slower, at }: LiveCase, scores: readonly number[], random: Random): boolean[] {
  const free = repeat(lanes, () => 0);
  const ends = scores.map((score) => {
    const lane = free.indexOf(Math.min(...free));
    const end = (free[lane] ?? 0) - Math.log(1 - random.next()) * (score === 1 ? 1 : slower);
    free[lane] = end;
    return end;
  });
  const now = [...ends].sort((a, b) => a - b)[Math.floor(at * examples)] ?? 0;
  return ends.map((end) => end <= now);
}
