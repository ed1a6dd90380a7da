import { describe, expect, it } from "vitest";
import { RuleRun } from "../support/rule-run.ts";

/** An executor that takes what it gets, says what it has begun, and falls silent. */
function die(run: RuleRun, executor: string, started: (units: readonly number[]) => readonly number[] = (units) => units): readonly number[] {
  const grant = run.grant(executor);
  const { lo, hi } = run.block(grant, 1);
  const units = Array.from({ length: hi - lo }, (_, index) => lo + index);
  run.beat(grant, started(units));
  run.now += run.timing.lease + run.timing.grace;
  run.call("wake", null);
  return units;
}

describe("a unit that was begun in lapsed tickets", () => {
  it("is tried with others twice, then alone, and given up after three lapses alone", () => {
    const run = RuleRun.open(1);
    for (let death = 0; death < 5; death++) {
      const grant = run.grant(`e${death}`);
      const block = run.block(grant, 1);
      expect(block).toMatchObject({ lo: 0, alone: death >= 2, poisoned: false });
      run.beat(grant, [0]);
      run.now += run.timing.lease + run.timing.grace;
    }
    const grant = run.grant("last");
    expect(run.block(grant, 1)).toMatchObject({ lo: 0, alone: false, poisoned: true });
    run.commit(grant, [0]);
    expect(run.head).toMatchObject({ done: 1, status: "COMPLETED" });
  });

  it("is not taken for a killer because of its neighbours: those that end well are forgotten", () => {
    const run = RuleRun.open(4);
    die(run, "a");
    die(run, "b");
    // All four are suspect now; alone, three of them end well.
    const grant = run.grant("c");
    for (let seq = 1; seq <= 4; seq++) {
      const block = run.block(grant, 2 * seq);
      expect(block).toMatchObject({ lo: seq - 1, hi: seq, alone: true });
      expect(run.claim(grant, 2 * seq + 1, { open: 1 })).toMatchObject({ kind: "empty" });
      run.commit(grant, [block.lo]);
    }
    expect(run.head.status).toBe("COMPLETED");
    expect(run.ledger.suspects.size).toBe(0);
  });

  it("is handed out only when nothing else of the ticket is open", () => {
    const run = RuleRun.open(12);
    die(run, "a");
    die(run, "b");
    const grant = run.grant("c");
    expect(run.block(grant, 1)).toMatchObject({ lo: 4, hi: 8, alone: false });
    expect(run.block(grant, 2, { open: 4 })).toMatchObject({ lo: 8, hi: 12, alone: false });
    expect(run.claim(grant, 3, { open: 8 })).toMatchObject({ kind: "empty", pending: 4 });
    expect(run.block(grant, 4, { open: 0 })).toMatchObject({ lo: 0, hi: 1, alone: true });
  });

  it("counts only where it was reported", () => {
    const run = RuleRun.open(4);
    expect(die(run, "a", () => [2])).toEqual([0, 1, 2, 3]);
    expect([...run.ledger.suspects.values()]).toEqual([{ unit: 2, lapses: 1, alone: 0, waiting: false }]);
  });

  it("is not blamed for a lapse after it was done", () => {
    const run = RuleRun.open(4);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0, 1]);
    run.beat(grant, [0, 1, 2]);
    run.now += run.timing.lease + run.timing.grace;
    run.call("wake", null);
    expect([...run.ledger.suspects.keys()]).toEqual([2]);
  });
});

describe("units that a silent executor held", () => {
  it("are handed out with the wish to be reported at once, reported or not, and others are not", () => {
    const run = RuleRun.open(12);
    die(run, "a", () => []);
    const grant = run.grant("b");
    expect(run.block(grant, 1)).toMatchObject({ lo: 0, hi: 4, wary: true, alone: false });
    expect(run.block(grant, 2)).toMatchObject({ lo: 4, hi: 8, wary: false });
  });

  it("are remembered in little room, however many executors fall silent", () => {
    const run = RuleRun.open(1_000);
    for (let death = 0; death < 200; death++) die(run, `e${death}`, () => []);
    expect(run.head.wary.length).toBeLessThanOrEqual(32);
    expect(run.block(run.grant("z"), 1)).toMatchObject({ wary: true });
  });
});
