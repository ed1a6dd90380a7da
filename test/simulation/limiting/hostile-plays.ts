import { hostilePlan, playHostile, stepPlan } from "./hostile.ts";

/** What is broken in schedules of these seeds. */
export async function brokenIn(seeds: Iterable<number>): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const seed of seeds) {
    const end = await playHostile(hostilePlan(seed));
    if (typeof end === "string") broken.push(end);
  }
  return broken;
}

/** What is broken where the Limiter is killed at one of its steps: at every one, or at one of so many. */
export async function brokenByKills(every = 1): Promise<{ readonly steps: number; readonly broken: readonly string[] }> {
  const quiet = await playHostile(stepPlan(null));
  if (typeof quiet === "string") return { steps: 0, broken: [quiet] };
  const broken: string[] = [];
  for (let step = 0; step < quiet.steps; step += every) {
    const end = await playHostile(stepPlan(step));
    if (typeof end === "string") broken.push(end);
  }
  return { steps: quiet.steps, broken };
}

export function* seedsFrom(first: number, count: number): Generator<number> {
  for (let seed = first; seed < first + count; seed++) yield seed;
}
