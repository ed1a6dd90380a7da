import type { ComparedRun } from "../../src/metrics/comparison/compare-runs.ts";
import { neededExamples } from "../../src/metrics/comparison/power.ts";
import type { ScoreTable } from "../../src/metrics/comparison/score-table.ts";
import { gateRun } from "../../src/metrics/gate/gate.ts";
import type { Verdict } from "../../src/metrics/gate/verdict.ts";
import { Random } from "../simulation/world/random.ts";
import { bernoulli, difficulty, mean, repeat } from "./draws.ts";

export const GATE_ALPHA = 0.05;

/** Two runs over the same examples, of models whose means are known. */
export interface GateCase {
  /** Null: as many as are planned for. */
  readonly examples: number | null;
  readonly attempts: number;
  /** Mean of the baseline. */
  readonly p: number;
  /** So much less often the candidate passes each example. */
  readonly drop: number;
  readonly maxDrop: number;
}

export interface GateFigures extends GateCase {
  readonly examples: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
}

/** How much examples differ: so hard that no drop takes a chance below 0, so that the difference is the same everywhere. */
const spreadOf = ({ p, drop }: GateCase): number => 1 - drop / Math.min(p, 1 - p);

/** What single attempts at an example vary by, on average, of a model that passes `drop` less often. */
const within = (played: GateCase, drop: number): number =>
  (played.p - drop) * (1 - played.p + drop) - (spreadOf(played) * Math.min(played.p, 1 - played.p)) ** 2 / 3;

export const GATE_CASES: readonly GateCase[] = [
  ...[0, 0.02].flatMap((maxDrop) =>
    [50, 200, 500].flatMap((examples) => [1, 4].flatMap((attempts) => [0.5, 0.9].map((p): GateCase => ({ examples, attempts, p, drop: 0, maxDrop })))),
  ),
  // Exactly as much worse as allowed: to say anything is wrong in half of them, and a pass is the worse of the two.
  ...[200, 500].flatMap((examples) => [1, 4].map((attempts): GateCase => ({ examples, attempts, p: 0.6, drop: 0.05, maxDrop: 0.05 }))),
  // As good, or twice as much worse as allowed, at the size that is planned for 80 %.
  ...[1, 4].flatMap((attempts) => [0, 0.1].map((drop): GateCase => ({ examples: null, attempts, p: 0.6, drop, maxDrop: 0.05 }))),
];

/** Plays one case; the same seed gives the same figures on every machine. */
export function playGate(played: GateCase, plays: number, seed: number): GateFigures {
  const { attempts, p, drop, maxDrop } = played;
  const random = new Random(seed);
  const [withinA, withinB] = [within(played, 0), within(played, drop)];
  const examples = played.examples ?? neededExamples({ between: 0, withinA, withinB }, Math.abs(maxDrop - drop), { attemptsA: attempts, attemptsB: attempts });
  const counts: Record<Verdict, number> = { pass: 0, fail: 0, undecided: 0 };
  for (let play = 0; play < plays; play++) {
    const chances = repeat(examples, () => difficulty(random, p, spreadOf(played)));
    const run = (less: number): ComparedRun => runOf(chances.map((chance) => repeat(attempts, () => bernoulli(random, chance - less))));
    const outcome = gateRun(run(drop), run(0), { maxDrop, min: null, metric: "reward", alpha: GATE_ALPHA, unpaired: false, accepted: false });
    if (outcome.kind === "decided") counts[outcome.report.verdict] += 1;
  }
  return { ...played, examples, verdicts: { pass: counts.pass / plays, fail: counts.fail / plays, undecided: counts.undecided / plays } };
}

function runOf(scores: readonly (readonly number[])[]): ComparedRun {
  const numbers = Float64Array.from(scores, (_, i) => i);
  const means = Float64Array.from(scores, mean);
  const squares = scores.reduce((sum, own, i) => sum + own.reduce((inside, score) => inside + (score - (means[i] ?? 0)) ** 2, 0), 0);
  const attempts = scores[0]?.length ?? 1;
  const sums = { squares, freedom: scores.length * (attempts - 1), inverse: scores.length / attempts };
  const table: ScoreTable = {
    examples: scores.length,
    rollouts: scores.length * attempts,
    errored: 0,
    ids: numbers,
    contents: numbers,
    rows: numbers.map((i) => i + 1),
    adjacent: numbers.map(() => attempts),
    contentKnown: true,
    wrongIds: false,
    unnamed: 0,
    single: attempts === 1,
    clusters: null,
    answers: null,
    columns: new Map([["reward", { means, within: sums, binary: true }]]),
  };
  return { name: "run", model: "m", metadata: {}, range: [0, 1], table };
}
