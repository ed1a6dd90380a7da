import { formatStopRule, type StopRule } from "../../src/config/options/stop-rule.ts";
import { StopWatch } from "../../src/metrics/sequential/stop-watch.ts";
import { Random } from "../simulation/world/random.ts";
import { bernoulli, difficulty, mean, repeat, shuffled } from "./draws.ts";

export const ALPHA = 0.05;

/** Runs whose truth is known, played under a rule that looks after every example. */
export interface StoppingCase {
  readonly name: string;
  readonly rule: StopRule;
  /** Examples of the run. */
  readonly examples: number;
  /** The scores of all examples, in data order, and the baseline's. */
  readonly scores: (random: Random) => { readonly run: number[]; readonly baseline?: number[] };
  /** Chance that a score is never known, of an example that passes and of one that fails; default: all are. */
  readonly lost?: readonly [passed: number, failed: number];
  /** The difference between the two models; else the truth is the mean of the whole run. */
  readonly difference?: number;
  readonly pairsOfZeroAndOne?: boolean;
}

export interface StoppingFigures {
  readonly case: string;
  readonly rule: string;
  readonly plays: number;
  /** Share of plays whose interval left the truth at any look, or whose finding is not true; at most alpha is right. */
  readonly missed: number;
  /** Share of plays that ended before the last example. */
  readonly stopped: number;
  /** Median share of examples that were not needed. */
  readonly saved: number;
}

const run =
  (examples: number, p: number, attempts: number) =>
  (random: Random): { run: number[] } => ({
    run: repeat(examples, () => {
      const passes = difficulty(random, p, 1);
      return mean(repeat(attempts, () => bernoulli(random, passes)));
    }),
  });

/** Two runs over the same examples: what is hard for one is hard for the other; the run passes `drop` less often. */
const pair =
  (examples: number, p: number, drop: number, attempts: number) =>
  (random: Random): { run: number[]; baseline: number[] } => {
    const passes = repeat(examples, () => difficulty(random, p, 1));
    const attempt = (less: number): number[] => passes.map((each) => mean(repeat(attempts, () => bernoulli(random, Math.max(0, each - less)))));
    return { baseline: attempt(0), run: attempt(drop) };
  };

const halfwidth: StopRule = { kind: "halfwidth", bound: 0.05 };
const below: StopRule = { kind: "mean", side: "below", bound: 0.7 };
const above: StopRule = { kind: "mean", side: "above", bound: 0.7 };
const versus: StopRule = { kind: "versus", baseline: "baseline" };

export const STOPPING_CASES: readonly StoppingCase[] = [
  ...[0.1, 0.5, 0.9].map((p): StoppingCase => ({ name: `passes ${p}, 1 attempt`, rule: halfwidth, examples: 1_000, scores: run(1_000, p, 1) })),
  { name: "passes 0.5, 8 attempts", rule: halfwidth, examples: 1_000, scores: run(1_000, 0.5, 8) },
  ...[0.69, 0.65, 0.6, 0.5].map((p): StoppingCase => ({ name: `passes ${p}, 1 attempt`, rule: below, examples: 1_000, scores: run(1_000, p, 1) })),
  ...[0.75, 0.8].map((p): StoppingCase => ({ name: `passes ${p}, 1 attempt`, rule: above, examples: 1_000, scores: run(1_000, p, 1) })),
  ...[0.65, 0.6].map(
    (p): StoppingCase => ({
      name: `passes ${p}, 1 attempt; of those that fail 5 % end in errors, of others 1 %`,
      rule: below,
      examples: 1_000,
      scores: run(1_000, p, 1),
      lost: [0.01, 0.05],
    }),
  ),
  ...[0, 0.02, 0.05, 0.1, 0.2].map(
    (drop): StoppingCase => ({
      name: `${drop} worse, 1 attempt`,
      rule: versus,
      examples: 1_000,
      scores: pair(1_000, 0.6, drop, 1),
      difference: -drop,
      pairsOfZeroAndOne: true,
    }),
  ),
  ...[0, 0.1].map(
    (drop): StoppingCase => ({
      name: `${drop} worse, 1 attempt; of those that fail 5 % end in errors, of others 1 %`,
      rule: versus,
      examples: 1_000,
      scores: pair(1_000, 0.6, drop, 1),
      difference: -drop,
      pairsOfZeroAndOne: true,
      lost: [0.01, 0.05],
    }),
  ),
  ...[0, 0.05, 0.1].map(
    (drop): StoppingCase => ({ name: `${drop} worse, 4 attempts`, rule: versus, examples: 1_000, scores: pair(1_000, 0.6, drop, 4), difference: -drop }),
  ),
];

/** Plays one case; the same seed gives the same figures on every machine. */
export function playStopping(
  { name, rule, examples, scores, lost, difference, pairsOfZeroAndOne = false }: StoppingCase,
  plays: number,
  seed: number,
): StoppingFigures {
  const random = new Random(seed);
  let missed = 0;
  let stopped = 0;
  const saved: number[] = [];
  const seen = (score: number): number | readonly [number, number] => (lost !== undefined && random.chance(score > 0 ? lost[0] : lost[1]) ? [0, 1] : score);
  for (let play = 0; play < plays; play++) {
    const all = scores(random);
    const truth = difference ?? mean(all.run);
    const watch = new StopWatch({ rule, alpha: ALPHA, population: examples, pairsOfZeroAndOne });
    let ended: number | null = null;
    let wrong = false;
    for (const example of shuffled(random, examples)) {
      const baseline = all.baseline?.[example];
      watch.add(seen(all.run[example] ?? 0), baseline === undefined ? undefined : seen(baseline));
      const [low, high] = watch.interval();
      wrong ||= low > truth + 1e-9 || high < truth - 1e-9;
      const decision = ended === null ? watch.decision() : null;
      if (decision === null) continue;
      ended = watch.examples;
      if (decision.finding === "better") wrong ||= truth <= 0;
      if (decision.finding === "worse") wrong ||= truth >= 0;
    }
    if (wrong) missed += 1;
    if (ended !== null && ended < examples) stopped += 1;
    saved.push(1 - (ended ?? examples) / examples);
  }
  saved.sort((a, b) => a - b);
  return { case: name, rule: formatStopRule(rule), plays, missed: missed / plays, stopped: stopped / plays, saved: saved[Math.floor(plays / 2)] ?? 0 };
}
