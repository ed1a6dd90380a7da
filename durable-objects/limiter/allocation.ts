/** One of several that share what bounds them. */
export interface Claim {
  /** How fast it is served beside others; above 0. */
  readonly weight: number;
  /** More is of no use to it. Finite. */
  readonly most: number;
  /** How much of each bound one unit of it takes, by the position of the bound; 0 = none. */
  readonly uses: readonly number[];
}

export interface Filled {
  readonly amounts: readonly number[];
  /** Position of the bound that kept each from more; null = it has all that it can use. */
  readonly by: readonly (number | null)[];
}

/** Below this part of a bound nothing is left of it: sums of fractions are not exact. */
const DUST = 1e-9;

/**
 * Weighted max-min by progressive filling: all grow at the pace of their weights, until they have all that they can use or a bound that they are under
 * is used up; the others grow on. Nobody could have more but at the cost of one that has less for its weight.
 */
export function fill(claims: readonly Claim[], bounds: readonly number[]): Filled {
  const [only] = bounds;
  if (only !== undefined && bounds.length === 1) return fillOne(claims, Math.max(0, only));
  const amounts = claims.map(() => 0);
  const by: (number | null)[] = claims.map(() => null);
  const left = bounds.map((bound) => Math.max(0, bound));
  const dust = bounds.map((bound) => Math.max(DUST, bound * DUST));
  let growing = claims.map((_, at) => at);
  const isServed = (at: number): boolean => (amounts[at] ?? 0) >= (claims[at]?.most ?? 0) - DUST;
  const usedUp = (at: number): number | null => {
    const found = left.findIndex((rest, bound) => rest <= (dust[bound] ?? DUST) && (claims[at]?.uses[bound] ?? 0) > 0);
    return found < 0 ? null : found;
  };
  // Each round serves somebody to the full or uses up a bound, unless numbers are absurd.
  for (let rounds = 2 * (claims.length + bounds.length); ; rounds--) {
    growing = growing.filter((at) => {
      if (isServed(at)) return false;
      by[at] = usedUp(at);
      return by[at] === null;
    });
    if (growing.length === 0 || rounds < 0) return { amounts, by };
    const pace = left.map((_, bound) => growing.reduce((sum, at) => sum + (claims[at]?.weight ?? 0) * (claims[at]?.uses[bound] ?? 0), 0));
    const steps = [
      ...growing.map((at) => ((claims[at]?.most ?? 0) - (amounts[at] ?? 0)) / (claims[at]?.weight ?? 1)),
      ...left.map((rest, bound) => ((pace[bound] ?? 0) > 0 ? rest / (pace[bound] ?? 1) : Number.POSITIVE_INFINITY)),
    ];
    const step = Math.min(...steps);
    for (const at of growing) amounts[at] = (amounts[at] ?? 0) + step * (claims[at]?.weight ?? 0);
    for (const bound of left.keys()) left[bound] = (left[bound] ?? 0) - step * (pace[bound] ?? 0);
  }
}

/** The same under one bound, for as many as there may be: in the order in which they have all that they can use. */
function fillOne(claims: readonly Claim[], bound: number): Filled {
  const amounts = claims.map(({ most }) => Math.max(0, most));
  const by: (number | null)[] = claims.map(() => null);
  const under = claims.flatMap(({ weight, uses: [use = 0] }, at) => (use > 0 ? [{ at, weight, use, full: (amounts[at] ?? 0) / weight }] : []));
  under.sort((a, b) => a.full - b.full);
  let left = bound;
  let pace = under.reduce((sum, { weight, use }) => sum + weight * use, 0);
  for (const { at, weight, use, full } of under) {
    const level = pace > 0 ? Math.max(0, left) / pace : 0;
    if (full > level + DUST) {
      amounts[at] = weight * level;
      by[at] = 0;
    }
    left -= (amounts[at] ?? 0) * use;
    pace -= weight * use;
  }
  return { amounts, by };
}

/** One that gets whole units, in turn with others where there are fewer than they would share. */
export interface WholeClaim extends Claim {
  /** Unit seconds that it was short of its part so far; below 0 = it had more. */
  readonly owed: number;
  /** What it had last. */
  readonly had: number;
}

/**
 * Whoever has a turn keeps it until another was short by so many unit seconds more: a turn that passes on is idle from the end of one request until the
 * next executor hears of it.
 */
const TURN_S = 2;

/**
 * The same in whole units, each of which takes at most one of a bound. What is left of the fractions goes to those that were longest short of theirs (a
 * deficit round robin over time): with fewer units than claims they take turns.
 */
export function wholeParts(claims: readonly WholeClaim[], bounds: readonly number[]): { readonly amounts: readonly number[]; readonly filled: Filled } {
  const whole = bounds.map((bound) => Math.floor(bound + DUST));
  const filled = fill(claims, whole);
  const amounts = filled.amounts.map((amount) => Math.floor(amount + DUST * 1_000));
  const room = whole.map((bound, at) => bound - amounts.reduce((sum, amount, claim) => sum + ((claims[claim]?.uses[at] ?? 0) > 0 ? amount : 0), 0));
  const short = filled.amounts.map((amount, at) => ({ at, part: amount - (amounts[at] ?? 0) })).filter(({ part }) => part > DUST * 1_000);
  const claimOf = (at: number): number => (claims[at]?.owed ?? 0) + ((claims[at]?.had ?? 0) > (amounts[at] ?? 0) ? TURN_S : 0);
  for (const { at } of short.sort((a, b) => claimOf(b.at) - claimOf(a.at) || a.at - b.at)) {
    const uses = claims[at]?.uses ?? [];
    if (room.some((rest, bound) => (uses[bound] ?? 0) > 0 && rest < 1)) continue;
    amounts[at] = (amounts[at] ?? 0) + 1;
    for (const bound of room.keys()) if ((uses[bound] ?? 0) > 0) room[bound] = (room[bound] ?? 0) - 1;
  }
  return { amounts, filled };
}
