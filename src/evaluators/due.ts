/** When a training loop's evaluator is due: pure, and testable without a trainer. */

/**
 * Whether a step is evaluated. `step`: counted from 0, as trainers count; `runEvery`: evaluate each so many steps, cut to an integer, 0 or less = never. Due
 * when `step + 1` is a multiple, so that 50 is first due after the step with index 49.
 */
export function isDue(step: number, runEvery: number): boolean {
  const cadence = Math.trunc(runEvery);
  return cadence > 0 && (step + 1) % cadence === 0;
}

/** The number by which a step is reported. */
export const reportedStep = (step: number): number => step + 1;
