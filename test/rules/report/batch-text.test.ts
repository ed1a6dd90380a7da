import { describe, expect, it } from "vitest";
import { batchesLeftText, batchesText, batchWaitText, type ShownBatches } from "../../../src/report/text/batch-text.ts";

const job = (state: string, requests: number, answered = 0, batch_id: string | null = "batch_1") => ({
  state,
  requests,
  counts: { answered, failed: 0 },
  batch_id,
});
const shown = (change: Partial<ShownBatches>): ShownBatches => ({
  ...{ unasked: 0, jobs: [], requests: 0, answered: 0, lost: {}, look_at: null, closing: null },
  ...change,
});

describe("what a run with batches waits for", () => {
  it("is the answers of those that are under way, and examples that are in none yet", () => {
    const jobs = [job("collected", 900, 900), job("submitted", 1_500, 700), job("creating", 500, 0, null)];
    expect(batchWaitText(shown({ jobs }))).toBe("2 batches under way: 700 of 2,000 requests answered");
    expect(batchWaitText(shown({ jobs: [job("submitted", 1)], unasked: 1 }))).toBe("1 batch under way: 0 of 1 request answered, 1 example not asked yet");
    expect(batchWaitText(shown({ unasked: 40 }))).toBe("40 examples to be asked in a batch");
    expect(batchWaitText(shown({ jobs: [job("collected", 9, 9), job("dropped", 3)] }))).toBeNull();
  });

  it("is the end of those that are cancelled, with why", () => {
    const jobs = [job("cancelling", 10, 4)];
    expect(batchWaitText(shown({ jobs, unasked: 5, closing: "timeout" }))).toBe(
      "1 batch under way: 4 of 10 requests answered, the time limit is reached: they are cancelled, and what they answered is scored",
    );
    expect(batchWaitText(shown({ jobs, closing: "budget" }))).toContain("the budget is used up");
    expect(batchWaitText(shown({ jobs, closing: "cancelled" }))).toContain("the run is cancelled");
  });
});

describe("what the batches of a run came to", () => {
  it("is what was answered, what came back without an answer by why, and those that are still under way", () => {
    const jobs = [job("collected", 1_000, 997), job("submitted", 500, 20), job("written", 10, 0, null)];
    expect(batchesText(shown({ jobs: [job("written", 10, 0, null)] }))).toBeNull();
    expect(batchesText(shown({ jobs, requests: 1_510, answered: 1_017, lost: { expired: 2, error: 1, missing: 0 } }))).toBe(
      "2 batches: 1,017 of 1,510 requests answered, 3 came back without an answer (2 expired, 1 error), 1 under way",
    );
  });

  it("is said of those that a run which is over may have left at the provider", () => {
    const jobs = [job("collected", 10, 10), job("uploaded", 10, 0, null), job("submitted", 10, 4)];
    expect(batchesLeftText(shown({ jobs }))).toBe("1 batch may go on at the provider, and what it answers is paid for there; a resume collects it");
    expect(batchesLeftText(shown({ jobs: [...jobs, job("creating", 10, 0, null)] }))).toBe(
      "2 batches may go on at the provider, and what they answer is paid for there; a resume collects it",
    );
    expect(batchesLeftText(shown({ jobs: jobs.slice(0, 2) }))).toBeNull();
  });
});
