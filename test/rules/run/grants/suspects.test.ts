import { describe, expect, it } from "vitest";
import { isPoisoned } from "../../../../durable-objects/run/grants/suspects.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

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

  it("is not blamed where it got on: where something of it was kept under the grant that lapsed", () => {
    const run = RuleRun.open(2, { rollouts_per_example: 4 });
    for (let death = 0; death < 6; death++) {
      const grant = run.grant(`e${death}`);
      run.block(grant, 1, { free: 2 });
      const standing = { unit: 0, offset: 0, length: 10, rollouts: death < 3 ? [death] : [], begun: [3] };
      run.call("commit", { ...run.id(grant), segment: run.newSegment(grant), units: [], pieces: [standing], started: [0, 1], vitals: VITALS });
      run.now += run.timing.lease + run.timing.grace;
      run.call("wake", null);
      // The other one, of which nothing was kept, is suspect after two, and not handed out beside others.
      expect([...run.ledger.suspects.keys()]).toEqual([1]);
    }
    // What was kept under an earlier grant is no progress.
    for (const name of ["x", "y"]) {
      const grant = run.grant(name);
      expect(run.block(grant, 1, { free: 1 })).toMatchObject({ lo: 0, hi: 1, alone: false });
      run.beat(grant, [0]);
      run.now += run.timing.lease + run.timing.grace;
      run.call("wake", null);
    }
    expect(run.ledger.suspect(0)).toMatchObject({ lapses: 2 });
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

describe("several lapses at once", () => {
  /** Two executors that have begun something, the second with a suspect unit and nothing else. */
  function beside() {
    const run = RuleRun.open(4);
    die(run, "a", (units) => units.slice(0, 1));
    // Alone with unit 0 from the second time on; the others are given back.
    for (const executor of ["b", "c"]) {
      const grant = run.grant(executor, 1);
      if (executor === "b") {
        run.block(grant, 1);
        run.beat(grant, [0]);
        run.now += run.timing.lease + run.timing.grace;
        run.call("wake", null);
      } else run.leave(grant);
    }
    expect(run.ledger.suspects.get(0)).toMatchObject({ lapses: 2, alone: 0 });
    const other = run.grant("other", 7);
    run.block(other, 1);
    const alone = run.grant("alone", 1);
    expect(run.block(alone, 1)).toMatchObject({ lo: 0, alone: true });
    return { run, other, alone };
  }
  const aloneOf = (run: RuleRun): number | undefined => run.ledger.suspects.get(0)?.alone;
  function fallSilent(run: RuleRun): void {
    run.now += run.timing.lease + run.timing.grace;
    run.call("wake", null);
  }

  it("count half against a unit that was alone, whichever of them is noticed first", () => {
    for (const order of [0, 500, -500]) {
      const { run, other, alone } = beside();
      run.now += 1_000;
      run.beat(order < 0 ? alone : other, order < 0 ? [0] : [1]);
      run.now += Math.abs(order);
      run.beat(order < 0 ? other : alone, order < 0 ? [1] : [0]);
      fallSilent(run);
      expect(aloneOf(run)).toBe(0.5);
    }
  });

  it("count in full where the others had begun nothing, or fell silent at another time, or left", () => {
    const idle = beside();
    idle.run.beat(idle.other, []);
    idle.run.beat(idle.alone, [0]);
    fallSilent(idle.run);
    expect(aloneOf(idle.run)).toBe(1);
    const earlier = beside();
    earlier.run.beat(earlier.other, [1]);
    earlier.run.now += 2 * earlier.run.timing.beat;
    earlier.run.beat(earlier.alone, [0]);
    fallSilent(earlier.run);
    expect(aloneOf(earlier.run)).toBe(1);
    const left = beside();
    left.run.beat(left.other, [1]);
    left.run.beat(left.alone, [0]);
    left.run.leave(left.other);
    fallSilent(left.run);
    expect(aloneOf(left.run)).toBe(1);
  });

  it("of a runtime that ended count half as well, and its next end is not taken for one beside it", () => {
    const { run, other, alone } = beside();
    run.beat(other, [1]);
    run.beat(alone, [0]);
    run.runtime = "runtime-2";
    run.call("poke", null);
    expect(aloneOf(run)).toBe(0.5);
    const again = run.grant("again", 8);
    run.block(again, 1);
    run.commit(again, [1, 2, 3]);
    expect(run.block(again, 2)).toMatchObject({ lo: 0, alone: true });
    run.beat(again, [0]);
    run.runtime = "runtime-3";
    run.call("poke", null);
    expect(aloneOf(run)).toBe(1.5);
  });

  it("are six of a unit that is never alone when it kills, as three are of one that is", () => {
    const given = (alone: number): boolean => isPoisoned({ unit: 0, lapses: 2, alone, waiting: false });
    expect([given(5 * 0.5), given(6 * 0.5), given(3)]).toEqual([false, true, true]);
  });

  it("count half where its executor says that others in its isolate had something open", () => {
    const { run, other, alone } = beside();
    run.leave(other);
    run.call("beat", { ...run.id(alone), beside: true, started: [0], vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null } });
    fallSilent(run);
    expect(aloneOf(run)).toBe(0.5);
  });
});
