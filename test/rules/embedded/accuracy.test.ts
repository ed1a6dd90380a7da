import { beforeAll, describe, expect, it } from "vitest";
import type { EmbeddedModel } from "../../../src/embedded-model/model.ts";
import { DIFFICULTIES, OPERATIONS } from "../../../src/environments/bundled/arithmetic/problems.ts";
import { committedModel } from "../../support/clients/committed-model.ts";
import { greedyAccuracy } from "../../../tools/embedded-model/greedy-accuracy.ts";

/** Problems per operation and level: a part of those that the header's numbers were measured on. */
const PART = 60;

let model: EmbeddedModel;
beforeAll(async () => {
  model = await committedModel();
});

describe("the accuracy that the weights file states", () => {
  it("runs from above 95 % on the easy level to below 40 % on the hard one", () => {
    const { accuracy } = model.header.training;
    expect(accuracy.easy?.all).toBeGreaterThan(0.95);
    expect(accuracy.hard?.all).toBeLessThan(0.4);
    expect(accuracy.medium?.all).toBeGreaterThan(accuracy.hard?.all ?? 1);
    expect(accuracy.medium?.all).toBeLessThan(accuracy.easy?.all ?? 0);
  });

  it.each(DIFFICULTIES)("is what the environment's held-out problems show, at level %s", async (difficulty) => {
    for (const operation of OPERATIONS) {
      const stated = model.header.training.accuracy[difficulty]?.[operation] ?? Number.NaN;
      const { right, count } = await greedyAccuracy(model, difficulty, operation, PART);
      // Four standard errors of a part of this size, and one problem.
      const allowed = 4 * Math.sqrt((stated * (1 - stated)) / count) + 1 / count;
      expect(Math.abs(right / count - stated), `${operation}: ${right} of ${count}, stated ${stated}`).toBeLessThanOrEqual(allowed);
    }
  });
});
