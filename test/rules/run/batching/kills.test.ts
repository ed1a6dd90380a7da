import { describe, expect, it } from "vitest";
import { BatchWorld } from "../../../support/run/batch-world.ts";

const SEEDS = 60;
const drawn = Array.from({ length: SEEDS }, (_, seed) => seed + 1);

describe("a run in batches whose executors are killed between any two calls", () => {
  it("has each unit once, asks nothing twice that was answered, creates no job twice, and leaves nothing behind", () => {
    let [kills, lost, full] = [0, 0, 0];
    for (const seed of drawn) {
      const world = new BatchWorld(seed, {
        units: 1 + (seed % 23),
        rollouts_per_example: 1 + (seed % 3),
        lost: seed % 4 === 0 ? 0.3 : 0,
        room: seed % 5 === 0 ? 8 : 1_000,
      });
      world.untilSettled();
      const { head, ledger } = world.run;
      if (head.failure?.code === "preparation_failed") continue;
      expect([seed, head.status === "FAILED" ? head.failure?.code : head.status]).toEqual([seed, head.failure === null ? "COMPLETED" : "all_rollouts_failed"]);
      expect([...world.committed.values()].every((times) => times === 1)).toBe(true);
      expect([world.committed.size, head.pending, head.batching?.unasked, world.isQuiet]).toEqual([head.n, 0, 0, true]);
      kills += world.kills;
      lost += world.unanswered.size;
      full += ledger.batching.jobs().filter(({ failed = [] }) => failed.length > 0).length;
    }
    expect([kills > SEEDS, lost > 0, full > 0]).toEqual([true, true, true]);
  });
});
