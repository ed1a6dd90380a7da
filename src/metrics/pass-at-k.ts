import type { ClusterGroups } from "./one-run/cluster-groups.ts";
import { ClusteredMean } from "./one-run/clustered-mean.ts";
import { bootstrapIntervals } from "./one-run/pass-rate-bootstrap.ts";

/**
 * pass@k and pass^k with the unbiased estimators of verifiers: for an example with n attempts of which c
 * reach the threshold, pass@k = 1 - C(n-c,k)/C(n,k) and pass^k = C(c,k)/C(n,k), averaged over examples that have all n
 * attempts. The quotients are rounded once, as Python's are, so that the averages agree to the last digit.
 */
export type PassRates = Record<string, number>;

/** k = 1, 2, 4, … up to n; none for n < 2, where pass@k says nothing that the mean does not. */
export function passKs(n: number): number[] {
  const ks: number[] = [];
  for (let k = 1; n > 1 && k <= n; k *= 2) ks.push(k);
  return ks;
}

/** P(at least one of k attempts drawn without replacement passes). 1 <= k <= n. */
export const passAtK = (n: number, c: number, k: number): number => 1 - chance(n - c, n, k);

/** P(all of k attempts drawn without replacement pass). 1 <= k <= n. */
export const passAllK = (n: number, c: number, k: number): number => chance(c, n, k);

/** C(m,k)/C(n,k): the chance that k of n attempts all fall among m of them. */
const chance = (m: number, n: number, k: number): number => quotient(combinations(m, k), combinations(n, k));

function combinations(n: number, k: number): bigint {
  if (k > n) return 0n;
  let result = 1n;
  for (let i = 1; i <= Math.min(k, n - k); i++) result = (result * BigInt(n - Math.min(k, n - k) + i)) / BigInt(i);
  return result;
}

/** a/b for 0 <= a <= b, correctly rounded: 66 or more bits of quotient, the remainder folded into the lowest ("sticky") one. */
function quotient(a: bigint, b: bigint): number {
  if (a === 0n) return 0;
  const shift = bitsAtLeast(b) - bitsAtLeast(a) + 70;
  const scaled = a << BigInt(shift);
  const sticky = scaled % b === 0n ? 0n : 1n;
  return Number(((scaled / b) << 1n) | sticky) * 2 ** -(shift + 1);
}

/** Bit length, rounded up to whole hex digits. */
const bitsAtLeast = (value: bigint): number => value.toString(16).length * 4;

/** Of each k, as text: 95 % interval, null where there is none. */
export type PassIntervals = Record<string, readonly [number, number] | null>;

export interface PassRatesOfRun {
  readonly pass_at_k: PassRates;
  readonly pass_all_k: PassRates;
}

export interface PassIntervalsOfRun {
  readonly pass_at_k_ci95: PassIntervals;
  readonly pass_all_k_ci95: PassIntervals;
}

/** Rates that belong to nobody: where attempts are not grouped, or an example has one. */
export const NO_PASS_RATES: PassRatesOfRun & PassIntervalsOfRun = { pass_at_k: {}, pass_all_k: {}, pass_at_k_ci95: {}, pass_all_k_ci95: {} };

/** Examples with one count of passes, and their rates: pass@k and pass^k of each k. */
interface Kind {
  examples: number;
  readonly rates: readonly (readonly [number, number])[];
}

/** Streaming averages over examples. Memory: one entry per distinct count of passes, and where examples are clustered two numbers a cluster and rate. */
export class PassTally {
  readonly #n: number;
  readonly #threshold: number;
  readonly #ks: readonly number[];
  readonly #byPasses = new Map<number, Kind>();
  readonly #sums: [number, number][];
  readonly #clustered: readonly (readonly [ClusteredMean, ClusteredMean])[] | null;
  #complete = 0;

