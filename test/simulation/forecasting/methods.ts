import { normalQuantile } from "../../../src/metrics/distributions/normal.ts";
import { studentTQuantile } from "../../../src/metrics/distributions/student-t.ts";
import { predictedSum, sumOf } from "../../../src/forecast/predicted-sum.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { normal } from "./costs.ts";

/** Low and high end of what `more` further examples come to. */
export type Method = (values: readonly number[], more: number, seed: number) => readonly [number, number];

interface Sample {
  readonly n: number;
  readonly mean: number;
  readonly spread: number;
}

function sampleOf(values: readonly number[]): Sample {
  const n = values.length;
  const mean = sumOf(values) / n;
  return { n, mean, spread: Math.sqrt(sumOf(values.map((value) => (value - mean) ** 2)) / (n - 1)) };
}

const known = new Map<string, number>();
/** Bisection is slow, and the same few are asked for. */
function t(p: number, df: number): number {
  const name = `${p} ${df}`;
  const quantile = known.get(name) ?? studentTQuantile(p, df);
  known.set(name, quantile);
  return quantile;
}

const errorOf = ({ n, spread }: Sample, more: number): number => spread * Math.sqrt(1 / n + 1 / more);

const ofT =
  (low: number, high: number): Method =>
  (values, more) => {
    const sample = sampleOf(values);
    const error = errorOf(sample, more);
    return [more * (sample.mean - t(low, sample.n - 1) * error), more * (sample.mean + t(high, sample.n - 1) * error)];
  };

const ofLogarithm =
  (low: number, high: number): Method =>
  (values, more) => {
    const sample = sampleOf(values);
    const error = errorOf(sample, more) / sample.mean;
    return [more * sample.mean * Math.exp(-t(low, sample.n - 1) * error), more * sample.mean * Math.exp(t(high, sample.n - 1) * error)];
  };

const DRAWS = 400;

/** Fits a log-normal distribution: mean and spread of the logarithm are drawn as the sample leaves them open, and a sum of as many from them. */
const ofPosterior: Method = (values, more, seed) => {
  const random = seededRandom(seed);
  const { n, mean, spread } = sampleOf(values.map(Math.log));
  const sums = Array.from({ length: DRAWS }, () => {
    const squares = sumOf(Array.from({ length: n - 1 }, () => normal(random) ** 2));
    const sigma = spread / Math.sqrt(squares / (n - 1));
    const expected = Math.exp(mean + (normal(random) * sigma) / Math.sqrt(n) + sigma ** 2 / 2);
    // A sum of many is nearly log-normal, too, with the mean and the variance that it has.
    const variance = Math.log(1 + (Math.exp(sigma ** 2) - 1) / more);
    return more * expected * Math.exp(Math.sqrt(variance) * normal(random) - variance / 2);
  });
  return endsOf(sums, 0.05, 0.95);
};

const ofBootstrap: Method = (values, more, seed) => {
  const random = seededRandom(seed);
  const sample = sampleOf(values);
  const { n, mean, spread } = sample;
  const scores: number[] = [];
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const again = sampleOf(Array.from(values, () => values[Math.floor(random() * n)] ?? 0));
    const future = mean + (spread * Math.sqrt((n - 1) / n) * normal(random)) / Math.sqrt(more);
    const error = errorOf(again, more);
    if (error > 1e-12) scores.push((future - again.mean) / error);
  }
  const [low, high] = endsOf(scores, 0.05, 0.95);
  return [more * (mean + low * errorOf(sample, more)), more * (mean + high * errorOf(sample, more))];
};

function endsOf(numbers: readonly number[], low: number, high: number): readonly [number, number] {
  if (numbers.length === 0) return [Number.NaN, Number.NaN];
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return [at(low), at(high)];
}

/** Hall's transformation of t, by the skewness of the sample (Hall 1992, "On the removal of skewness by transformation"). */
const ofHall: Method = (values, more) => {
  const sample = sampleOf(values);
  const { n, mean, spread } = sample;
  if (spread === 0) return [more * mean, more * mean];
  const skew = sumOf(values.map((value) => ((value - mean) / spread) ** 3)) / n / Math.sqrt(n);
  const inverse = (x: number): number => (Math.abs(skew) < 1e-6 ? x : (3 / skew) * (Math.cbrt(1 + skew * (x - skew / 6)) - 1));
  const end = (p: number): number => more * (mean - inverse(normalQuantile(p) < 0 ? -t(1 - p, n - 1) : t(p, n - 1)) * errorOf(sample, more));
  return [end(0.99), end(0.01)];
};

/** What was shipped before: nothing is reckoned with that is not among the examples. */
const before: Method = (values, more) => {
  const sample = sampleOf(values);
  const error = errorOf(sample, more);
  return [more * sample.mean * Math.exp((-t(0.99, sample.n - 1) * error) / sample.mean), more * (sample.mean + t(0.9998, sample.n - 1) * error)];
};

const shipped: Method = (values, more) => {
  const { low, high } = predictedSum(values, more);
  return [low, high];
};

export const METHODS: Readonly<Record<string, Method>> = {
  "t, 5 % to either side": ofT(0.95, 0.95),
  "t of the logarithm of the mean, 5 %": ofLogarithm(0.95, 0.95),
  "log-normal, simulated from its posterior": ofPosterior,
  "bootstrap-t, 5 %": ofBootstrap,
  "logarithm of the mean, 1 % and 0.5 %": ofLogarithm(0.99, 0.995),
  "Hall's transformation, 1 %": ofHall,
  "the one before": before,
  "**this one**": shipped,
};
