import { seededRandom } from "../../seeded-random.ts";

/** A copy of `items` in the order that `seed` gives (Fisher-Yates): the same for the same seed and length, on every machine. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
  }
  return copy;
}
