import { describe, expect, it } from "vitest";
import { emptyDispatcher, nudge, type OfferMessage, offer } from "../../durable-objects/dispatcher/offers.ts";

const NOW = 1_000_000;

/** Wake-ups that an offer leads to, where an executor carries `requests`. */
function wakeUps(message: Partial<OfferMessage>, requests: number): number {
  const state = emptyDispatcher();
  offer(state, { run: "r", want: 32, weight: 1, seq: 1, ...message }, NOW);
  return nudge(state, requests, NOW)[0]?.count ?? 0;
}

describe("an offer of lanes", () => {
  it("wakes as many executors as the lanes need", () => {
    expect([wakeUps({}, 5), wakeUps({}, 4_096)]).toEqual([7, 1]);
  });

  it("wakes as many as the run wants to share them, and never more than there are lanes", () => {
    expect([wakeUps({ executors: 3 }, 4_096), wakeUps({ executors: 20 }, 5), wakeUps({ executors: 250, want: 8 }, 5)]).toEqual([3, 20, 8]);
  });

  it("wakes at most a hundred at a time", () => {
    expect(wakeUps({ want: 1_000, executors: 250 }, 5)).toBe(100);
  });
});
