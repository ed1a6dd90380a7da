/** What a metric adds to the reward of a rollout. */
export interface ScoreShare {
  readonly name: string;
  /** Null: the rollout has no such score. */
  readonly value: number | null;
  /** What it counts for in the reward, 0 = it is a metric alone; null = nobody knows. */
  readonly weight: number | null;
  /** Null where one of them is not known. */
  readonly share: number | null;
}

/** Metrics of a rollout: those that count towards the reward first. `weights`: of the run, by name. */
export function scoreShares(metrics: Readonly<Record<string, unknown>>, weights: Readonly<Record<string, number>>): readonly ScoreShare[] {
  const names = [...new Set([...Object.keys(weights), ...Object.keys(metrics)])];
  const shares = names.map((name) => {
    const [given, weight] = [Object.hasOwn(metrics, name) ? metrics[name] : undefined, Object.hasOwn(weights, name) ? (weights[name] ?? null) : null];
    const value = typeof given === "number" ? given : null;
    return { name, value, weight, share: value === null || weight === null ? null : value * weight };
  });
  return [...shares.filter(({ weight }) => weight !== 0), ...shares.filter(({ weight }) => weight === 0)];
}
