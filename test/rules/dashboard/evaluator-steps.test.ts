import { expect, it } from "vitest";
import { isDue } from "../../../src/evaluators/due.ts";
import type { Evaluator } from "../../../src/dashboard/api/schedule-answers.ts";
import { nextStep } from "../../../src/dashboard/pages/evaluators/steps.ts";

const evaluator = (everys: readonly number[], steps: readonly number[]) =>
  ({ definition: { evaluations: everys.map((run_every) => ({ run_every })) }, records: steps.map((step) => ({ step })) }) as unknown as Evaluator;

it("the step that is due next is the one that the command's count from 0 makes due, and no one before it", () => {
  for (const [everys, steps] of [
    [[50], []],
    [[50], [50, 100]],
    [[50, 30], [50]],
    [[7, 0], [3]],
  ] as const) {
    const next = nextStep(evaluator(everys, steps));
    const due = (step: number): boolean => everys.some((every) => isDue(step, every));
    expect(due(next - 1), `${everys} after ${steps}`).toBe(true);
    for (let step = Math.max(0, ...steps); step < next - 1; step++) expect(due(step)).toBe(false);
  }
  expect([nextStep(evaluator([0], [])), nextStep(evaluator([0], [12]))]).toEqual([1, 13]);
});
