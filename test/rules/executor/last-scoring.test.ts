import { expect, it } from "vitest";
import { LastScoring } from "../../../src/executor/session/last-scoring.ts";
import { SCORING_GRACE_MS } from "../../../src/limits.ts";

it("a run that has ended waits for its last scores, and no longer than a moment for those that no budget will pay for", () => {
  const paid = new LastScoring();
  expect([paid.isOver(0), paid.dueFrom(0), paid.begin(100), paid.begin(200), paid.isOn]).toEqual([false, [], true, false, true]);
  expect([paid.isOver(100 + SCORING_GRACE_MS - 1), paid.isOver(100 + SCORING_GRACE_MS)]).toEqual([false, true]);

  let isUnpaid = true;
  const unpaid = new LastScoring(() => isUnpaid);
  unpaid.begin(0);
  expect(unpaid.isOver(0)).toBe(false);
  expect(unpaid.dueFrom(0)[0]).toBeLessThanOrEqual(1_000);
  // A scorer had something under way after all.
  isUnpaid = false;
  expect(unpaid.isOver(900)).toBe(false);
  isUnpaid = true;
  expect([unpaid.isOver(1_000), unpaid.isOver(1_999), unpaid.isOver(2_000)]).toEqual([false, false, true]);
  unpaid.end();
  expect([unpaid.isOn, unpaid.isOver(60_000)]).toEqual([false, false]);
});
