import type { Random } from "../simulation/world/random.ts";

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export const repeat = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

export const bernoulli = (random: Random, p: number): number => (random.chance(p) ? 1 : 0);

/** Chance to pass of one example: around `p`, uniform, `spread` times as far to either side as it can be (0: all examples are equally hard; 1: of all sizes). */
export const difficulty = (random: Random, p: number, spread: number): number => p + (random.next() - 0.5) * 2 * spread * Math.min(p, 1 - p);

/** The numbers below `count` in random order (Fisher and Yates). */
export function shuffled(random: Random, count: number): number[] {
  const order = Array.from({ length: count }, (_, k) => k);
  for (let k = count - 1; k > 0; k--) {
    const other = random.int(0, k);
    [order[k], order[other]] = [order[other] ?? 0, order[k] ?? 0];
  }
  return order;
}