  /** `threshold`: a reward passes from here on, inclusive. `groups`: of the examples; null = each is one of its own. */
  constructor(rolloutsPerExample: number, threshold: number, groups: ClusterGroups | null = null) {
    this.#n = rolloutsPerExample;
    this.#threshold = threshold;
    this.#ks = passKs(rolloutsPerExample);
    this.#sums = this.#ks.map(() => [0, 0]);
    this.#clustered = groups === null ? null : this.#ks.map(() => [new ClusteredMean([0, 1], false, groups), new ClusteredMean([0, 1], false, groups)]);
  }

  /** All rewards of one example; an incomplete example does not count. */
  addExample(rewards: readonly number[], cluster?: string): void {
    if (rewards.length !== this.#n) return;
    const kind = this.#kindOf(rewards.filter((reward) => reward >= this.#threshold).length);
    this.#complete += 1;
    kind.examples += 1;
    this.#sums.forEach((sum, i) => {
      const [atK, allK] = kind.rates[i] ?? [0, 0];
      sum[0] += atK;
      sum[1] += allK;
      this.#clustered?.[i]?.[0].addExample([atK], cluster);
      this.#clustered?.[i]?.[1].addExample([allK], cluster);
    });
  }

  /** Takes in what another has seen of other examples. Throws a `RangeError` for one with another number of rollouts or threshold. */
  merge(other: PassTally): void {
    if (other.#n !== this.#n || other.#threshold !== this.#threshold || (other.#clustered === null) !== (this.#clustered === null))
      throw new RangeError("only tallies of the same kind can be merged");
    this.#complete += other.#complete;
    for (const [passes, { examples }] of other.#byPasses) this.#kindOf(passes).examples += examples;
    this.#sums.forEach((sum, i) => {
      const [atK, allK] = other.#sums[i] ?? [0, 0];
      sum[0] += atK;
      sum[1] += allK;
      for (const which of [0, 1] as const) {
        const theirs = other.#clustered?.[i]?.[which];
        if (theirs !== undefined) this.#clustered?.[i]?.[which].merge(theirs);
      }
    });
  }

  /** Keys are k as text; both empty for one rollout per example, or while no example is complete. */
  result(): PassRatesOfRun {
    const mean = (which: 0 | 1): PassRates => (this.#complete === 0 ? {} : this.#byK((i) => (this.#sums[i]?.[which] ?? 0) / this.#complete));
    return { pass_at_k: mean(0), pass_all_k: mean(1) };
  }

  /** Of the rates, under the same keys. */
  intervals(): PassIntervalsOfRun {
    const intervals = this.#complete === 0 ? [] : this.#intervals();
    const of = (which: 0 | 1): PassIntervals => (this.#complete === 0 ? {} : this.#byK((i) => intervals[2 * i + which] ?? null));
    return { pass_at_k_ci95: of(0), pass_all_k_ci95: of(1) };
  }

  #byK<T>(value: (index: number) => T): Record<string, T> {
    return Object.fromEntries(this.#ks.map((k, i) => [String(k), value(i)]));
  }

  /** Of pass@k and pass^k in turn; resampled where examples are independent. */
  #intervals(): readonly (readonly [number, number] | null)[] {
    if (this.#clustered !== null) return this.#clustered.flatMap((both) => both.map((mean) => mean.estimate().ci95));
    // In ascending order, so that the interval does not depend on which examples were done first.
    const kinds = [...this.#byPasses].sort(([a], [b]) => a - b).map(([, { examples, rates }]) => ({ examples, rates: rates.flat() }));
    return bootstrapIntervals(kinds);
  }

  #kindOf(passes: number): Kind {
    const known = this.#byPasses.get(passes);
    if (known !== undefined) return known;
    const kind = { examples: 0, rates: this.#ks.map((k) => [passAtK(this.#n, passes, k), passAllK(this.#n, passes, k)] as const) };
    this.#byPasses.set(passes, kind);
    return kind;
  }
}
