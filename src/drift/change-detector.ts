import { normalQuantile } from "../metrics/distributions/normal.ts";
import { studentTTwoSided } from "../metrics/distributions/student-t.ts";
import type { Observation } from "./observation.ts";

/** What is known of where differences lie while nothing changes. */
export interface Level {
  readonly mean: number;
  /** Above 0. */
  readonly variance: number;
}

export interface Detection {
  /** Sum over all runs at which a change may have begun of how much likelier one makes what was seen: 0 before the first run. */
  readonly evidence: number;
  readonly direction: "worse" | "better";
  /** Index of the run at which the change most likely began. */
  readonly since: number;
}

/** Sizes of change are looked for around the one that is asked for, and around four times as much. */
const SIZES = [1, 4];
/** What tails beyond counting are taken for. */
const FARTHEST = 30;

/**
 * Evidence that differences have left their level, from the runs in their order. Each is compared with what those before it say of the level, by which the
 * luck of a baseline, which all comparisons share, is learned and taken out: under no change these surprises are independent standard normal numbers. For each
 * run at which a change may have begun, and sizes of it normal around 0 with spread `size` or four times that, the likelihood ratio is a martingale of mean 1, and the sum less the number
 * of runs one of mean 0 (Shiryaev and Roberts; Shin, Ramdas and Rinaldo 2022, "E-detectors"). Stopped when the sum reaches A it is stopped after A runs on average, at
 * the least, where nothing changes.
 */
export function detect(level: Level, runs: readonly Observation[], size: number): Detection {
  let precision = 1 / level.variance;
  let mean = level.mean;
  /** Of runs before each beginning. */
  const before: number[] = [];
  const shift: number[] = [];
  const information: number[] = [];
  for (const { difference, own, freedom } of runs) {
    before.push(precision);
    shift.push(0);
    information.push(0);
    const spread = Math.sqrt(own + 1 / precision);
    const surprise = standardNormal((difference - mean) / spread, freedom);
    for (const [beginning, known] of before.entries()) {
      // Later runs have taken part of the change for the level.
      const gain = known / precision / spread;
      shift[beginning] = (shift[beginning] ?? 0) + gain * surprise;
      information[beginning] = (information[beginning] ?? 0) + gain ** 2;
    }
    precision += 1 / own;
    mean += (difference - mean) / own / precision;
  }
  let [evidence, most, since] = [0, Number.NEGATIVE_INFINITY, 0];
  for (const [beginning, found] of shift.entries()) {
    const known = information[beginning] ?? 0;
    const ratio = SIZES.reduce((sum, times) => sum + likelihoodRatio(found, known, (times * size) ** 2), 0) / SIZES.length;
    evidence += ratio;
    if (ratio > most) [most, since] = [ratio, beginning];
  }
  return { evidence, direction: (shift[since] ?? 0) < 0 ? "worse" : "better", since };
}

/** Of a change whose size is normal around 0 with this variance. */
function likelihoodRatio(found: number, known: number, variance: number): number {
  const scale = 1 + variance * known;
  return Math.exp(Math.min((found ** 2 * variance) / (2 * scale), 500)) / Math.sqrt(scale);
}

/** What is known of the level with these runs. */
export function updated({ mean, variance }: Level, runs: readonly Observation[]): Level {
  let precision = 1 / variance;
  let sum = mean * precision;
  for (const { difference, own } of runs) {
    precision += 1 / own;
    sum += difference / own;
  }
  return { mean: sum / precision, variance: 1 / precision };
}

/** The standard normal number that is as rare as this one of Student's t. */
function standardNormal(t: number, freedom: number): number {
  if (t === 0) return 0;
  const tail = studentTTwoSided(t, freedom) / 2;
  const z = tail > 1e-190 ? -normalQuantile(tail) : FARTHEST;
  return Math.sign(t) * Math.min(FARTHEST, z);
}
